#include "neslc/lsp/unicode.hpp"

#include "vcode/utf8.hpp"

namespace neslc::lsp {
namespace {

std::size_t units_of(char32_t character) {
  return character >= 0x10000 ? 2 : 1;
}

}  // namespace

char32_t next_character(std::string_view text, std::size_t& at) {
  const vcode::Character character = vcode::decode_utf8(text.substr(at));
  at += character.bytes;
  return character.valid ? character.code : kReplacement;
}

void append_utf8(std::string& text, char32_t character) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto tail = [&](int shift) { put(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0 | (character >> 6)), tail(0);
  } else if (character < 0x10000) {
    put(0xe0 | (character >> 12)), tail(6), tail(0);
  } else {
    put(0xf0 | (character >> 18)), tail(12), tail(6), tail(0);
  }
}

std::size_t utf16_units(std::string_view line, std::size_t bytes) {
  std::size_t units = 0;
  for (std::size_t at = 0; at < line.size() && at < bytes;) {
    units += units_of(next_character(line, at));
  }
  return units;
}

std::size_t byte_at(std::string_view line, std::size_t units) {
  std::size_t at = 0;
  for (std::size_t passed = 0; at < line.size() && passed < units;) {
    passed += units_of(next_character(line, at));
  }
  return at;
}

}  // namespace neslc::lsp
