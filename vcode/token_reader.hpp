// The parser's view of the tokens: one token of lookahead, and messages about what was found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vcode/diagnostics.hpp"
#include "vcode/keywords.hpp"
#include "vcode/lexer.hpp"
#include "vcode/numbers.hpp"

namespace vcode {

/// A word of the program as messages quote it: cut when it is long.
std::string shortened(std::string_view word);

class TokenReader {
 public:
  TokenReader(const Source& source, Diagnostics& diagnostics)
      : lexer_(source, diagnostics), diagnostics_(diagnostics), token_(lexer_.next()) {}

  const Token& token() const { return token_; }
  void advance() { token_ = lexer_.next(); }

  /// What comes behind the current token lies inside (outside) a kernel definition.
  void set_in_kernel(bool inside) { lexer_.set_in_kernel(inside); }

  bool at_end() const { return token_.kind == Token::Kind::End; }
  bool at_word(std::string_view word) const {
    return token_.kind == Token::Kind::Word && token_.text == word;
  }
  bool accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    advance();
    return true;
  }
  bool at(Token::Kind kind) const { return token_.kind == kind; }
  bool accept(Token::Kind kind) {
    if (!at(kind)) return false;
    advance();
    return true;
  }
  /// The type that the token names, if it names one.
  std::optional<Type> token_type() const {
    return token_.kind == Token::Kind::Word ? find_type(token_.text) : std::nullopt;
  }
  /// The number that the token is, if it is an integer that fits in 64 bits.
  std::optional<std::int64_t> token_integer() const {
    return token_.kind == Token::Kind::Integer ? read_integer(token_.text) : std::nullopt;
  }
  /// Goes on to the next token; a span that began in the line of this one now ends with it.
  void take_into(Span& span) {
    if (token_.span.line == span.line) {
      span.length = token_.span.column + token_.span.length - span.column;
    }
    advance();
  }

  /// The function that the following errors belong to.
  void set_function(std::string_view name) { function_ = name; }
  /// Reports an error; its function is filled in.
  void fail(Diagnostic diagnostic);
  /// Reports "expected ..., found ..." at the token. After a comment or string without an end
  /// nothing is reported: what is missing was swallowed by it.
  void fail_expected(std::string expected, std::string hint = {}, std::vector<Note> notes = {},
                     ErrorCode code = ErrorCode::Syntax);

  /// True when a comment or string without an end was met.
  bool broken() const { return lexer_.broken(); }
  /// True once an error was reported.
  bool reported() const { return reported_; }

 private:
  Lexer lexer_;
  Diagnostics& diagnostics_;
  Token token_;
  std::string function_;
  bool reported_ = false;
};

}  // namespace vcode
