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
// sequence need not exist: a tile finds its first end by a search in which all threads of the block
// probe at once (log_256 of the number of segments steps), and marks the ends that lie in it.
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

template <int kTile>
struct TileMarks {
  std::uint8_t is_end[kTile];
  std::uint8_t before[shape::kThreads];  // answers of the probes
  ScanShared<int> scan;
  std::int64_t first, last;  // bounds of the search; then `first` is the tile's first segment
  int ends;                  // how many segments end in the tile
};

/// The position of the end of a segment among the items.
KERNEL_FN inline std::int64_t end_item(const Segments& segments, std::int64_t segment) {
  return segments.start(segment + 1) + segment;
}

/// Leaves in marks.first how many segments end before item `begin`.
template <class Block, int kTile>
KERNEL_FN void find_first_segment(Block& block, const Segments& segments, std::int64_t begin,
                                  TileMarks<kTile>& marks) {
  block.each([&](int thread) {
    if (thread != 0) return;
    marks.first = 0;
    marks.last = segments.count;
    if (segments.uniform) {
      // The end of j is item j * (length + 1) + length.
      const std::int64_t ended = begin / (segments.uniform_length + 1);
      marks.first = marks.last = ended < segments.count ? ended : segments.count;
    }
  });
  while (marks.first < marks.last) {
    const std::int64_t low = marks.first, high = marks.last;
    const std::int64_t step = (high - low + shape::kThreads - 1) / shape::kThreads;
    block.each([&](int thread) {
      const std::int64_t probe = low + thread * step;
      marks.before[thread] = probe < high && end_item(segments, probe) < begin;
    });
    block.each([&](int thread) {
      // The answers are a run of ones, then zeros; the result lies behind the last one.
      if (marks.before[thread] == 0) {
        if (thread == 0) marks.last = low;
        return;
      }
      if (thread + 1 < shape::kThreads && marks.before[thread + 1] != 0) return;
      const std::int64_t next = low + (thread + 1) * step;
      marks.first = low + thread * step + 1;
      marks.last = next < high ? next : high;
    });
  }
}

/// Prepares the tile of items [begin, begin + items): marks.first, marks.ends, marks.is_end, and
/// how many ends lie in the tile before the items of each thread, which has kItems of them.
template <int kItems, class Block, int kTile, class PerThreadInt>
KERNEL_FN void mark_segments(Block& block, const Segments& segments, std::int64_t begin, int items,
                             TileMarks<kTile>& marks, PerThreadInt& ends_before) {
  static_assert(kTile == kItems * shape::kThreads);
  find_first_segment(block, segments, begin, marks);
  block.each([&](int thread) {
    for (int k = thread; k < kTile; k += shape::kThreads) marks.is_end[k] = 0;
  });
  block.each([&](int thread) {
    for (int k = thread; k < items && marks.first + k < segments.count; k += shape::kThreads) {
      const std::int64_t item = end_item(segments, marks.first + k) - begin;
      if (item >= items) break;
      marks.is_end[item] = 1;
    }
  });
  block.each([&](int thread) {
    int ends = 0;
    for (int k = 0; k < kItems; ++k) ends += marks.is_end[thread * kItems + k];
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
    int ended = ends_before[thread];
    for (int k = 0; k < kItems; ++k) {
      if (from + k >= count) break;
      if (marks.is_end[from + k] != 0) {
        on_end(marks.first + ended);
        ++ended;
      } else {
        on_element(from + k - ended);
      }
    }
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
