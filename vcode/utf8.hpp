// Characters of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace vcode {

struct Character {
  std::size_t bytes;  // taken from the text, at least one
  char32_t code;      // of a valid sequence
  bool valid;
};

/// The first character of a text; overlong forms, surrogates and stray bytes are invalid, and one
/// byte is taken for them. REQUIRES: the text is not empty.
Character decode_utf8(std::string_view text);

/// Is the byte inside a character, behind its first byte?
constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

}  // namespace vcode
