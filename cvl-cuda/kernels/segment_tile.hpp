// Tiles of segmented work.
//
// The vendor's segmented primitives of CUDA 13.0 give a block to each segment, so that a million
// tiny segments, or one huge one among them, cost tens of times the flat operation. Here work is
// cut by the merge path of elements and ends of segments (Odeh et al.: Merge Path, 2012; Merrill,
// Garland: Merge-based Parallel Sparse Matrix-Vector Multiplication, 2016): the elements of segment
// j, then its end, then the elements of segment j+1, ... are one sequence of "items", of which each
// tile takes the same number. Time thus depends on elements plus segments alone, and runs of empty
// segments are nothing special.
//
// The end of segment j is item end(j) + j, because j ends and end(j) elements come before it. The
// sequence need not exist: a tile finds its first end by a search in which all threads of a warp
// probe at once (log_32 of the number of segments steps), and marks the ends that lie in it.
//
// Folds and packs need to know of an element only whether a segment begins there: they take a
// TileRange, and give elements to threads and ends to threads, each in their order. Where it
// matters how many segments end before an element, empty ones included, threads walk runs of items
// (mark_segments, walk_items).
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/tile_bits.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// The position of the end of a segment among the items.
KERNEL_FN inline std::int64_t end_item(const Segments& segments, std::int64_t segment) {
  return segments.start(segment + 1) + segment;
}

/// How many segments end before item `begin`: between `least` and `most`. On a device the lanes of
/// the calling warp probe at once, and all get the result.
KERNEL_FN inline std::int64_t ends_before_item(const Segments& segments, std::int64_t begin,
                                               std::int64_t least, std::int64_t most) {
  if (segments.uniform) {
    // The end of j is item j * (length + 1) + length.
    const std::int64_t ended = begin / (segments.uniform_length + 1);
    return ended < segments.count ? ended : segments.count;
  }
  const auto is_before = [&](std::int64_t segment) { return end_item(segments, segment) < begin; };
#if defined(CVL_CUDA_WARPS)
  return least + count_of_warp(most - least,
                               [&](std::int64_t further) { return is_before(least + further); });
#else
  std::int64_t low = least, high = most;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
#endif
}

/// Which elements and which ends of segments a tile of items has.
struct TileRange {
  /// How many segments end before the tile, before the next one, and before the one after that.
  std::int64_t ended[3];

  /// By all threads of the block, for the tile of items [begin, begin + items); then a barrier.
  KERNEL_FN void find(const Segments& segments, std::int64_t begin, int items, int thread) {
    for (int which = 0; which < 2; ++which) {
      if (!in_warp(thread, which)) continue;
      const std::int64_t found =
          ends_before_item(segments, begin + (which == 0 ? 0 : items), 0, segments.count);
      if (leads_warp()) ended[which] = found;
    }
  }
  /// By all threads, while the tile that ends at item `end` is worked on: looks for the end of the
  /// next one, which has so many items. Then, after a barrier, advance() by one thread.
  KERNEL_FN void find_next(const Segments& segments, std::int64_t end, int items, int thread) {
    constexpr int kLastWarp = (shape::kThreads - 1) / (shape::kSmall ? 1 : 32);
    if (!in_warp(thread, kLastWarp)) return;
    const std::int64_t least = ended[1];
    const std::int64_t most = segments.count - least < items ? segments.count : least + items;
    const std::int64_t found = ends_before_item(segments, end + items, least, most);
    if (leads_warp()) ended[2] = found;
  }
  KERNEL_FN void advance() {
    ended[0] = ended[1];
    ended[1] = ended[2];
  }

  /// The first of the segments that end in the tile.
  KERNEL_FN std::int64_t first_segment() const { return ended[0]; }
  KERNEL_FN int ends() const { return static_cast<int>(ended[1] - ended[0]); }
  /// The first element of the tile that begins with item `begin`.
  KERNEL_FN std::int64_t first_element(std::int64_t begin) const { return begin - ended[0]; }
};

/// Which items of a tile are ends of segments.
template <int kTile>
struct TileMarks {
  TileBits<kTile> is_end;
  ScanShared<int> scan;
  std::int64_t first;  // how many segments end before the tile: the first one that it has a part of
  int ends;            // how many segments end in the tile
};

/// Prepares the tile of items [begin, begin + items): marks.first, marks.ends, marks.is_end, and
/// how many ends lie in the tile before the items of each thread, which has kItems of them.
template <int kItems, class Block, int kTile, class PerThreadInt>
KERNEL_FN void mark_segments(Block& block, const Segments& segments, std::int64_t begin, int items,
                             TileMarks<kTile>& marks, PerThreadInt& ends_before) {
  constexpr int kAtOnce = kItems < 32 ? kItems : 32;
  static_assert(kTile == kItems * shape::kThreads && 32 % kAtOnce == 0);
  block.each([&](int thread) {
    marks.is_end.clear(thread);
    if (in_warp(thread, 0)) {
      const std::int64_t first = ends_before_item(segments, begin, 0, segments.count);
      if (leads_warp()) marks.first = first;
    }
  });
  block.each([&](int thread) {
    for (int k = thread; k < items && marks.first + k < segments.count; k += shape::kThreads) {
      const std::int64_t end = end_item(segments, marks.first + k) - begin;
      if (end >= items) break;
      marks.is_end.set(static_cast<int>(end));
    }
  });
  block.each([&](int thread) {
    int ends = 0;
    for (int k = 0; k < kItems; k += kAtOnce) {
      ends += ones_in(marks.is_end.run(thread * kItems + k, kAtOnce));
    }
    ends_before[thread] = ends;
  });
  exclusive_scan<CountFold>(block, ends_before, marks.scan, marks.ends);
}

/// Calls on_element(element, segment) for the elements among the items of a thread, both counted
/// from the first of the tile.
template <int kItems, class Marks, class PerThreadInt, class OnElement>
KERNEL_FN void walk_items(int thread, int count, const Marks& marks, PerThreadInt& ends_before,
                          const OnElement& on_element) {
  constexpr int kAtOnce = kItems < 32 ? kItems : 32;
  const int from = thread * kItems;
  int ended = ends_before[thread];
  for (int begin = from; begin < from + kItems; begin += kAtOnce) {
    const std::uint32_t ends = marks.is_end.run(begin, kAtOnce);
    for (int k = 0; k < kAtOnce; ++k) {
      if (begin + k >= count) break;
      if ((ends >> k & 1) != 0) {
        ++ended;
      } else {
        on_element(begin + k - ended, ended);
      }
    }
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
