#include "vcode/token_reader.hpp"

#include <utility>

#include <fmt/format.h>

namespace vcode {
namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::Integer:
      return fmt::format("the integer `{}`", shortened(token.text));
    case Token::Kind::Real:
      return fmt::format("the real number `{}`", shortened(token.text));
    case Token::Kind::String:
      return "a string";
    case Token::Kind::End:
      return "the end of the file";
    default:
      return fmt::format("`{}`", shortened(token.text));
  }
}

}  // namespace

std::string shortened(std::string_view word) {
  constexpr std::size_t kShown = 40;
  if (word.size() <= kShown) return std::string(word);
  return fmt::format("{}...", word.substr(0, kShown));
}

void TokenReader::fail(Diagnostic diagnostic) {
  reported_ = true;
  diagnostic.function = shortened(function_);
  diagnostics_.add(std::move(diagnostic));
}

void TokenReader::fail_expected(std::string expected, std::string hint, std::vector<Note> notes,
                                ErrorCode code) {
  if (at_end() && broken()) return;
  if (!diagnostics_.keeps(Severity::Error)) {
    diagnostics_.drop(Severity::Error);
    return;
  }
  fail({.code = code,
        .message = fmt::format("expected {}, found {}", expected, describe(token_)),
        .span = token_.span,
        .function = {},
        .notes = std::move(notes),
        .hint = std::move(hint)});
}

}  // namespace vcode
