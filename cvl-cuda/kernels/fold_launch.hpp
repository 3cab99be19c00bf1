// From a scan or reduction of the table to the instantiation of its kernel.
#pragma once

#include <algorithm>

#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/fold.hpp"
#include "cvl-cuda/launch.hpp"
#include "cvl-cuda/types.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Calls run(std::type_identity<T>()) for the element type of a fold whose `types` column is
/// kArgument.
template <vcode::Argument kArgument, class Run>
void with_fold_type(const FoldCall& call, const Run& run) {
  if (call.type == Type::Int) {
    with_int(call.widths, run);
  } else if constexpr (kArgument == vcode::Argument::Number) {
    with_float(call.widths, run);
  } else {
    run(std::type_identity<ops::Bool>());
  }
}

template <class Op, class T, bool kFlat>
FoldTile<Op, T, kFlat> fold_tile(const FoldCall& call) {
  const std::int64_t ends = kFlat ? 0 : call.segments.count;
  return {Source<T>(call.operand), call.segments, call.segments.total + ends};
}

/// The scratch of passes that end with a fold over blocks: totals first, then something else.
template <class T>
Array<T> block_values(const Workspace& workspace, std::int64_t blocks, int half) {
  return {reinterpret_cast<T*>(workspace.values + half * blocks * kWorkspaceValueBytes / 2),
          blocks};
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
