// Scans and reductions, flat and segmented.
//
// Tiles of items (segment_tile.hpp; of a flat operation the items are the elements) go to shared
// memory side by side, with a bit for each element that begins a segment. Each thread folds a run
// of elements, a prefix over the threads and one over the blocks give every run its start, and a
// second walk over shared memory leaves there what comes before, or after, each element. Results of
// segments are then taken from the places where they end, by threads side by side.
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

template <class T, class State, bool kFlat>
struct FoldShared {
  static constexpr int kPlaces = shape::kThreads * shape::kItems;
  struct Nothing {};
  TileElements<T, kPlaces> elements;
  std::conditional_t<kFlat, Nothing, TileRange> range;
  std::conditional_t<kFlat, Nothing, TileFlags<kPlaces>> begins;  // does a segment begin there?
  ScanShared<State> scan;
  State total;
};

/// What scans and segmented reductions share.
template <class Op, class T, bool kFlat>
struct FoldTile {
  using Fold = std::conditional_t<kFlat, PlainFold<Op, T>, SegmentFold<Op, T>>;
  using State = typename Fold::State;
  using Shared = FoldShared<T, State, kFlat>;
  static constexpr int kItems = shape::kItems;
  /// Items of a tile. Segmented ones leave room for the places that are free at the beginning, and
  /// one for a segment that begins behind the last element.
  static constexpr int kTile = Shared::kPlaces - (kFlat ? 0 : shape::kPack<T>);

  Source<T> operand;
  Segments segments;
  std::int64_t items;  // elements, and ends of segments unless flat

  KERNEL_FN int items_from(std::int64_t begin) const {
    return items - begin < kTile ? static_cast<int>(items - begin) : kTile;
  }
  /// Where the elements of the tile of items from `begin` on are.
  KERNEL_FN TileWindow window(std::int64_t begin, const Shared& shared) const {
    const int count = items_from(begin);
    if constexpr (kFlat) {
      return {begin, 0, count};
    } else {
      return TileWindow::of<shape::kPack<T>>(shared.range.first_element(begin),
                                             count - shared.range.ends());
    }
  }

  /// Loads the tile of items from `begin` on and leaves with each thread what the tile holds before
  /// its run, in shared.total what the tile holds. Blocks that take one tile after the other look
  /// for the segments of the next one meanwhile: `follows` is to say whether this one has been
  /// looked for.
  template <bool kOneByOne, class Block>
  KERNEL_FN void load(Block& block, std::int64_t begin, bool follows, Shared& shared,
                      typename Block::template PerThread<State>& state) const {
    if constexpr (!kFlat) {
      block.each([&](int thread) {
        shared.begins.clear(thread);
        if (!follows) {
          shared.range.find(segments, begin, items_from(begin), thread);
        } else if (thread == 0) {
          shared.range.advance();
        }
      });
    }
    block.each([&](int thread) {
      if constexpr (kOneByOne) {
        const std::int64_t end = begin + items_from(begin);
        shared.range.find_next(segments, end, items_from(end), thread);
      }
      const TileWindow places = window(begin, shared);
      load_tile<kItems>(thread, operand, places, ops::fold_start<Op, T>(), shared.elements);
      if constexpr (!kFlat) mark_begins(thread, places, shared);
    });
    block.each([&](int thread) {
      State folded = Fold::neutral();
      walk(thread, shared, folded, [](T&, const State&, bool) {});
      state[thread] = folded;
    });
    exclusive_scan<Fold>(block, state, shared.scan, shared.total);
  }

  /// Calls visit(element in shared memory, what is folded before it, does a segment begin there?)
  /// for the run of a thread, and folds it. The places that no element has do not show.
  template <class Visit>
  KERNEL_FN static void walk(int thread, Shared& shared, State& state, const Visit& visit) {
    T* const run = shared.elements.run(thread * kItems);
    if constexpr (kFlat) {
      for (int k = 0; k < kItems; ++k) {
        const T own = run[k];
        visit(run[k], state, false);
        Fold::add(state, own);
      }
    } else {
      const std::uint32_t begins = shared.begins.run(thread * kItems, kItems);
      for (int k = 0; k < kItems; ++k) {
        const bool is_first = (begins >> k & 1) != 0;
        const T own = run[k];
        if (is_first) state.value = ops::fold_start<Op, T>();
        visit(run[k], state, is_first);
        state.value = Op::template apply<T>(state.value, own);
      }
      if (begins != 0) state.flags = Fold::kEnded;
    }
  }

