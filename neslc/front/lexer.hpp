// NESL text to tokens (reference, section 1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vcode/source.hpp"

namespace neslc {

struct Token {
  enum class Kind : std::uint8_t {
    Name,     // text in lower case; the constants t and f too
    Keyword,  // text in lower case
    Integer,  // text as written; likewise Float
    Float,
    Character,    // text: the one character
    String,       // text: the characters meant
    Punctuation,  // text as written
    Error,        // text: what is wrong
    End,
  };
  Kind kind = Kind::End;
  std::string text;
  std::string hint;       // of an Error: what to do
  std::size_t begin = 0;  // offsets in the source
  std::size_t end = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool is(Kind k, std::string_view t) const { return kind == k && text == t; }
};

struct LexerOptions {
  bool dotted_names = false;  // the library's internal names: `seq.gather`
};

/// All tokens of the text; the last one is the only End. A comment or string without end is an
/// Error token that reaches to the end of its line.
std::vector<Token> tokenize(const vcode::Source& source, LexerOptions options = {});

/// The reserved words of the grammar (not t, f and time).
std::span<const std::string_view> keywords();
bool is_keyword(std::string_view word);

}  // namespace neslc
