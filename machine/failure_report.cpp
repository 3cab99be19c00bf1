#include "machine/failure_report.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "vcode/origin.hpp"
#include "vcode/printer.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kShownCalls = 10;
constexpr std::size_t kShownVectors = 3;
/// Where memory ends, fewer calls than CallStack::kMany are worth the question.
constexpr std::size_t kManyCalls = 1000;

/// The innermost calls; a call that repeats itself directly is shown once.
std::vector<vcode::Note> call_chain(const vcode::LinkedProgram& program,
                                    std::span<const std::uint32_t> calls) {
  std::vector<vcode::Note> notes;
  while (!calls.empty() && notes.size() < kShownCalls) {
    const std::uint32_t place = calls.back();
    std::size_t times = 0;
    while (!calls.empty() && calls.back() == place) {
      calls = calls.first(calls.size() - 1);
      ++times;
    }
    // The CALL lies just before the place where its RET continues.
    const std::uint32_t call = place - 1;
    std::string text = fmt::format("called from `{}`, line {}", program.function_at(call).name,
                                   program.code[call].span.line);
    if (times > 1) text += fmt::format(", {} times", times);
    notes.push_back({std::move(text), {}});
  }
  if (!calls.empty()) notes.push_back({fmt::format("and {} more calls", calls.size()), {}});
  return notes;
}

struct LiveVector {
  std::size_t bytes;
  std::size_t position;  // from the top of the stack
};

std::vector<vcode::Note> largest_vectors(std::span<const cvl::Value> stack, bool vcode_terms) {
  std::vector<LiveVector> largest;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const cvl::Value& value = stack[stack.size() - 1 - i];
    if (!value.is_vector() || !value.vector().buffer) continue;
    const LiveVector live{value.vector().buffer->capacity, i};
    largest.insert(std::find_if(largest.begin(), largest.end(),
                                [&](const LiveVector& other) { return other.bytes < live.bytes; }),
                   live);
    if (largest.size() > kShownVectors) largest.pop_back();
  }
  std::vector<vcode::Note> notes;
  for (const LiveVector& live : largest) {
    const cvl::Vector& vector = stack[stack.size() - 1 - live.position].vector();
    const std::string position =
        vcode_terms ? fmt::format(" at stack position {}", live.position) : std::string();
    notes.push_back(
        {fmt::format("large vector{}: {} of {} elements, {}", position,
                     vcode::type_name(vector.type), vector.length, cvl::format_bytes(live.bytes)),
         {}});
  }
  return notes;
}

/// A check's text may begin and end a line of its own.
std::string without_line_ends(const std::string& text) {
  const std::size_t begin = text.find_first_not_of('\n');
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find_last_not_of('\n') - begin + 1);
}

void append(std::vector<vcode::Note>& notes, std::vector<vcode::Note> more) {
  std::move(more.begin(), more.end(), std::back_inserter(notes));
}

}  // namespace

vcode::Diagnostic diagnostic_of(const cvl::Failure& failure) {
  vcode::Diagnostic diagnostic;
  diagnostic.code = failure.code();
  diagnostic.message = failure.message();
  for (const std::string& note : failure.notes()) diagnostic.notes.push_back({note, {}});
  diagnostic.hint = failure.hint();
  return diagnostic;
}

vcode::Diagnostic report_failure(const cvl::Failure& failure, const vcode::LinkedProgram& program,
                                 std::uint32_t at, std::span<const std::uint32_t> calls,
                                 std::span<const cvl::Value> stack, bool vcode_terms) {
  // The way to an instruction that ran earlier is no longer known.
  const bool late = failure.origin().value_or(at) != at;
  at = failure.origin().value_or(at);
  vcode::Diagnostic diagnostic = diagnostic_of(failure);
  diagnostic.message = without_line_ends(failure.message());
  diagnostic.span = program.code[at].span;
  if (vcode_terms) diagnostic.function = program.function_at(at).name;
  if (vcode_terms && program.code[at].op == vcode::Op::Run) {
    const vcode::Kernel& kernel = program.kernels[program.code[at].a].definition;
    std::string note = fmt::format("in the kernel `{}`", kernel.name);
    if (kernel.name_span) note += fmt::format(", defined in line {}", kernel.name_span.line);
    diagnostic.notes.push_back({std::move(note), {}});
  }
  if (failure.code() == vcode::ErrorCode::OutOfMemory) {
    if (vcode_terms) {
      diagnostic.message += fmt::format(" in `{}`", vcode::print(program.code[at], program));
    }
    append(diagnostic.notes, largest_vectors(stack, vcode_terms));
    if (calls.size() >= kManyCalls) {
      diagnostic.notes.push_back(
          {fmt::format("calls are nested {} deep: does the recursion end?", calls.size()), {}});
    }
  }
  if (vcode_terms && program.source != nullptr) {
    if (const auto origin = vcode::origin_of(*program.source, diagnostic.span.line)) {
      diagnostic.notes.push_back({"made from " + vcode::origin_comment(*origin), {}});
    }
  }
  if (!late && vcode_terms) append(diagnostic.notes, call_chain(program, calls));
  return diagnostic;
}

}  // namespace vinterp
