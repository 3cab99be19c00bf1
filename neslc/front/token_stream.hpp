// The parser's view of the tokens: the current one, spans of what has been read, and errors.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "neslc/front/lexer.hpp"
#include "neslc/front/static_error.hpp"
#include "vcode/source.hpp"

namespace neslc {

/// Thrown inside the parser and the checker; never leaves `parse_program` and `Session::check`.
struct Failure {
  StaticError error;
};

class TokenStream {
 public:
  TokenStream(std::shared_ptr<const vcode::Source> source, LexerOptions options);

  const Token& peek(std::size_t ahead = 0) const;
  const Token& take();
  /// The token taken last, or one of those before. REQUIRES: there is one.
  const Token& previous() const { return tokens_[position_ - 1]; }
  bool at(Token::Kind kind) const { return peek().kind == kind; }
  bool at(Token::Kind kind, std::string_view text) const { return peek().is(kind, text); }
  bool at_mark(std::string_view text) const { return at(Token::Kind::Punctuation, text); }
  bool at_word(std::string_view text) const { return at(Token::Kind::Keyword, text); }
  bool accept_mark(std::string_view text);
  bool accept_word(std::string_view text);
  /// Takes the token or fails; `after` says where it belongs: "after the condition of `if`".
  void expect_mark(std::string_view text, std::string_view after);
  void expect_word(std::string_view text, std::string_view after);
  /// Takes the bracket that closes the one at position `opener`; `after` as for `expect_mark`.
  void expect_close(std::string_view text, std::size_t opener, std::string_view after);
  /// At `)`, `]` or `}`?
  bool at_closer() const;
  bool at_form_end() const;
  bool at_definition() const { return starts_definition(peek()); }
  static bool starts_definition(const Token& token);

  std::size_t position() const { return position_; }
  const std::vector<Token>& tokens() const { return tokens_; }
  /// Does a bracket that closes the one at this position follow, or an `in` for a `let`?
  bool has_counterpart(std::size_t opener);
  /// Behind the name, or the group in brackets, at this position.
  std::size_t after_group(std::size_t first) const;
  /// Where the left side of the `=` at the current position begins.
  std::size_t left_side() const;
  void skip_to(std::size_t position) { position_ = position; }

  /// From the token at position `first` to the last one taken, as far as it lies in one line.
  vcode::Span span_from(std::size_t first) const;
  vcode::Span span_of(const Token& token) const;
  const std::shared_ptr<const vcode::Source>& source() const { return source_; }

  [[noreturn]] void fail(vcode::Span span, std::string message, std::string hint = {},
                         std::vector<vcode::Note> notes = {}) const;
  /// The bracket or word at this position has no counterpart.
  [[noreturn]] void fail_open(std::size_t opener, std::string_view problem,
                              std::string hint = {}) const;
  /// A `;` is missing behind the token in front of this position.
  [[noreturn]] void fail_missing_end(std::size_t next, std::string hint) const;
  /// "`x` where EXPECTED was expected": an error at the current token.
  [[noreturn]] void fail_expected(std::string_view expected, std::string hint = {},
                                  std::vector<vcode::Note> notes = {}) const;

 private:
  void fail_foreign_mark() const;
  void find_counterparts();
  vcode::Span span_between(const Token& first, const Token& last) const;

  std::shared_ptr<const vcode::Source> source_;
  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::vector<bool> counterparts_;  // of each token, has it one? Empty before that is asked
};

}  // namespace neslc
