// How long the spaces of a kernel can become, as far as that can be told before it runs.
//
// Most spaces are as long as an operand. Others are computed: a kernel with two scalar operands may
// generate any number of elements. Who decides whether a kernel is worth preparing has to know.
#pragma once

#include <cstdint>
#include <vector>

namespace vcode {

struct Kernel;

/// No space is longer than base to the `power`, times `growth`, where the base is the longest
/// operand or `literal`, plus what the measured operands say.
struct KernelReach {
  /// The same as having no bound.
  static constexpr std::int64_t kUnbounded = 0x7FFFFFFF;

  /// An INT operand whose elements the length of some space is computed from.
  struct Measured {
    std::uint32_t operand = 0;
    bool sums = false;  // its elements may be lengths of segments; else one may be a length
    bool operator==(const Measured&) const = default;
  };

  std::int64_t literal = 0;  // length of the longest space whose length is a number
  std::int64_t growth = 1;   // of lengths by constants and operations; positive
  std::int64_t power = 1;    // 2: a length may be the product of two others; positive
  std::vector<Measured> measured;
  bool operator==(const KernelReach&) const = default;
};

/// The product, or kUnbounded. REQUIRES: neither is negative.
std::int64_t reach_product(std::int64_t a, std::int64_t b);

/// How long spaces can become over this base. REQUIRES: it is positive.
std::int64_t reach_over(std::int64_t base, const KernelReach& reach);

/// REQUIRES: a kernel that verify_kernel() accepts.
KernelReach reach_of(const Kernel& kernel);

}  // namespace vcode
