// Scans and reductions, flat and segmented.
//
// All kernels here walk tiles of items (segment_tile.hpp; of a flat operation the items are the
// elements): elements go to shared memory side by side, each thread folds a run of items, a prefix
// over the threads and one over the blocks give every run its start, and a second walk over shared
// memory writes results. Memory is read once, and a second time only by FLOAT sums and products,
// whose rounding must not depend on timing (see block_scan.hpp).
#pragma once

#include <cstdint>
#include <type_traits>

#include "cvl-cuda/kernels.hpp"
#include "cvl-cuda/kernels/block_scan.hpp"
#include "cvl-cuda/kernels/ordered_chain.hpp"
#include "cvl-cuda/kernels/segment_fold.hpp"
#include "cvl-cuda/kernels/segment_tile.hpp"
#include "cvl-cuda/shapes.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Elements of a tile in shared memory. One place in 128 bytes stays free, so that threads that
/// walk runs of elements at the same pace use different banks.
template <class T, int kTile>
class TileElements {
 public:
  KERNEL_FN T& operator[](int index) { return places_[index + index / kRow]; }

 private:
  static constexpr int kRow = 128 / sizeof(T);
  T places_[kTile + kTile / kRow];
};

template <class T, bool kFlat>
struct FoldShared {
  static constexpr int kTile = shape::kThreads * shape::kItems<T>;
  struct NoMarks {};
  TileElements<T, kTile> elements;
  std::conditional_t<kFlat, NoMarks, TileMarks<kTile>> marks;
  ScanShared<FoldState<T>> scan;
  FoldState<T> total, carry;
  int last;
};

/// The walk that scans and segmented reductions share.
template <class Op, class T, bool kFlat>
struct FoldTile {
  using Fold = SegmentFold<Op, T>;
  using State = FoldState<T>;
  using Shared = FoldShared<T, kFlat>;
  static constexpr int kItems = shape::kItems<T>;
  static constexpr int kTile = Shared::kTile;

  Source<T> operand;
  Segments segments;
  std::int64_t items;  // elements, and ends of segments unless flat

  /// Loads the tile of items from `begin` on and leaves with each thread what the tile holds before
  /// its run, in shared.total what the tile holds.
  template <class Block>
  KERNEL_FN void load(Block& block, std::int64_t begin, Shared& shared,
                      typename Block::template PerThread<int>& ends_before,
                      typename Block::template PerThread<State>& state) const {
    const int count = items_from(begin);
    if constexpr (!kFlat) {
      mark_segments<kItems>(block, segments, begin, count, shared.marks, ends_before);
    }
    const int elements = count - ends(shared);
    const std::int64_t first = first_element(begin, shared);
    block.each([&](int thread) {
      for (int k = thread; k < elements; k += shape::kThreads) {
        shared.elements[k] = operand[first + k];
      }
    });
    block.each([&](int thread) {
      State folded = Fold::neutral();
      walk(
          thread, begin, shared, ends_before,
          [&](int element) { Fold::add(folded, shared.elements[element]); },
          [&](std::int64_t) { Fold::end_segment(folded); });
      state[thread] = folded;
    });
    exclusive_scan<Fold>(block, state, shared.scan, shared.total);
  }

  /// Calls on_element(place in the tile) and on_end(segment) for the run of a thread.
  template <class PerThreadInt, class OnElement, class OnEnd>
  KERNEL_FN void walk(int thread, std::int64_t begin, Shared& shared, PerThreadInt& ends_before,
                      const OnElement& on_element, const OnEnd& on_end) const {
    walk_items<kItems, kFlat>(thread, items_from(begin), shared.marks, ends_before, on_element,
                              on_end);
  }

