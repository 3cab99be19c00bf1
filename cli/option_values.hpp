// Arguments of options: numbers, sizes, words out of a set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vinterp {

// All throw UsageError, naming `option`.

/// A whole number from `least` on.
std::uint64_t parse_count(std::string_view option, const std::string& text, std::uint64_t least);
/// A number of bytes with an optional suffix K, M, G or T (powers of 1024).
std::size_t parse_size(std::string_view option, const std::string& text);
/// A compute capability of NVIDIA devices without its point, such as 90 for 9.0.
int parse_capability(std::string_view option, const std::string& text);
/// A positive number of seconds.
double parse_seconds(std::string_view option, const std::string& text);
/// Position of `text` among `choices`, which are separated by |.
std::size_t parse_choice(std::string_view option, const std::string& text,
                         std::string_view choices);

/// The name of a pass of the optimizer.
std::string parse_pass(std::string_view option, const std::string& text);
/// The level of -O; the highest if the text is empty.
int parse_level(const std::string& text);

}  // namespace vinterp
