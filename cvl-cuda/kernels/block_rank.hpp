// A rank of few elements, by one block.
//
// Positions are sorted in shared memory by (segment, key, position), which are all different, so
// that the sort is stable whatever its network: Batcher's bitonic sorter (Sorting Networks and
// their Applications, 1968), whose 66 steps for 2048 elements are a few barriers and no memory
// traffic, where a radix sort on the device takes several launches.
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/segment_tile.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// `Key` maps elements to unsigned numbers that order as they do.
template <class T, class I, class Key>
struct BlockRankKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kTile = shape::kBlockRank;
  static constexpr int kItems = kTile / kThreads;
  struct Shared {
    TileMarks<kTile> marks;
    std::uint64_t keys[kTile];
    std::uint16_t segment[kTile];
    std::uint16_t order[kTile];
  };
  static constexpr std::uint16_t kBeyond = 0xFFFF;  // the segment of places without an element

  Source<T> operand;
  Segments segments;
  bool descending;
  Array<I> ranks;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const auto items = static_cast<int>(segments.total + segments.count);
    const auto elements = static_cast<int>(segments.total);
    typename Block::template PerThread<int> ends_before;
    mark_segments<kItems>(block, segments, 0, items, shared.marks, ends_before);
    int size = 2;  // the elements rounded up to a power of two
    while (size < elements) size *= 2;
    block.each([&](int thread) {
      for (int k = thread; k < size; k += kThreads) {
        shared.order[k] = static_cast<std::uint16_t>(k);
        shared.keys[k] = k < elements ? key(k) : 0;
        if (k >= elements) shared.segment[k] = kBeyond;
      }
      walk_items<kItems>(thread, items, shared.marks, ends_before, [&](int element, int segment) {
        shared.segment[element] = static_cast<std::uint16_t>(segment);
      });
    });
    for (int run = 2; run <= size; run *= 2) {
      for (int distance = run / 2; distance > 0; distance /= 2) {
        block.each([&](int thread) {
          for (int pair = thread; pair < size / 2; pair += kThreads) {
            const int low = pair / distance * 2 * distance + pair % distance;
            put_in_order(shared, low, low + distance, (low & run) == 0);
          }
        });
      }
    }
    block.each([&](int thread) {
      for (int k = thread; k < elements; k += kThreads) {
        const int element = shared.order[k];
        ranks[element] = static_cast<I>(k - segments.start(shared.segment[element]));
      }
    });
  }

 private:
  KERNEL_FN std::uint64_t key(std::int64_t element) const {
    const auto bits = Key::of(operand[element]);
    return descending ? static_cast<decltype(bits)>(~bits) : bits;  // equal keys keep their order
  }
  static KERNEL_FN bool before(const Shared& shared, int a, int b) {
    if (shared.segment[a] != shared.segment[b]) return shared.segment[a] < shared.segment[b];
    if (shared.keys[a] != shared.keys[b]) return shared.keys[a] < shared.keys[b];
    return a < b;
  }
  static KERNEL_FN void put_in_order(Shared& shared, int low, int high, bool ascending) {
    const std::uint16_t a = shared.order[low], b = shared.order[high];
    if (before(shared, a, b) == ascending) return;
    shared.order[low] = b;
    shared.order[high] = a;
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
