#include "neslc/evaluation/source_map.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "vcode/origin.hpp"

namespace neslc {
namespace {

constexpr std::size_t kShownCalls = 8;

using Frame = SourceMap::Frame;

/// Internal functions of the library have dots in their names.
bool is_internal(const ir::Scope& scope) {
  return scope.function.find('.') != std::string::npos;
}

bool same_place(const Frame& a, const Frame& b) {
  return a.scope->function == b.scope->function && a.span == b.span;
}

std::string quoted(const ir::Scope& scope) {
  return scope.function.empty() ? "the top level" : fmt::format("`{}`", scope.function);
}

/// Names the functions of the library among the innermost frames: what was called, and what found
/// the failure.
std::string library_note(std::span<const Frame> library) {
  const auto visible = [](const Frame& frame) { return !is_internal(*frame.scope); };
  const auto inner = std::find_if(library.begin(), library.end(), visible);
  if (inner == library.end()) return {};
  const Frame* outer = &*inner;
  for (const Frame& frame : library) {
    if (visible(frame)) outer = &frame;
  }
  std::string text = fmt::format("in the library function `{}`", outer->scope->function);
  if (outer->scope->function != inner->scope->function) {
    text += fmt::format(", which calls `{}`", inner->scope->function);
  }
  return text;
}

std::vector<Frame> frames_of(const ir::Module& module, vcode::Span span, std::uint32_t scope) {
  std::vector<Frame> result;
  while (scope != ir::kNoScope) {
    const ir::Scope& at = module.scopes[scope];
    result.push_back({&at, span});
    span = at.call;
    scope = at.caller;
  }
  return result;
}

SourceMap::UserPlace user_place_of(std::span<const Frame> frames) {
  SourceMap::UserPlace place;
  for (const Frame& frame : frames) {
    if (!frame.scope->library) {
      place.function = frame.scope->function;
      place.span = frame.span;
      place.source = frame.scope->source;
      return place;
    }
    if (!is_internal(*frame.scope)) place.library = frame.scope->function;
  }
  return place;
}

/// Without folders: comments stay short.
std::string file_name(const vcode::Source& source) {
  return source.name().substr(source.name().rfind('/') + 1);
}

std::string name_of(const SourceMap::UserPlace& place) {
  const std::string function = place.function.empty() ? "top level" : place.function;
  return place.library.empty() ? function : function + " > " + place.library;
}

}  // namespace

std::vector<Frame> SourceMap::frames(std::uint32_t instruction) const {
  const vcode::Instruction& at = program_.code[instruction];
  return frames_of(module_, at.span, at.scope);
}

SourceMap::UserPlace SourceMap::user_place(std::uint32_t instruction) const {
  return user_place_of(frames(instruction));
}

vinterp::LineProfile::Place SourceMap::profile_place(std::uint32_t instruction) const {
  const UserPlace place = user_place(instruction);
  if (!place.source) return {place.library, "library"};
  return {name_of(place), std::to_string(place.span.line)};
}

std::shared_ptr<const vcode::Source> SourceMap::explain(
    vcode::Diagnostic& diagnostic, std::uint32_t instruction,
    std::span<const std::uint32_t> calls) const {
  std::vector<Frame> all = frames(instruction);
  std::vector<std::size_t> times(all.size(), 1);  // that a call repeats itself
  for (std::size_t i = calls.size(); i > 0;) {
    const std::uint32_t call = calls[--i];
    std::size_t repeated = 1;
    for (; i > 0 && calls[i - 1] == call; --i) ++repeated;
    const std::vector<Frame> more = frames(call);
    // What repeats itself in several steps is shown so, as far as calls are shown.
    const std::size_t rounds = more.size() == 1 ? 1 : std::min(repeated, kShownCalls + 1);
    for (std::size_t round = 0; round < rounds; ++round) {
      all.insert(all.end(), more.begin(), more.end());
    }
    times.resize(all.size(), more.size() == 1 ? repeated : 1);
  }
  const auto user = std::find_if(all.begin(), all.end(),
                                 [](const Frame& frame) { return !frame.scope->library; });
  const std::string note = library_note({all.begin(), user});
  if (user == all.end()) {
    if (!note.empty()) diagnostic.notes.push_back({note, {}});
    diagnostic.span = {};
    return module_.source;
  }
  const auto& source = user->scope->source;
  diagnostic.span = user->span;
  diagnostic.function = user->scope->function;
  if (!note.empty()) diagnostic.notes.push_back({note, {}});

  // The calls of the user's functions; one that repeats itself is shown once.
  std::size_t shown = 0;
  for (auto frame = user + 1; frame != all.end();) {
    // A traversal of streams is a call that nobody has written.
    const bool unwritten = user->scope->function.empty() && frame->scope->function.empty();
    if (frame->scope->library || unwritten) {
      ++frame;
      continue;
    }
    const auto same_end = std::find_if(
        frame, all.end(), [&](const Frame& other) { return !same_place(*frame, other); });
    if (shown++ == kShownCalls) {
      diagnostic.notes.push_back({"and more calls", {}});
      break;
    }
    std::string text = fmt::format("called from {}", quoted(*frame->scope));
    const auto begin = times.begin() + (frame - all.begin());
    const std::size_t count = std::accumulate(begin, begin + (same_end - frame), std::size_t{0});
    if (count > 1) text += fmt::format(", {} times", count);
    const auto& other = frame->scope->source;
    if (other != source) {
      text += fmt::format(", {}:{}:{}", other->name(), frame->span.line, frame->span.column);
    }
    diagnostic.notes.push_back({std::move(text), other == source ? frame->span : vcode::Span()});
    frame = same_end;
  }
  return source;
}

vcode::Comments place_comments(const ir::Module& module, const vcode::Program& program) {
  vcode::Comments comments;
  for (const vcode::Function& function : program.functions) {
    std::vector<std::string>& lines = comments.emplace_back();
    std::string last;
    for (const vcode::Instruction& instruction : function.code) {
      const SourceMap::UserPlace place =
          user_place_of(frames_of(module, instruction.span, instruction.scope));
      std::string& line = lines.emplace_back();
      if (!place.source || !place.span) continue;
      std::string comment = vcode::origin_comment(
          {file_name(*place.source), place.span.line, place.span.column, place.function});
      if (comment == last) continue;
      last = comment;
      line = std::move(comment);
    }
  }
  return comments;
}

}  // namespace neslc
