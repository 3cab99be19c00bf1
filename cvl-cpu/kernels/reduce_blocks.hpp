// Reduction of many elements of one segment into a few independent accumulators.
#pragma once

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/lanes.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// Four blocks; block i of the data goes to accumulator i modulo 4. Enough chains to hide the
/// latency of an addition, and few enough registers on every instruction set.
template <class Op, class T>
class Accumulators {
 public:
  CVL_FN Accumulators() {
    for (auto& sum : sums_) sum = broadcast(ops::fold_start<Op, T>(), sum);
  }

  /// Takes in n elements. REQUIRES: all calls but the last have a multiple of 256 bytes.
  CVL_FN void add(const T* x, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + kAhead<T> <= n; i += kCount * kLanes) {
      for (int k = 0; k < kCount; ++k) {
        prefetch_ahead(x + i + k * kLanes);
        sums_[k] = combine<Op>(sums_[k], load_lanes(x + i + k * kLanes));
      }
    }
    for (; i + kCount * kLanes <= n; i += kCount * kLanes) {
      for (int k = 0; k < kCount; ++k)
        sums_[k] = combine<Op>(sums_[k], load_lanes(x + i + k * kLanes));
    }
    int k = 0;
    for (; i + kLanes <= n; i += kLanes, ++k) sums_[k] = combine<Op>(sums_[k], load_lanes(x + i));
    if (i < n) {
      T rest[kLanes];
      for (std::int64_t lane = 0; lane < kLanes; ++lane) {
        rest[lane] = i + lane < n ? x[i + lane] : ops::fold_start<Op, T>();
      }
      sums_[k] = combine<Op>(sums_[k], load_lanes(rest));
    }
  }

  CVL_FN T total() const {
    Block<T> sum = sums_[0];
    for (int k = 1; k < kCount; ++k) sum = combine<Op>(sum, sums_[k]);
    T lanes[kLanes];
    std::memcpy(lanes, sum.parts, kBlockBytes);
    for (std::int64_t width = kLanes / 2; width > 0; width /= 2) {
      for (std::int64_t i = 0; i < width; ++i) lanes[i] = Op::apply(lanes[i], lanes[i + width]);
    }
    return lanes[0];
  }

 private:
  static constexpr int kCount = 4;
  static constexpr std::int64_t kLanes = Block<T>::kLanes;
  Block<T> sums_[kCount];
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
