// Reduction of many elements of one segment into a few independent accumulators.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>

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

  /// Takes in n elements; reads a whole register at their end. REQUIRES: all calls but the last
  /// have a multiple of 256 bytes.
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
    if (i < n) sums_[k] = combine<Op>(sums_[k], first_lanes(x + i, n - i));
  }

  CVL_FN T total() const {
    Block<T> sum = sums_[0];
    for (int k = 1; k < kCount; ++k) sum = combine<Op>(sum, sums_[k]);
    return halved<kLanes / 2>(sum.parts);
  }

 private:
  static constexpr int kCount = 4;
  static constexpr std::int64_t kLanes = Block<T>::kLanes;

  /// So many elements, fewer than a block, and what changes nothing in the other lanes.
  static CVL_FN Block<T> first_lanes(const T* x, std::int64_t n) {
    const T start = ops::fold_start<Op, T>();
    if constexpr (sizeof(T) > 1) {
      const LaneSet lanes = lanes_below(static_cast<int>(n));
      return select(lanes, load_lanes(x), broadcast(start, Block<T>{}));
    } else {
      T rest[kLanes];
      for (std::int64_t lane = 0; lane < kLanes; ++lane) rest[lane] = lane < n ? x[lane] : start;
      return load_lanes(rest);
    }
  }

  /// The total of 2 kWidth elements: the first half is combined with the second one.
  template <std::int64_t kWidth>
  static CVL_FN T halved(const void* elements) {
    constexpr std::size_t kBytes = static_cast<std::size_t>(kWidth) * sizeof(T);
    const auto* bytes = static_cast<const std::byte*>(elements);
    if constexpr (kWidth == 1) {
      T first, second;
      std::memcpy(&first, bytes, kBytes);
      std::memcpy(&second, bytes + kBytes, kBytes);
      return Op::apply(first, second);
    } else if constexpr (ops::is_float<T> && std::is_same_v<Op, ops::Add>) {
      using Half [[gnu::vector_size(kBytes)]] = T;
      Half first, second;
      std::memcpy(&first, bytes, kBytes);
      std::memcpy(&second, bytes + kBytes, kBytes);
      const Half sum = first + second;
      return halved<kWidth / 2>(&sum);
    } else {
      T first[kWidth], second[kWidth];
      std::memcpy(first, bytes, kBytes);
      std::memcpy(second, bytes + kBytes, kBytes);
      for (std::int64_t i = 0; i < kWidth; ++i) first[i] = Op::apply(first[i], second[i]);
      return halved<kWidth / 2>(first);
    }
  }

  Block<T> sums_[kCount];
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
