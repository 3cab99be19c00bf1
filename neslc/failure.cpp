#include "neslc/failure.hpp"

#include <fmt/format.h>

#include "neslc/type_text.hpp"

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
      return "a type would have to contain itself";
    case Inference::Clash::TooLarge:
      return "the types in this definition are too large; split it";
  }
  return "";
}

}  // namespace

void fail_clash(Inference::Clash clash, vcode::Span span, std::string message,
                const std::vector<Evidence>& evidence, std::vector<vcode::Note> more_notes,
                std::string hint) {
  TypePrinter printer;
  std::vector<vcode::Note> notes;
  for (const Evidence& one : evidence) {
    // The place of the error itself is shown already.
    const vcode::Span place = one.span == span ? vcode::Span() : one.span;
    notes.push_back({fmt::format("{}: {}", one.what, printer.text(one.type)), place});
  }
  if (const std::string restrictions = printer.restrictions(); !restrictions.empty()) {
    notes.push_back({fmt::format("where {}", restrictions), {}});
  }
  notes.insert(notes.end(), std::make_move_iterator(more_notes.begin()),
               std::make_move_iterator(more_notes.end()));
  if (std::string own = clash_hint(clash); !own.empty()) hint = std::move(own);
  fail(Category::Type, {}, span, std::move(message), std::move(notes), std::move(hint));
}

}  // namespace neslc
