#include "vcode/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace vcode {
namespace {

// std::from_chars knows no plus sign.
std::string_view without_plus(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  return text;
}

// Is the magnitude of a real token one or more? Only asked for numbers beyond the range of double,
// so the place of the first digit that is not zero decides.
bool is_large(std::string_view text) {
  const std::size_t exponent_at = text.find_first_of("eE");
  const std::string_view mantissa = text.substr(0, exponent_at);
  std::int64_t exponent = 0;
  if (exponent_at != std::string_view::npos) {
    const std::string_view digits = without_plus(text.substr(exponent_at + 1));
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error != std::errc{}) return !digits.starts_with('-');
  }
  const auto point = static_cast<std::int64_t>(mantissa.find('.'));
  const auto first = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
  const std::int64_t places = first < point ? point - first : point - first + 1;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max() / 2;
  return std::clamp(exponent, -kMax, kMax) + places > 0;
}

}  // namespace

std::optional<std::int64_t> read_integer(std::string_view text) {
  text = without_plus(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

double read_real(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    value = std::copysign(is_large(text) ? std::numeric_limits<double>::infinity() : 0.0,
                          text.starts_with('-') ? -1.0 : 1.0);
  }
  return value;
}

}  // namespace vcode
