// What the text of generated passes uses.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "cvl-cuda/kernels/apply.hpp"
#include "cvl-cuda/kernels/element_run.hpp"
#include "cvl-cuda/kernels/pass.hpp"
#include "cvl-cuda/kernels/segment_cursor.hpp"
#include "cvl-cuda/kernels/segment_fold.hpp"
#include "cvl/random.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// The random number of position i, below `bound`; anything where that is below 1.
template <class I>
KERNEL_FN I random_number(const RandomState& first, std::int64_t i, I bound) {
  return static_cast<I>(draw(first.key, first.drawn + static_cast<std::uint64_t>(i),
                             static_cast<std::make_unsigned_t<I>>(bound)));
}

/// Position `from` wants the target; the highest position gets it.
KERNEL_FN inline void claim(const Array<std::uint64_t>& winners, std::int64_t target,
                            std::int64_t from, std::uint64_t tag) {
  atomic_max(&winners[target], tag << kPositionBits | static_cast<std::uint64_t>(from));
}

/// The position that won a target; -1: none did, or there is no such target.
KERNEL_FN inline std::int64_t winner_of(std::int64_t target, std::int64_t targets,
                                        const Array<std::uint64_t>& winners, std::uint64_t tag) {
  if (target >= targets) return -1;
  const std::uint64_t winner = winners[target];
  if (winner >> kPositionBits != tag) return -1;
  return static_cast<std::int64_t>(winner & ((std::uint64_t{1} << kPositionBits) - 1));
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET

#if defined(__CUDACC__)
/// The function of a pass, under a name that can be looked up.
#define GENERATED_PASS(Pass, name)                                                                 \
  extern "C" __global__ void __launch_bounds__(Pass::kThreads, shape::pass_blocks(Pass::kThreads)) \
      name(const __grid_constant__ PassKernel<Pass> kernel) {                                      \
    __shared__ typename PassKernel<Pass>::Shared shared;                                           \
    DeviceBlock<Pass::kThreads> block;                                                             \
    kernel(block, shared);                                                                         \
  }
#endif
