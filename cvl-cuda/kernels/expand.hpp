// The expand skeleton: what happens to element i may depend on the segment that i lies in.
//
// Segment numbers of elements are made in shared memory, tile by tile, and never stored: reading
// them back would cost as much as the elements. For uniform descriptors they are a division.
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/segment_tile.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// `Body` is called with (element, segment) once for every element.
template <class Body>
struct ExpandKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kItems = shape::kItems<std::int32_t>;
  static constexpr int kTile = kThreads * kItems;
  struct Shared {
    TileMarks<kTile> marks;
    std::uint16_t segment[kTile];  // of each element of the tile, counted from the tile's first
  };
  static_assert(kTile <= 65535);

  Body body;
  Segments segments;
  std::int64_t items;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    tile(block, shared, block.index());
  }
  template <class Block>
  KERNEL_FN void tile(Block& block, Shared& shared, std::int64_t number) const {
    const std::int64_t begin = number * kTile;
    const int count = items - begin < kTile ? static_cast<int>(items - begin) : kTile;
    typename Block::template PerThread<int> ends_before;
    mark_segments<kItems>(block, segments, begin, count, shared.marks, ends_before);
    block.each([&](int thread) {
      int ended = ends_before[thread];
      for (int k = thread * kItems; k < (thread + 1) * kItems && k < count; ++k) {
        if (shared.marks.is_end[k] != 0) {
          ++ended;
        } else {
          shared.segment[k - ended] = static_cast<std::uint16_t>(ended);
        }
      }
    });
    const std::int64_t first = begin - shared.marks.first;
    const int elements = count - shared.marks.ends;
    block.each([&](int thread) {
      for (int k = thread; k < elements; k += kThreads) {
        body(first + k, shared.marks.first + shared.segment[k]);
      }
    });
  }
};

/// One call per place: body(place), of which a thread makes kPerThread.
template <class Body, int kPerThread>
struct PlaceKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kTile = kThreads * kPerThread;
  struct Shared {};

  Body body;
  std::int64_t count;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    tile(block, shared, block.index());
  }
  template <class Block>
  KERNEL_FN void tile(Block& block, Shared&, std::int64_t number) const {
    const std::int64_t begin = number * kTile;
    const std::int64_t end = begin + kTile < count ? begin + kTile : count;
    block.each([&](int thread) {
      for (std::int64_t place = begin + thread; place < end; place += kThreads) body(place);
    });
  }
};

/// Calls `Body` with (element, segment) where all segments have one length.
template <class Body>
struct UniformExpandBody {
  Body body;
  std::int64_t length;          // of all elements
  std::int64_t segment_length;  // above 0

  KERNEL_FN void operator()(std::int64_t i) const { body(i, segment_of(i)); }

 private:
  KERNEL_FN std::int64_t segment_of(std::int64_t i) const {
    if (segment_length == length) return 0;
    // Devices divide 32-bit numbers several times faster than 64-bit ones.
    if (length <= 0xFFFFFFFF) {
      return static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(segment_length);
    }
    return i / segment_length;
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
