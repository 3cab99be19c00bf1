// Prefixes over blocks in one pass whose bits do not depend on timing.
//
// Decoupled look-back (block_scan.hpp) stops at the first sum that it meets, so that the order of
// combination depends on which blocks were faster. Here the order is fixed: kWidth tiles are a
// group, kWidth groups a span, and what lies before a tile is
//   (all spans before its own, groups before its own in the span) and tiles before it in the group,
// each part combined from left to right. It is published as it becomes known: the total of a tile
// by that tile, the total of a group by its last tile, what lies before a span by the last tile of
// the span before. A tile therefore waits for two loads by one warp each, and only spans wait for
// each other one by one, which at tiles of a few hundred positions is once in some hundred thousand
// positions. All waits are for tiles of lower numbers, whose blocks are running.
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/block_scan.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class State>
class OrderedChain {
 public:
  static constexpr int kWidth = shape::kLookBackWindow;

  /// States that so many tiles publish.
  static constexpr KERNEL_FN std::int64_t slots(std::int64_t tiles) {
    return span_slot(tiles, tiles / (kWidth * kWidth)) + 1;
  }

  /// REQUIRES: the workspace has words for slots(tiles) states.
  KERNEL_FN OrderedChain(const Workspace& workspace, std::int64_t tiles)
      : states_(workspace), ticket_(workspace.counters), tiles_(tiles) {}

  /// The number of this block's tile, as Chain::take_tile; the block shares it in `shared.tile`.
  template <class Block, class Shared>
  KERNEL_FN std::int64_t take_tile(Block& block, Shared& shared) const {
    block.each([&](int thread) {
      if (thread == 0) shared.tile = take_number(ticket_, tiles_);
    });
    return shared.tile;
  }

  /// Publishes the total of a tile and leaves in `prefix` what lies before it. Both are shared by
  /// the block, as is `scratch`, whose contents are lost.
  template <class Fold, class Block, int kThreads>
  KERNEL_FN void prefix(Block& block, std::int64_t tile, const State& total,
                        ScanShared<State, kThreads>& scratch, State& prefix) const {
    static_assert(kThreads > kWidth);
#if defined(CVL_CUDA_WARPS)
    block.each([&](int) {
      if (warp_index() != 0) return;
      const State before = prefix_by_warp<Fold>(tile, total);
      if (lane_index() == 0) prefix = before;
    });
#else
    const auto in_group = static_cast<int>(tile % kWidth);
    const std::int64_t group = tile / kWidth;
    const auto in_span = static_cast<int>(group % kWidth);
    const std::int64_t span = group / kWidth;
    State* const tiles = scratch.states[0];
    State* const groups = scratch.states[1];
    block.each([&](int thread) {
      if (thread == 0) publish(tile, total);
      if (thread < in_group) tiles[thread] = await(tile - in_group + thread);
    });
    block.each([&](int thread) {
      if (thread != 0) return;
      prefix = fold<Fold>(Fold::neutral(), tiles, in_group);
      if (in_group == kWidth - 1) publish(group_slot(group), Fold::combine(prefix, total));
    });
    block.each([&](int thread) {
      if (thread < in_span) groups[thread] = await(group_slot(group - in_span + thread));
      if (thread == kWidth && span > 0) groups[kWidth] = await(span_slot(span));
    });
    block.each([&](int thread) {
      if (thread != 0) return;
      const State before = span > 0 ? groups[kWidth] : Fold::neutral();
      prefix = Fold::combine(fold<Fold>(before, groups, in_span), prefix);
      if (in_group == kWidth - 1 && in_span == kWidth - 1) {
        publish(span_slot(span + 1), Fold::combine(prefix, total));
      }
    });
#endif
  }

 private:
  static constexpr std::uint32_t kPublished = 1;

#if defined(CVL_CUDA_WARPS)
  /// What prefix() does; lane 0 gets what lies before the tile.
  template <class Fold>
  __device__ State prefix_by_warp(std::int64_t tile, const State& total) const {
    static_assert(kWidth == kWarp);
    const int lane = lane_index();
    const auto in_group = static_cast<int>(tile % kWidth);
    const std::int64_t group = tile / kWidth;
    const auto in_span = static_cast<int>(group % kWidth);
    const std::int64_t span = group / kWidth;
    if (lane == 0) publish(tile, total);
    // Mostly all of it has been published, and its loads are better on their way together.
    typename PublishedStates<State>::Seen of_group = {}, of_span = {};
    if (lane < in_span) of_group = states_.look(group_slot(group - in_span + lane));
    if (lane == 0 && span > 0) of_span = states_.look(span_slot(span));
    const State in_front =
        fold_of_warp<Fold>(lane < in_group ? await(tile - in_group + lane) : Fold::neutral());
    if (lane == 0 && in_group == kWidth - 1) {
      publish(group_slot(group), Fold::combine(in_front, total));
    }
    const State groups = fold_of_warp<Fold>(
        lane < in_span ? await(group_slot(group - in_span + lane), of_group) : Fold::neutral());
    if (lane != 0) return Fold::neutral();
    const State before = Fold::combine(
        span > 0 ? Fold::combine(await(span_slot(span), of_span), groups) : groups, in_front);
    if (in_group == kWidth - 1 && in_span == kWidth - 1) {
      publish(span_slot(span + 1), Fold::combine(before, total));
    }
    return before;
  }
#endif

  static constexpr KERNEL_FN std::int64_t span_slot(std::int64_t tiles, std::int64_t span) {
    return tiles + tiles / kWidth + span;
  }
  KERNEL_FN std::int64_t span_slot(std::int64_t span) const {
    return span_slot(tiles_, span);
  }
  KERNEL_FN std::int64_t group_slot(std::int64_t group) const {
    return tiles_ + group;
  }

  template <class Fold>
  static KERNEL_FN State fold(State folded, const State* states, int count) {
    for (int k = 0; k < count; ++k) folded = Fold::combine(folded, states[k]);
    return folded;
  }
  KERNEL_FN void publish(std::int64_t slot, const State& state) const {
    states_.publish(slot, kPublished, state);
  }
  KERNEL_FN State await(std::int64_t slot) const {
    return await(slot, states_.look(slot));
  }
  KERNEL_FN State await(std::int64_t slot,
                        const typename PublishedStates<State>::Seen& seen) const {
    State state;
    states_.await(slot, seen, state);
    return state;
  }

  PublishedStates<State> states_;
  std::uint32_t* ticket_;
  std::int64_t tiles_;
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
