// Two kernels in one launch, the second after the first.
//
// Tiles are handed out in order, as in chained scans (block_scan.hpp): a block that gets a tile of
// the second kernel waits until all tiles of the first are done, and these are done or with blocks
// that are running, so that the wait ends whatever order the device chooses and however few blocks
// it can hold. Unlike a cooperative launch this needs no bound on the number of blocks.
#pragma once

#include <cstdint>

#include "cvl-cuda/block.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class First, class Second>
struct SequenceKernel {
  static constexpr int kThreads = First::kThreads;
  static_assert(kThreads == Second::kThreads);
  struct Shared {
    typename First::Shared first;
    typename Second::Shared second;
    std::int64_t tile;
  };

  First first;
  Second second;
  std::int64_t first_tiles, second_tiles;
  std::uint32_t* ticket;  // both zero before and after
  std::uint32_t* done;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const std::int64_t tiles = first_tiles + second_tiles;
    block.each([&](int thread) {
      if (thread != 0) return;
      shared.tile = take_number(ticket, tiles);
      if (shared.tile < first_tiles) return;
      await_word(done, [&](std::uint32_t tiles_done) { return tiles_done >= first_tiles; });
    });
    if (shared.tile < first_tiles) {
      first.tile(block, shared.first, shared.tile);
    } else {
      second.tile(block, shared.second, shared.tile - first_tiles);
    }
    block.each([&](int thread) {
      if (thread != 0) return;
      if (atomic_arrive(done, 1) == tiles - 1) store_release(done, 0);
    });
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
