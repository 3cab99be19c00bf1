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
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/block_scan.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

struct CountFold {
  using State = int;
  static KERNEL_FN int neutral() { return 0; }
  static KERNEL_FN int combine(int a, int b) { return a + b; }
};

/// Which items of a tile are ends of segments: a bit for each.
template <int kTile>
struct TileMarks {
  static constexpr int kWordBits = 32;
  std::uint32_t is_end[(kTile + kWordBits - 1) / kWordBits];
  ScanShared<int> scan;
  std::int64_t first;  // how many segments end before the tile: the first one that it has a part of
  int ends;            // how many segments end in the tile

  /// The bits of `count` items from `item` on, which lie in one word.
  KERNEL_FN std::uint32_t bits(int item, int count) const {
    const auto place = static_cast<std::uint32_t>(item);  // divided by a shift
    const std::uint32_t word = is_end[place / kWordBits] >> (place % kWordBits);
    return count == kWordBits ? word : word & ((1u << count) - 1);
  }
};

/// The position of the end of a segment among the items.
KERNEL_FN inline std::int64_t end_item(const Segments& segments, std::int64_t segment) {
  return segments.start(segment + 1) + segment;
}

/// How many segments end before item `begin`. On a device the lanes of the calling warp probe at
/// once, and all get the result.
KERNEL_FN inline std::int64_t ends_before_item(const Segments& segments, std::int64_t begin) {
  if (segments.uniform) {
    // The end of j is item j * (length + 1) + length.
    const std::int64_t ended = begin / (segments.uniform_length + 1);
    return ended < segments.count ? ended : segments.count;
  }
  const auto is_before = [&](std::int64_t segment) { return end_item(segments, segment) < begin; };
#if defined(CVL_CUDA_WARPS)
  return count_of_warp(segments.count, is_before);
#else
  std::int64_t low = 0, high = segments.count;
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

/// Prepares the tile of items [begin, begin + items): marks.first, marks.ends, marks.is_end, and
/// how many ends lie in the tile before the items of each thread, which has kItems of them.
template <int kItems, class Block, int kTile, class PerThreadInt>
KERNEL_FN void mark_segments(Block& block, const Segments& segments, std::int64_t begin, int items,
                             TileMarks<kTile>& marks, PerThreadInt& ends_before) {
  constexpr int kBits = TileMarks<kTile>::kWordBits;
  constexpr int kAtOnce = kItems < kBits ? kItems : kBits;
  static_assert(kTile == kItems * shape::kThreads && kBits % kAtOnce == 0);
  block.each([&](int thread) {
    for (int k = thread; k * kBits < kTile; k += shape::kThreads) marks.is_end[k] = 0;
    if (in_first_warp(thread)) {
      const std::int64_t first = ends_before_item(segments, begin);
      if (thread == 0) marks.first = first;
    }
  });
  block.each([&](int thread) {
    for (int k = thread; k < items && marks.first + k < segments.count; k += shape::kThreads) {
      const std::int64_t end = end_item(segments, marks.first + k) - begin;
      if (end >= items) break;
      const auto item = static_cast<std::uint32_t>(end);
      or_in_block(&marks.is_end[item / kBits], 1u << (item % kBits));
    }
  });
  block.each([&](int thread) {
    int ends = 0;
    for (int k = 0; k < kItems; k += kAtOnce) {
      ends += ones_in(marks.bits(thread * kItems + k, kAtOnce));
    }
    ends_before[thread] = ends;
  });
  exclusive_scan<CountFold>(block, ends_before, marks.scan, marks.ends);
}

/// Calls on_element(place among the tile's elements) and on_end(segment) for the run of items of a
/// thread. Of a flat operation all items are elements.
template <int kItems, bool kFlat, class Marks, class PerThreadInt, class OnElement, class OnEnd>
KERNEL_FN void walk_items(int thread, int count, const Marks& marks, PerThreadInt& ends_before,
                          const OnElement& on_element, const OnEnd& on_end) {
  const int from = thread * kItems;
  if constexpr (kFlat) {
    for (int k = 0; k < kItems; ++k) {
      if (from + k < count) on_element(from + k);
    }
  } else {
    constexpr int kAtOnce = kItems < Marks::kWordBits ? kItems : Marks::kWordBits;
    int ended = ends_before[thread];
    for (int begin = from; begin < from + kItems; begin += kAtOnce) {
      const std::uint32_t ends = marks.bits(begin, kAtOnce);
      for (int k = 0; k < kAtOnce; ++k) {
        if (begin + k >= count) break;
        if ((ends >> k & 1) != 0) {
          on_end(marks.first + ended);
          ++ended;
        } else {
          on_element(begin + k - ended);
        }
      }
    }
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
