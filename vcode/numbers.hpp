// Numbers as they are written in programs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace vcode {

/// The value of an integer token; nothing if it does not fit in 64 bits.
std::optional<std::int64_t> read_integer(std::string_view text);

inline bool fits_32_bits(std::int64_t number) {
  return number >= std::numeric_limits<std::int32_t>::min() &&
         number <= std::numeric_limits<std::int32_t>::max();
}

/// The double nearest to a real token: infinity when it is too large, zero when it is too small.
double read_real(std::string_view text);

}  // namespace vcode
