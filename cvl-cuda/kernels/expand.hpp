// The expand skeleton: what happens to element i may depend on the segment that i lies in.
//
// What is to be done is a `Body` of three steps. A thread takes each step for several elements
// before the next one, so that the loads of all of them are on their way together:
//   find(i, segment)                   loads what does not depend on other elements
//   load(i, segment, found)            loads what that leads to
//   store(i, segment, found, loaded)
// Bodies without a middle step are SimpleSteps.
//
// Segment numbers of elements are made in shared memory, tile by tile, and never stored: reading
// them back would cost as much as the elements. For uniform descriptors they are a division.
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/segment_tile.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Of bodies that load nothing but what they find.
struct SimpleSteps {
  struct Nothing {};
  template <class Found>
  KERNEL_FN Nothing load(std::int64_t, std::int64_t, const Found&) const {
    return {};
  }
};

/// An element, and the segment that it lies in.
struct Place {
  std::int64_t element, segment;
};

/// Takes the steps for `count` elements, those of one thread, of which place(k) is one.
template <class Body, class PlaceOf>
KERNEL_FN void take_steps(const Body& body, int count, const PlaceOf& place) {
  using Found = decltype(body.find(0, 0));
  using Loaded = decltype(body.load(0, 0, body.find(0, 0)));
  constexpr int kTogether = 4;
  int k = 0;
  for (; k + kTogether <= count; k += kTogether) {
    Place places[kTogether];
    Found found[kTogether];
    Loaded loaded[kTogether];
    for (int j = 0; j < kTogether; ++j) {
      places[j] = place(k + j);
      found[j] = body.find(places[j].element, places[j].segment);
    }
    for (int j = 0; j < kTogether; ++j) {
      loaded[j] = body.load(places[j].element, places[j].segment, found[j]);
    }
    for (int j = 0; j < kTogether; ++j) {
      body.store(places[j].element, places[j].segment, found[j], loaded[j]);
    }
  }
  for (; k < count; ++k) {
    const Place one = place(k);
    const Found found = body.find(one.element, one.segment);
    body.store(one.element, one.segment, found, body.load(one.element, one.segment, found));
  }
}

/// How many of `count` places a thread has, where neighbouring threads have neighbouring ones.
KERNEL_FN inline int places_of(int thread, std::int64_t count) {
  const std::int64_t places = (count - thread + shape::kThreads - 1) / shape::kThreads;
  return places > 0 ? static_cast<int>(places) : 0;
}

/// Takes the steps of `Body` once for every element.
template <class Body>
struct ExpandKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kItems = shape::kItems;
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
      walk_items<kItems>(thread, count, shared.marks, ends_before, [&](int element, int segment) {
        shared.segment[element] = static_cast<std::uint16_t>(segment);
      });
    });
    const std::int64_t first = begin - shared.marks.first;
    block.each([&](int thread) {
      take_steps(body, places_of(thread, count - shared.marks.ends), [&](int k) {
        const int element = thread + k * kThreads;
        return Place{first + element, shared.marks.first + shared.segment[element]};
      });
    });
  }
};

/// All places lie in one segment.
struct OneSegment {
  KERNEL_FN std::int64_t operator()(std::int64_t) const { return 0; }
};
/// The segment of an element where all have one length.
struct UniformSegments {
  std::int64_t length;          // of all elements
  std::int64_t segment_length;  // above 0

  KERNEL_FN std::int64_t operator()(std::int64_t i) const {
    if (segment_length == length) return 0;
    // Devices divide 32-bit numbers several times faster than 64-bit ones.
    if (length <= 0xFFFFFFFF) {
      return static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(segment_length);
    }
    return i / segment_length;
  }
};

/// The same where the segment of a place is computed: a thread has kPerThread places.
template <class Body, int kPerThread, class SegmentOf = OneSegment>
struct PlaceKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kTile = kThreads * kPerThread;
  struct Shared {};

  Body body;
  std::int64_t count;
  SegmentOf segment_of;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    tile(block, shared, block.index());
  }
  template <class Block>
  KERNEL_FN void tile(Block& block, Shared&, std::int64_t number) const {
    const std::int64_t begin = number * kTile;
    const std::int64_t end = begin + kTile < count ? begin + kTile : count;
    block.each([&](int thread) {
      take_steps(body, places_of(thread, end - begin), [&](int k) {
        const std::int64_t place = begin + thread + k * kThreads;
        return Place{place, segment_of(place)};
      });
    });
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
