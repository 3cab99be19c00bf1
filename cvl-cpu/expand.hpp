// The frame of operations that write out something per segment for each element: DIST and INDEX.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// A vector over `segdes`, made block by block: fill(block, out) writes the elements of a
/// block to `out`, where 64 bytes more may be overwritten. Blocks are made in the cache and then
/// put where they belong, so that nothing is written outside the tile that a thread works on.
template <class Fill>
Vector expand_segments(CpuBackend& cpu, Type type, const Segdes& segdes, const Fill& fill) {
  const std::int64_t tile_length = tuning.move_tile;
  Vector result = cpu.new_vector(type, segdes.total);
  if (segdes.total == 0) return result;
  const Segments segments(cpu, segdes);
  const std::int64_t width = static_cast<std::int64_t>(cpu.element_bytes(type));
  auto* out = mutable_elements<std::byte>(result);
  const std::int64_t bytes = segdes.total * width;
  const bool streamed = cpu.streams(bytes);
  auto tile = [&](std::int64_t number) {
    alignas(64) std::byte made[kSegmentBlock * sizeof(double) + Heap::kPadding];
    const std::int64_t begin = number * tile_length;
    segments.for_blocks(begin, std::min(begin + tile_length, segdes.total),
                        [&](const SegmentBlock& block) {
                          fill(block, made);
                          put_block(cpu, out + block.begin * width, made,
                                    (block.end - block.begin) * width, streamed);
                        });
  };
  cpu.scheduler().for_tiles(tile_count(segdes.total, tile_length), bytes, tile);
  return result;
}

}  // namespace cvl::cpu