  KERNEL_FN int items_from(std::int64_t begin) const {
    return items - begin < kTile ? static_cast<int>(items - begin) : kTile;
  }
  KERNEL_FN static int ends(const Shared& shared) {
    if constexpr (kFlat) {
      return 0;
    } else {
      return shared.marks.ends;
    }
  }
  KERNEL_FN static std::int64_t first_element(std::int64_t begin, const Shared& shared) {
    if constexpr (kFlat) {
      return begin;
    } else {
      return begin - shared.marks.first;
    }
  }
};

// ---- scans ----

/// May the order in which blocks are combined show in the result?
template <class Op, class T>
inline constexpr bool kRounds = ops::is_float<T> &&
                                (std::is_same_v<Op, ops::Add> || std::is_same_v<Op, ops::Multiply>);

template <class Op, class T, bool kFlat>
struct ScanKernel {
  using Tile = FoldTile<Op, T, kFlat>;
  using Fold = typename Tile::Fold;
  using State = FoldState<T>;
  static constexpr bool kOrdered = kRounds<Op, T>;
  static constexpr int kThreads = shape::kThreads;
  struct OrderedShared {
    State prefix;
    std::int64_t tile;
  };
  struct Shared : FoldShared<T, kFlat> {
    std::conditional_t<kOrdered, OrderedShared, ChainShared<State>> chain;
  };

  Tile tile;
  Array<T> out;
  std::conditional_t<kOrdered, OrderedChain<State>, Chain<State>> chain;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    typename Block::template PerThread<int> ends_before;
    typename Block::template PerThread<State> state;
    const std::int64_t number = chain.take_tile(block, shared.chain);
    const std::int64_t begin = number * Tile::kTile;
    tile.load(block, begin, shared, ends_before, state);
    if constexpr (kOrdered) {
      chain.template prefix<Fold>(block, number, shared.total, shared.scan, shared.chain.prefix);
    } else {
      chain.template prefix<Fold>(block, number, shared.total, shared.chain);
    }
    write(block, begin, shared, shared.chain.prefix, ends_before, state);
  }

 private:
  template <class Block, class PerThreadInt, class PerThreadState>
  KERNEL_FN void write(Block& block, std::int64_t begin, Shared& shared, const State& prefix,
                       PerThreadInt& ends_before, PerThreadState& state) const {
    block.each([&](int thread) {
      State running = Fold::combine(prefix, state[thread]);
      tile.walk(
          thread, begin, shared, ends_before,
          [&](int element) {
            const T own = shared.elements[element];
            shared.elements[element] = Fold::result(running);
            Fold::add(running, own);
          },
          [&](std::int64_t) { Fold::end_segment(running); });
    });
    const int elements = tile.items_from(begin) - Tile::ends(shared);
    const std::int64_t first = Tile::first_element(begin, shared);
    block.each([&](int thread) {
      for (int k = thread; k < elements; k += kThreads) out[first + k] = shared.elements[k];
    });
  }
};

// ---- segmented reductions ----

/// What a block knows of the first segment that ends in it: the part that lies in the block.
template <class T>
struct FirstEnd {
  FoldState<T> part;
  std::int64_t segment;  // -1: no segment ends in the block
};

/// One pass. Each block writes the results of all segments that end in it, but for the first, which
/// may have begun in earlier blocks: that one is left to the last block, which knows all carries.
template <class Op, class T>
struct SegmentedReduceKernel {
  using Tile = FoldTile<Op, T, false>;
  using Fold = typename Tile::Fold;
  using State = FoldState<T>;
  static constexpr int kThreads = shape::kThreads;
  using Shared = FoldShared<T, false>;