 private:
  /// Marks where segments begin: behind the ends of others, and with the tile.
  KERNEL_FN void mark_begins(int thread, const TileWindow& places, Shared& shared) const {
    const TileRange& range = shared.range;
    for_segments(segments, range.first_segment(), range.ends(), thread,
                 [&](int, std::int64_t start, std::int64_t end) {
                   // Whoever ended where an empty segment lies has marked the place.
                   if (start < end) shared.begins.set(static_cast<int>(end - places.base));
                 });
    if (thread == 0 && segments.start(range.first_segment()) == places.base + places.begin) {
      shared.begins.set(places.begin);
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
    typename Block::template PerThread<State> state;
    const std::int64_t number = chain.take_tile(block, shared.chain);
    const std::int64_t begin = number * Tile::kTile;
    tile.template load<false>(block, begin, false, shared, state);
    if constexpr (kOrdered) {
      chain.template prefix<Fold>(block, number, shared.total, shared.scan, shared.chain.prefix);
    } else {
      chain.template prefix<Fold>(block, number, shared.total, shared.chain);
    }
    block.each([&](int thread) {
      State running = Fold::combine(shared.chain.prefix, state[thread]);
      Tile::walk(thread, shared, running, [](T& element, const State& before, bool is_first) {
        element = is_first ? Op::template identity<T>() : before.value;
      });
      // The identity is given out, never combined (see ops::Max).
      if (kFlat && begin == 0 && thread == 0) shared.elements[0] = Op::template identity<T>();
    });
    block.each([&](int thread) {
      store_tile<Tile::kItems>(thread, out, tile.window(begin, shared), shared.elements);
    });
  }
};

// ---- segmented reductions ----

/// What a block has of the first segment that ends in it, if that began in an earlier block.
template <class T>
struct FirstEnd {
  T part;
  std::int64_t segment;  // -1: there is none
};

/// One pass. Each block writes the results of all segments that end in it, but for one that began
/// in earlier blocks: that is left to the last block, which knows what all have folded.
template <class Op, class T>
struct SegmentedReduceKernel {
  using Tile = FoldTile<Op, T, false>;
  using Fold = typename Tile::Fold;
  using State = typename Tile::State;
  static constexpr int kThreads = shape::kThreads;
  struct Shared : Tile::Shared {
    State carry;                 // of the tiles before, of this block
    std::int64_t first_element;  // of the block
    int last;
  };

  Tile tile;
  Array<T> out;
  std::int64_t tiles, blocks;
  Array<State> totals;
  Array<FirstEnd<T>> firsts;
  std::uint32_t* counter;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    typename Block::template PerThread<State> state;
    const std::int64_t rounds = (tiles + blocks - 1) / blocks;
    const std::int64_t first_tile = block.index() * rounds;
    block.each([&](int thread) {
      if (thread != 0) return;
      shared.carry = Fold::neutral();
      firsts[block.index()] = {T{}, -1};
    });
    for (std::int64_t number = first_tile; number < first_tile + rounds && number < tiles;
         ++number) {
      const std::int64_t begin = number * Tile::kTile;
      tile.template load<true>(block, begin, number != first_tile, shared, state);
      block.each([&](int thread) {
        if (thread == 0 && number == first_tile) {
          shared.first_element = shared.range.first_element(begin);
        }
        State running = Fold::combine(shared.carry, state[thread]);
        Tile::walk(thread, shared, running, [](T& element, const State& before, bool) {
          element = Op::template apply<T>(before.value, element);
        });
      });
      block.each([&](int thread) {
        write(block.index(), thread, tile.window(begin, shared), shared);
        // The carry is used by the first end of a tile alone, which is this thread's.
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
          out[first.segment] = Op::template apply<T>(prefix.value, first.part);
        });
  }

 private:
  /// The results of the segments that end in a tile, those of one thread.
  KERNEL_FN void write(std::int64_t number, int thread, const TileWindow& places,
                       Shared& shared) const {
    const std::int64_t first = shared.range.first_segment();
    for_segments(tile.segments, first, shared.range.ends(), thread,
                 [&](int k, std::int64_t start, std::int64_t end) {
                   write_one(number, first + k, start, end, places, shared);
                 });
  }
  KERNEL_FN void write_one(std::int64_t number, std::int64_t segment, std::int64_t start,
                           std::int64_t end, const TileWindow& places, Shared& shared) const {
    if (start == end) {
      out[segment] = Op::template identity<T>();  // given out, never combined (see ops::Max)
      return;
    }
    const auto place = static_cast<int>(end - places.base);
    const T folded = place > places.begin ? shared.elements[place - 1] : shared.carry.value;
    if (start < shared.first_element) {
      firsts[number] = {folded, segment};
    } else {
      out[segment] = folded;
    }
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
