#include "vinterp/warm_up.hpp"

#include <algorithm>
#include <vector>

namespace vinterp {
namespace {

/// What running the SPEC takes without regard to lengths, in elements.
constexpr std::int64_t kRunCost = 64;
/// So many times less is gained from elements that stay in the cache between instructions.
constexpr std::int64_t kInCache = 4;
constexpr std::int64_t kUnbounded = vcode::KernelReach::kUnbounded;

/// The greatest of some numbers and 0, or the sum of those that are not negative.
std::int64_t measure(cvl::Backend& backend, const cvl::Vector& vector, bool sum) {
  std::int64_t result = 0;
  const auto measure_as = [&](auto element) {
    std::vector<decltype(element)> elements(static_cast<std::size_t>(vector.length));
    backend.download(vector, 0, vector.length, elements.data());
    for (const std::int64_t each : elements) {
      const std::int64_t more = sum ? result + std::clamp<std::int64_t>(each, 0, kUnbounded) : each;
      result = std::max(result, std::min(more, kUnbounded));
    }
  };
  backend.widths().int_bytes == 8 ? measure_as(std::int64_t{}) : measure_as(std::int32_t{});
  return result;
}

}  // namespace

bool WarmUp::pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) {
  if (pays_) return true;
  const std::int64_t now = extent(backend, operands, enough);
  elements_ += kRunCost + now;
  pays_ = now > enough || elements_ > kInCache * enough;
  return pays_;
}

/// The greatest length that the run meets, as far as its operands show; if that is more than
/// `enough`, any such number.
std::int64_t WarmUp::extent(cvl::Backend& backend, const cvl::Value* operands,
                            std::int64_t enough) const {
  std::int64_t longest = reach_.literal;
  for (const cvl::Value* operand = operands; operand != operands + operands_; ++operand) {
    const bool segdes = operand->type() == vcode::Type::Segdes;
    longest = std::max(longest, segdes ? std::max(operand->segdes().count, operand->segdes().total)
                                       : operand->vector().length);
  }
  if (longest > enough) return longest;
  std::int64_t base = longest;
  for (const vcode::KernelReach::Measured& each : reach_.measured) {
    const cvl::Vector& vector = operands[each.operand].vector();
    base = std::min(base + measure(backend, vector, each.sums), kUnbounded);
  }
  return vcode::reach_over(std::max<std::int64_t>(base, 1), reach_);
}

}  // namespace vinterp
