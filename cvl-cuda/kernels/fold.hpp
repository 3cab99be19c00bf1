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
#include "cvl-cuda/kernels/tile_elements.hpp"
#include "cvl-cuda/shapes.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// How elements are folded.
template <class Op, class T, bool kFlat>
using FoldOf = std::conditional_t<kFlat, FlatFold<Op, T>, SegmentFold<Op, T>>;

template <class T, class State, bool kFlat>
struct FoldShared {
  static constexpr int kTile = shape::kThreads * shape::kItems<T>;
  struct NoMarks {};
  TileElements<T, kTile> elements;
  std::conditional_t<kFlat, NoMarks, TileMarks<kTile>> marks;
  ScanShared<State> scan;
  State total, carry;
  int last;
};

/// The walk that scans and segmented reductions share.
template <class Op, class T, bool kFlat>
struct FoldTile {
  using Fold = FoldOf<Op, T, kFlat>;
  using State = typename Fold::State;
  using Shared = FoldShared<T, State, kFlat>;
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
    block.each(
        [&](int thread) { load_tile<kItems>(thread, operand, first, elements, shared.elements); });
    block.each([&](int thread) {
      State folded = Fold::neutral();
      walk(
          thread, begin, shared, ends_before, [&](T element) { Fold::add(folded, element); },
          [&](std::int64_t) {
            if constexpr (!kFlat) Fold::end_segment(folded);
          });
      state[thread] = folded;
    });
    exclusive_scan<Fold>(block, state, shared.scan, shared.total);
  }

  /// Calls on_element(element in shared memory) and on_end(segment) for the run of a thread.
  template <class PerThreadInt, class OnElement, class OnEnd>
  KERNEL_FN void walk(int thread, std::int64_t begin, Shared& shared, PerThreadInt& ends_before,
                      const OnElement& on_element, const OnEnd& on_end) const {
    const int count = items_from(begin);
    if constexpr (kFlat) {
      const int from = thread * kItems;
      T* const run = shared.elements.run(from);
      for (int k = 0; k < kItems; ++k) {
        if (from + k < count) on_element(run[k]);
      }
    } else {
      walk_items<kItems, false>(
          thread, count, shared.marks, ends_before,
          [&](int place) { on_element(shared.elements[place]); }, on_end);
    }
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
  using State = typename Tile::State;
  static constexpr bool kOrdered = kRounds<Op, T>;
  static constexpr int kThreads = shape::kThreads;
  struct OrderedShared {
    State prefix;
    std::int64_t tile;
  };
  struct Shared : FoldShared<T, State, kFlat> {
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
          [&](T& element) {
            const T own = element;
            element = Fold::result(running);
            Fold::add(running, own);
          },
          [&](std::int64_t) {
            if constexpr (!kFlat) Fold::end_segment(running);
          });
    });
    const int elements = tile.items_from(begin) - Tile::ends(shared);
    const std::int64_t first = Tile::first_element(begin, shared);
    block.each([&](int thread) {
      store_tile<Tile::kItems>(thread, out, first, elements, shared.elements);
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
  using Shared = typename Tile::Shared;

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
            thread, begin, shared, ends_before, [&](T element) { Fold::add(running, element); },
            [&](std::int64_t segment) {
              if (Fold::has_ended(running)) {
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
    for_prefixes<Fold>(
        block, totals, blocks, shared.scan, shared.total, [&](std::int64_t k) { return firsts[k]; },
        [&](const FirstEnd<T>& first, const State& prefix) {
          if (first.segment < 0) return;
          out[first.segment] = Fold::result(Fold::combine(prefix, first.part));
        });
  }
};

// ---- flat reductions ----

/// Each block folds one stretch of the vector: thread k of a block folds packs k, k + kThreads, ...
/// in an accumulator for each element of a pack, then the block its threads, then the last block
/// the blocks.
template <class Op, class T>
struct FlatReduceKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kPack = shape::kPack<T>;
  static constexpr int kStep = kThreads * kPack;
  static constexpr int kAhead = 4;  // packs that a thread has on their way together
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
    typename Block::template PerThread<T> own;
    const std::int64_t begin = block.index() * stretch;
    const std::int64_t end = begin + stretch < length ? begin + stretch : length;
    block.each([&](int thread) { own[thread] = fold_stretch(thread, begin, end); });
    fold_threads(block, own, shared);
    block.each([&](int thread) {
      if (thread == 0) partials[block.index()] = shared.partial[0];
    });
    if (!is_last_block(block, counter, blocks, shared.last)) return;
    block.each([&](int thread) {
      T folded = ops::fold_start<Op, T>();
      for (std::int64_t k = thread; k < blocks; k += kThreads) folded = apply(folded, partials[k]);
      own[thread] = folded;
    });
    fold_threads(block, own, shared);
    block.each([&](int thread) {
      if (thread == 0) out[0] = shared.partial[0];
    });
  }

 private:
  static KERNEL_FN T apply(T a, T b) { return Op::template apply<T>(a, b); }
  static KERNEL_FN void add(T (&folded)[kPack], const Pack<T, kPack>& pack) {
    for (int k = 0; k < kPack; ++k) folded[k] = apply(folded[k], pack.element[k]);
  }

  /// What a thread has to fold of its block.
  KERNEL_FN T fold_stretch(int thread, std::int64_t begin, std::int64_t end) const {
    T folded[kPack];
    for (T& one : folded) one = ops::fold_start<Op, T>();
    std::int64_t i = begin + static_cast<std::int64_t>(thread) * kPack;
    if (operand.dense()) {
      for (; i + (kAhead - 1) * kStep + kPack <= end; i += kAhead * kStep) {
        Pack<T, kPack> packs[kAhead];
        for (int k = 0; k < kAhead; ++k)
          packs[k] = operand.template dense_pack<kPack>(i + k * kStep);
        for (const Pack<T, kPack>& pack : packs) add(folded, pack);
      }
    }
    for (; i + kPack <= end; i += kStep) add(folded, operand.template pack<kPack>(i));
    for (int k = 0; i + k < end; ++k) folded[k] = apply(folded[k], operand[i + k]);
    for (int k = 1; k < kPack; ++k) folded[0] = apply(folded[0], folded[k]);
    return folded[0];
  }

  struct Fold {
    static KERNEL_FN T combine(T a, T b) { return apply(a, b); }
  };
  /// Leaves in shared.partial[0] what the threads have, in an order that is always the same.
  template <class Block, class PerThreadValue>
  KERNEL_FN static void fold_threads(Block& block, PerThreadValue& own, Shared& shared) {
#if defined(CVL_CUDA_WARPS)
    block.each([&](int thread) {
      const T folded = fold_of_warp<Fold>(own[thread]);
      if (lane_index() == 0) shared.partial[warp_index()] = folded;
    });
    block.each([&](int thread) {
      if (thread != 0) return;
      for (int k = 1; k < kThreads / kWarp; ++k) {
        shared.partial[0] = apply(shared.partial[0], shared.partial[k]);
      }
    });
#else
    block.each([&](int thread) { shared.partial[thread] = own[thread]; });
    for (int distance = kThreads / 2; distance > 0; distance /= 2) {
      block.each([&](int thread) {
        if (thread < distance) {
          shared.partial[thread] = apply(shared.partial[thread], shared.partial[thread + distance]);
        }
      });
    }
#endif
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