  Tile tile;
  Array<T> out;
  std::int64_t tiles, blocks;
  Array<State> totals;
  Array<FirstEnd<T>> firsts;
  std::uint32_t* counter;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    typename Block::template PerThread<int> ends_before;
    typename Block::template PerThread<State> state;
    const std::int64_t rounds = (tiles + blocks - 1) / blocks;
    block.each([&](int thread) {
      if (thread != 0) return;
      shared.carry = Fold::neutral();
      firsts[block.index()] = {Fold::neutral(), -1};
    });
    for (std::int64_t number = block.index() * rounds;
         number < (block.index() + 1) * rounds && number < tiles; ++number) {
      const std::int64_t begin = number * Tile::kTile;
      tile.load(block, begin, shared, ends_before, state);
      block.each([&](int thread) {
        State running = Fold::combine(shared.carry, state[thread]);
        tile.walk(
            thread, begin, shared, ends_before,
            [&](int element) { Fold::add(running, shared.elements[element]); },
            [&](std::int64_t segment) {
              if (running.ended != 0) {
                out[segment] = Fold::result(running);
              } else {
                firsts[block.index()] = {running, segment};
              }
              Fold::end_segment(running);
            });
      });
      block.each([&](int thread) {
        if (thread == 0) shared.carry = Fold::combine(shared.carry, shared.total);
      });
    }
    block.each([&](int thread) {
      if (thread == 0) totals[block.index()] = shared.carry;
    });
    if (!is_last_block(block, counter, blocks, shared.last)) return;
    for_prefixes<Fold>(block, totals, blocks, shared.scan, shared.total,
                       [&](std::int64_t k, const State& prefix) {
                         const FirstEnd<T> first = firsts[k];
                         if (first.segment < 0) return;
                         out[first.segment] = Fold::result(Fold::combine(prefix, first.part));
                       });
  }
};

// ---- flat reductions ----

/// Each block folds one stretch of the vector: thread k of a block folds packs k, k + kThreads, ...
/// in four accumulators, then the block its threads, then the last block the blocks.
template <class Op, class T>
struct FlatReduceKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kStep = kThreads * shape::kPack;
  struct Shared {
    T partial[kThreads];
    int last;
  };

  Source<T> operand;
  std::int64_t length;
  std::int64_t blocks, stretch;  // stretch: elements per block, a multiple of kStep
  Array<T> partials;
  Array<T> out;
  std::uint32_t* counter;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const std::int64_t begin = block.index() * stretch;
    const std::int64_t end = begin + stretch < length ? begin + stretch : length;
    block.each([&](int thread) {
      T folded[shape::kPack];
      for (T& one : folded) one = ops::fold_start<Op, T>();
      std::int64_t i = begin + static_cast<std::int64_t>(thread) * shape::kPack;
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (; i + shape::kPack <= end; i += kStep) {
        const Pack<T> pack = operand.pack(i);
        for (int k = 0; k < shape::kPack; ++k) {
          folded[k] = Op::template apply<T>(folded[k], pack.element[k]);
        }
      }
      for (int k = 0; i + k < end; ++k) {
        folded[k] = Op::template apply<T>(folded[k], operand[i + k]);
      }
      shared.partial[thread] = Op::template apply<T>(Op::template apply<T>(folded[0], folded[1]),
                                                     Op::template apply<T>(folded[2], folded[3]));
    });
    fold_threads(block, shared);
    block.each([&](int thread) {
      if (thread == 0) partials[block.index()] = shared.partial[0];
    });
    if (!is_last_block(block, counter, blocks, shared.last)) return;
    block.each([&](int thread) {
      T folded = ops::fold_start<Op, T>();
      for (std::int64_t k = thread; k < blocks; k += kThreads) {
        folded = Op::template apply<T>(folded, partials[k]);
      }
      shared.partial[thread] = folded;
    });
    fold_threads(block, shared);
    block.each([&](int thread) {
      if (thread == 0) out[0] = shared.partial[0];
    });
  }

 private:
  template <class Block>
  KERNEL_FN static void fold_threads(Block& block, Shared& shared) {
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
      block.each([&](int thread) {
        if (thread < distance) {
          shared.partial[thread] =
              Op::template apply<T>(shared.partial[thread], shared.partial[thread + distance]);
        }
      });
    }
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
