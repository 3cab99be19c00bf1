// The combination of elements that forgets, at the end of a segment, what was before.
#pragma once

#include <cstdint>

#include "cvl-cuda/target.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class T>
struct FoldState {
  T value;             // of the elements since the last end of a segment
  std::uint8_t any;    // are there any?
  std::uint8_t ended;  // was there an end of a segment at all?
};

/// The segmented combination of Blelloch: what follows an end of a segment forgets what was before.
template <class Op, class T>
struct SegmentFold {
  using State = FoldState<T>;
  static KERNEL_FN State neutral() { return {ops::fold_start<Op, T>(), 0, 0}; }
  static KERNEL_FN State combine(const State& a, const State& b) {
    if (b.ended != 0) return b;
    return {Op::template apply<T>(a.value, b.value), static_cast<std::uint8_t>(a.any | b.any),
            a.ended};
  }
  static KERNEL_FN void add(State& state, T element) {
    state.value = Op::template apply<T>(state.value, element);
    state.any = 1;
  }
  static KERNEL_FN void end_segment(State& state) { state = {ops::fold_start<Op, T>(), 0, 1}; }
  /// The identity is given out, never combined (see ops::Max).
  static KERNEL_FN T result(const State& state) {
    return state.any != 0 ? state.value : Op::template identity<T>();
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
