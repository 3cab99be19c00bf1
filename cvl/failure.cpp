#include "cvl/failure.hpp"

#include <array>
#include <utility>

#include <fmt/core.h>

namespace cvl {

Failure::Failure(vcode::ErrorCode code, std::string message, std::vector<std::string> notes,
                 std::string hint)
    : code_(code), message_(std::move(message)), notes_(std::move(notes)), hint_(std::move(hint)) {}

std::string format_bytes(std::size_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace cvl
