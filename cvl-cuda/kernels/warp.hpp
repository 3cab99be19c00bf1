// What the 32 threads of a warp do together.
//
// Only devices have warps: where CVL_CUDA_WARPS is not defined, threads meet at the barriers of
// their block alone (block.hpp). Kernels that gain from warps have a path for each.
#pragma once

#include <cstdint>
#include <cstring>

#include "cvl-cuda/shapes.hpp"

#if defined(__CUDA_ARCH__) && !defined(CVL_CUDA_SMALL_SHAPES)
#define CVL_CUDA_WARPS 1
#endif

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Is the thread one of those that work together where warp `number` does something for its block?
/// On the host that is one thread.
KERNEL_FN inline bool in_warp(int thread, int number) {
#if defined(CVL_CUDA_WARPS)
  return thread / 32 == number;
#else
  return thread == number;
#endif
}
/// Is the calling thread the first one of those?
KERNEL_FN inline bool leads_warp() {
#if defined(CVL_CUDA_WARPS)
  return threadIdx.x % 32 == 0;
#else
  return true;
#endif
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET

#if defined(CVL_CUDA_WARPS)
namespace cvl::cuda::CVL_CUDA_TARGET {

inline constexpr int kWarp = 32;
inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFF;

/// The place of the calling thread in its warp, and of its warp in the block.
__device__ inline int lane_index() {
  return static_cast<int>(threadIdx.x) % kWarp;
}
__device__ inline int warp_index() {
  return static_cast<int>(threadIdx.x) / kWarp;
}

/// A value as the words that shuffles move.
template <class Value, class Shuffle>
__device__ Value shuffled(const Value& value, const Shuffle& shuffle) {
  std::uint32_t words[(sizeof(Value) + 3) / 4] = {};
  memcpy(words, &value, sizeof value);
#pragma unroll
  for (std::uint32_t& word : words) word = shuffle(word);
  Value result;
  memcpy(&result, words, sizeof result);
  return result;
}
/// The value of the lane that is so many places before, or after; without one, the own.
template <class Value>
__device__ Value from_before(const Value& value, int places) {
  return shuffled(value,
                  [&](std::uint32_t word) { return __shfl_up_sync(kAllLanes, word, places); });
}
template <class Value>
__device__ Value from_after(const Value& value, int places) {
  return shuffled(value,
                  [&](std::uint32_t word) { return __shfl_down_sync(kAllLanes, word, places); });
}

/// The combination of the states of this lane and those before it.
template <class Fold, class State>
__device__ State scan_of_warp(State state) {
#pragma unroll
  for (int places = 1; places < kWarp; places *= 2) {
    const State before = from_before(state, places);
    if (lane_index() >= places) state = Fold::combine(before, state);
  }
  return state;
}
/// The combination of the states of all lanes from the first to the last one, for lane 0.
template <class Fold, class State>
__device__ State fold_of_warp(State state) {
#pragma unroll
  for (int places = 1; places < kWarp; places *= 2) {
    state = Fold::combine(state, from_after(state, places));
  }
  return state;
}
/// The same from the last lane to the first one.
template <class Fold, class State>
__device__ State fold_of_warp_backwards(State state) {
#pragma unroll
  for (int places = 1; places < kWarp; places *= 2) {
    state = Fold::combine(from_after(state, places), state);
  }
  return state;
}

/// How many numbers from 0 to count - 1 there are that `holds`, which does so up to some number and
/// from there on no more. All lanes probe at once, and get the result.
template <class Holds>
__device__ std::int64_t count_of_warp(std::int64_t count, const Holds& holds) {
  std::int64_t low = 0, high = count;
  while (low < high) {
    const std::int64_t step = (high - low + kWarp - 1) / kWarp;
    const std::int64_t probe = low + lane_index() * step;
    const int held = __popc(__ballot_sync(kAllLanes, probe < high && holds(probe)));
    if (low + held * step < high) high = low + held * step;
    if (held > 0) low += (held - 1) * step + 1;
  }
  return low;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
#endif
