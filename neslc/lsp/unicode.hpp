// Characters of UTF-8, and how many units UTF-16 has for them: the protocol counts columns in
// those.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace neslc::lsp {

inline constexpr char32_t kReplacement = 0xfffd;

/// The character at `at`, which moves behind it. A byte that begins none is taken by itself, for
/// kReplacement. REQUIRES: at < text.size().
char32_t next_character(std::string_view text, std::size_t& at);

void append_utf8(std::string& text, char32_t character);

/// Units of UTF-16 in front of a byte of the line; those of the whole line if it is shorter.
std::size_t utf16_units(std::string_view line, std::size_t bytes);
/// The byte of the line at which so many units have passed; its size if it has fewer.
std::size_t byte_at(std::string_view line, std::size_t units);

}  // namespace neslc::lsp
