// SELECT, block by block.
//
// g++ turns the plain loop into loads under a mask, which the prefetching of processors does not
// follow: from memory that took a third longer than loading both operands whole.
#pragma once

#include <type_traits>

#include "cvl-cpu/kernels/elementwise_rows.hpp"
#include "cvl-cpu/kernels/lanes.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// A vector operand, or its first element in all places.
template <bool kScalar, class T>
class SelectOperand {
 public:
  CVL_FN explicit SelectOperand(const void* elements)
      : elements_(static_cast<const T*>(elements)), first_(broadcast(*elements_, Block<T>{})) {}
  CVL_FN Block<T> block(std::int64_t i) const {
    if constexpr (kScalar) {
      return first_;
    } else {
      Block<T> result = load_lanes(elements_ + i);
      load_whole(result);
      return result;
    }
  }
  CVL_FN T operator[](std::int64_t i) const { return elements_[kScalar ? 0 : i]; }

 private:
  const T* elements_;
  Block<T> first_;
};

/// Elementwise kernel; bit 1 or 2 of `scalars` says that the first or second choice is one element.
template <unsigned scalars, class T>
bool select_kernel(void* out, const void* flags, const void* a, const void* b, std::int64_t n) {
  auto* r = static_cast<T*>(out);
  const auto* f = static_cast<const Bool*>(flags);
  const SelectOperand<(scalars & 2) != 0, T> x(a);
  const SelectOperand<(scalars & 4) != 0, T> y(b);
  std::int64_t i = 0;
  if constexpr (!std::is_same_v<T, Bool>) {
    constexpr int kLanes = Block<T>::kLanes;
    for (; i + 64 <= n; i += 64) {
      const LaneSet set = gather_bits<64>(f + i);
      for (int k = 0; k < 64; k += kLanes) {
        store(r + i + k, select(set >> k, x.block(i + k), y.block(i + k)), false);
      }
    }
  }
#pragma omp simd
  for (std::int64_t k = i; k < n; ++k) r[k] = ops::Select::apply(f[k], x[k], y[k]);
  return false;
}

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
