#include "neslc/front/failure.hpp"

#include <fmt/format.h>

#include "neslc/front/type_text.hpp"
#include "neslc/front/type_words.hpp"

namespace neslc {

void fail(Category category, std::string name, vcode::Span span, std::string message,
          std::vector<vcode::Note> notes, std::string hint) {
  StaticError error;
  error.category = category;
  error.name = std::move(name);
  error.diagnostic.code = error_code(category);
  error.diagnostic.message = std::move(message);
  error.diagnostic.span = span;
  error.diagnostic.notes = std::move(notes);
  error.diagnostic.hint = std::move(hint);
  throw Failure{std::move(error)};
}

void fail_reserved(const std::string& name, vcode::Span span) {
  const std::string meaning = name == "t"   ? "the constant T (true)"
                              : name == "f" ? "the constant F (false)"
                                            : "the measurement `time(e)`";
  fail(Category::Reserved, name, span,
       fmt::format("`{}` is {} and cannot be defined", name, meaning), {}, "choose another name");
}

namespace {

std::string clash_hint(Inference::Clash clash) {
  switch (clash) {
    case Inference::Clash::None:
    case Inference::Clash::Different:
      return "";
    case Inference::Clash::Identity:
      return "a function value must be known when the program is compiled: here both have to be "
             "the same function";
    case Inference::Clash::Classes:
      return "the two classes have no order; declare the type, as in `function g(x) : int -> int "
             "= ...`";
    case Inference::Clash::Infinite:
      return "a sequence and its own elements can never have the same type";
    case Inference::Clash::TooLarge:
      return "the types in this definition are too large; split it";
  }
  return "";
}

bool words_tell_apart(const std::vector<Evidence>& evidence) {
  return evidence.size() < 2 || in_words(evidence[0].type) != in_words(evidence[1].type);
}

std::vector<vcode::Note> notes_of(const std::vector<Evidence>& evidence, vcode::Span span) {
  TypePrinter printer;
  const bool words = words_tell_apart(evidence);
  std::vector<vcode::Note> notes;
  for (const Evidence& one : evidence) {
    // The line of the error itself is shown already.
    const vcode::Span place = one.span.line == span.line ? vcode::Span() : one.span;
    const std::string type =
        words ? in_words(one.type) : fmt::format("of type `{}`", printer.text(one.type));
    notes.push_back({fmt::format("{} is {}", one.what, type), place});
  }
  if (const std::string restrictions = printer.restrictions(); !restrictions.empty()) {
    notes.push_back({fmt::format("where {}", restrictions), {}});
  }
  return notes;
}

}  // namespace

void fail_clash(Inference::Clash clash, vcode::Span span, std::string message,
                const std::vector<Evidence>& evidence, std::vector<vcode::Note> more_notes,
                std::string hint) {
  std::vector<vcode::Note> notes = notes_of(evidence, span);
  notes.insert(notes.end(), std::make_move_iterator(more_notes.begin()),
               std::make_move_iterator(more_notes.end()));
  if (hint.empty() || clash != Inference::Clash::Infinite) {
    if (std::string own = clash_hint(clash); !own.empty()) hint = std::move(own);
  }
  fail(Category::Type, {}, span, std::move(message), std::move(notes), std::move(hint));
}

}  // namespace neslc
