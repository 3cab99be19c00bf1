// Combinations of elements, as states that scans and reductions pass on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cvl-cuda/target.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class T>
struct FoldState {
  T value;              // of the elements since the last end of a segment
  std::uint32_t flags;  // kFolded, kEnded

  /// See for_scalars().
  template <class Self, class Visit>
  static constexpr KERNEL_FN void each_scalar(Self& self, const Visit& visit) {
    visit(self.value);
    visit(self.flags);
  }
};

/// The segmented combination of Blelloch: what follows an end of a segment forgets what was before.
template <class Op, class T>
struct SegmentFold {
  using State = FoldState<T>;
  static constexpr std::uint32_t kFolded = 1;  // there are elements since the last end
  static constexpr std::uint32_t kEnded = 2;   // there was an end of a segment

  static KERNEL_FN State neutral() { return {ops::fold_start<Op, T>(), 0}; }
  static KERNEL_FN State combine(const State& a, const State& b) {
    if (has_ended(b)) return b;
    return {Op::template apply<T>(a.value, b.value), a.flags | b.flags};
  }
  static KERNEL_FN void add(State& state, T element) {
    state.value = Op::template apply<T>(state.value, element);
    state.flags |= kFolded;
  }
  static KERNEL_FN void end_segment(State& state) { state = {ops::fold_start<Op, T>(), kEnded}; }
  static KERNEL_FN bool has_ended(const State& state) { return (state.flags & kEnded) != 0; }
  /// The identity is given out, never combined (see ops::Max).
  static KERNEL_FN T result(const State& state) {
    return (state.flags & kFolded) != 0 ? state.value : Op::template identity<T>();
  }
};

template <class T>
struct PlainState {
  T value;

  template <class Self, class Visit>
  static constexpr KERNEL_FN void each_scalar(Self& self, const Visit& visit) {
    visit(self.value);
  }
};

/// The combination where no segment ends. It does not know whether there were elements: result() is
/// for operations whose identity may be combined.
template <class Op, class T>
struct PlainFold {
  using State = PlainState<T>;
  static KERNEL_FN State neutral() { return {ops::fold_start<Op, T>()}; }
  static KERNEL_FN State combine(const State& a, const State& b) {
    return {Op::template apply<T>(a.value, b.value)};
  }
  static KERNEL_FN void add(State& state, T element) {
    state.value = Op::template apply<T>(state.value, element);
  }
  static KERNEL_FN T result(const State& state) { return state.value; }
};

/// The combination of all elements, without segments.
template <class Op, class T>
using FlatFold = std::conditional_t<ops::HasStart<Op, T>, SegmentFold<Op, T>, PlainFold<Op, T>>;

}  // namespace cvl::cuda::CVL_CUDA_TARGET
