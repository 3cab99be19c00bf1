// Reductions.
#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/fold_launch.hpp"
#include "cvl-cuda/tuning.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// Of a flat reduction.
std::int64_t most_blocks(std::int64_t length) {
  return std::min(tuning.reduce_blocks, blocks_for(length, tuning.reduce_tile));
}

template <class Op, class T>
void launch_flat(Device& device, const FoldCall& call, const Workspace& workspace) {
  using Kernel = FlatReduceKernel<Op, T>;
  const std::int64_t length = call.segments.total;
  const std::int64_t stretch =
      blocks_for(blocks_for(length, most_blocks(length)), Kernel::kStep) * Kernel::kStep;
  const std::int64_t blocks = blocks_for(length, stretch);
  launch(device, blocks,
         Kernel{Source<T>(call.operand), length, blocks, stretch,
                block_values<T>(workspace, blocks, 0), Array<T>(static_cast<T*>(call.out), 1),
                workspace.counters + 1});
}

template <class Op, class T>
void launch_segmented(Device& device, const FoldCall& call, const Workspace& workspace) {
  using Kernel = SegmentedReduceKernel<Op, T>;
  const auto tile = fold_tile<Op, T, false>(call);
  const std::int64_t tiles = blocks_for(tile.items, Kernel::Tile::kTile);
  const std::int64_t blocks = std::min(tiles, tuning.carry_blocks);
  launch(device, blocks,
         Kernel{tile, Array<T>(static_cast<T*>(call.out), call.segments.count), tiles, blocks,
                block_values<FoldState<T>>(workspace, blocks, 0),
                block_values<FirstEnd<T>>(workspace, blocks, 1), workspace.counters + 1});
}

template <class Op, vcode::Argument kArgument>
void launch_reduce_of(Device& device, const FoldCall& call, const Workspace& workspace) {
  with_fold_type<kArgument>(call, [&](auto type) {
    using T = typename decltype(type)::type;
    if (call.segments.count == 1) {
      launch_flat<Op, T>(device, call, workspace);
    } else {
      launch_segmented<Op, T>(device, call, workspace);
    }
  });
}

}  // namespace

std::int64_t reduce_bytes(const FoldCall& call) {
  const bool flat = call.segments.count == 1;
  const std::int64_t tiles = fold_tiles(call.segments.total, call.segments.count);
  const std::int64_t blocks =
      flat ? most_blocks(call.segments.total) : std::min(tiles, tuning.carry_blocks);
  return blocks * kWorkspaceValueBytes;
}

void launch_reduce(Device& device, const FoldCall& call, const Workspace& workspace) {
  switch (call.op) {
#define REDUCE(id, text, types, combiner, doc) \
  case Op::id:                                 \
    return launch_reduce_of<ops::combiner, vcode::Argument::types>(device, call, workspace);
#include "vcode/opcodes.def"
    default:
      return;
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
