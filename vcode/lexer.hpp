// Program text as a sequence of tokens.
#pragma once

#include <cstdint>
#include <string_view>

#include "vcode/diagnostics.hpp"
#include "vcode/source.hpp"

namespace vcode {

struct Token {
  enum class Kind : std::uint8_t {
    Integer,
    Real,
    Word,
    String,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    Comma,
    Colon,  // inside kernels only
    End,
  };

  Kind kind = Kind::End;
  std::string_view text;  // into the source; of a string what stands between the quotes
  Span span;              // of a string that spans lines: its first line only
};

/// Is the whole text one token of kind Word?
bool is_word(std::string_view text);

/// Reads a source from left to right, in time linear in its length and without copying.
///
/// Characters that have no meaning are skipped with a warning. A comment or string without an end
/// is an error and ends the sequence. The source and the diagnostics must outlive the lexer, the
/// source its tokens.
class Lexer {
 public:
  Lexer(const Source& source, Diagnostics& diagnostics);

  /// The next token; at the end of the text, and from then on, a token of kind End.
  Token next();

  /// From the next token on: inside a kernel definition of FCODE, where `[`, `]`, `,` and `:` are
  /// tokens?
  void set_in_kernel(bool inside) { in_kernel_ = inside; }

  /// True when a comment or string without an end has swallowed the rest of the text.
  bool broken() const { return broken_; }

 private:
  Span span(const char* begin, const char* end) const;
  void start_line_at(const char* begin) { ++line_, line_begin_ = begin; }
  bool is_unexpected(char c) const;
  void skip_to(const char* target);
  const char* find_closing(char mark);
  void skip_comment();
  Token string();
  void skip_unexpected();
  void fail(ErrorCode code, Span span, std::string_view message);

  Diagnostics& diagnostics_;
  const char* at_;
  const char* end_;
  const char* line_begin_;
  std::uint32_t line_ = 1;
  bool broken_ = false;
  bool in_kernel_ = false;
};

}  // namespace vcode
