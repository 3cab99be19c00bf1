// The skeleton of a pass of a fused kernel, one launch whatever its sinks are. The generated text
// (codegen/) is a struct that says what happens at one position; here is who visits which positions
// and in what order.
//
// A tile is kRun positions of each thread of a block. Every position is evaluated once:
//   Passes without running values divide the positions into stretches of tiles, one for each block,
//   and visit them with threads side by side, or, where it matters which segment a position lies
//   in, in runs. Whoever finishes last concludes reductions.
//   Passes with running values (scans, selections, everything folded within segments) give each
//   block one tile. Its threads evaluate a run of positions each and keep what is wanted later in
//   registers; prefixes over the threads and over the blocks (ordered_chain.hpp) tell what lies
//   before every run; then the positions are finished. The last tile concludes reductions.
// A thread has the loads of several positions on their way before it visits the first of them; of
// runs it loads and stores 16 bytes at a time, together with its warp (element_run.hpp).
// Then come places that are no positions: empty segments, which have results but no elements, and
// targets of scatters, each of which fetches from the position that won it.
// Blocks take numbers in the order in which they begin, as in sequence.hpp, so that later numbers
// can wait for earlier ones. States are combined in an order that depends on positions alone, so
// that FLOAT sums do not depend on timing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "cvl-cuda/kernels/block_scan.hpp"
#include "cvl-cuda/kernels/element_run.hpp"
#include "cvl-cuda/kernels/ordered_chain.hpp"
#include "cvl-cuda/kernels/pass_parts.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// `Body` has
///   control                  a PassControl
///   kThreads, kRun           threads of a block, positions of a thread in a tile (see shapes.hpp)
///   State, Fold              what is folded, and how (see block_scan.hpp)
///   kFolds, kRunning         is anything folded, and is it wanted at every position?
///   kCounted                 is the pass also launched in stage Count?
///   visit(i, cursors, shared, loaded, stored, state)
///                            does everything at position i, and adds it to the state
///                            (unless kRunning)
///   Kept                     what is kept of a position (kRunning, as the next four)
///   evaluate(i, cursors, shared, loaded, stored, state, kept)
///                            does what needs no state, and adds position i to it
///   finish(i, cursors, shared, gathered, stored, before, state, kept)
///                            does the rest, given the state before i and that before the tile, and
///                            adds i to it
///   count(i, cursors, shared, state)
///                            only adds position i to the state (kCounted)
///   conclude(total)          takes the state of all positions (kFolds)
///   kOthers, other(place)    places that are no positions
///   kTargets, target(place)  targets of scatters
/// and of PassParts
///   Loaded                   elements at a position of vectors over the positions
///   dense(), load(), load_dense(), load_dense_run(), turn_run()
///                            are they all in memory? Loads of one position, and of a whole run of
///                            such elements, which the latter brings into order (element_run.hpp)
///   Stored                   elements at a position of results over the positions
///   store(), store_run(), store_late(), store_late_run()
///                            take what visit() or evaluate() has found out, and finish()
///   kMovedBytes              of the widest element among all these
///   kSegmented, Cursors      what a thread keeps from one position of a run to the next
///   Shared                   what the threads of a block share: windows of segments, which
///                            find_segments() and then fill_segments() make for a tile
///   kGathers, Gathered       room that they share for selected elements, which move_selected()
///                            takes to their places
///   begin_run()              goes to the segments of a position
template <class Body>
struct PassKernel {
  static constexpr int kThreads = shape::pass_threads(Body::kThreads);
  static constexpr int kRun = shape::pass_run(Body::kRun);
  static constexpr int kTile = kThreads * kRun;
  static constexpr bool kRunning = Body::kRunning;
  /// Does any block wait for others?
  static constexpr bool kOrdered = kRunning || Body::kTargets;
  /// Is there a last block that concludes?
  static constexpr bool kConcludes = Body::kFolds && !kRunning;
  using State = typename Body::State;
  using Fold = typename Body::Fold;
  using Cursors = typename Body::Cursors;
  using Loaded = typename Body::Loaded;
  using Stored = typename Body::Stored;
  /// Bytes of shared memory with room to turn runs, of the 48 KiB that a block may have; what is
  /// not counted here takes less than one.
  static constexpr std::size_t kTurningBytes =
      sizeof(typename Body::Shared) + sizeof(typename WarpRuns<kThreads>::Room);
  /// Do warps turn their runs? Those of one piece lie side by side anyway.
  static constexpr bool kTurns = kWarpRuns && (kRunning || Body::kSegmented) &&
                                 kRun * Body::kMovedBytes > 16 && kTurningBytes <= 47 * 1024;
  using Runs = std::conditional_t<kTurns, WarpRuns<kThreads>, OwnRuns>;
  struct Shared {
    ScanShared<State, kThreads> scan;
    State total, prefix;
    std::int64_t number;
    int last;
    typename Body::Shared body;
    union {
      typename Runs::Room room;          // until it is known what lies before the runs
      typename Body::Gathered gathered;  // from then on
    };
  };

  Body body;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const std::int64_t stretches = body.control.stretches;
    std::int64_t number = take_number(block, shared);
    if (number < stretches) {
      if constexpr (kRunning) {
        run_tile(block, shared, number);
      } else {
        visit_all(block, shared, number);
      }
      if constexpr (kConcludes) {
        conclude(block, shared);
      } else {
        arrive(block);
      }
      return;
    }
    number -= stretches;
    if (number < body.control.other_blocks) {
      if constexpr (Body::kOthers) {
        for_places(block, number, [&](std::int64_t place) { body.other(place); });
      }
    } else if constexpr (Body::kTargets) {
      number -= body.control.other_blocks;
      wait(block, arrivals() - body.control.target_blocks);
      for_places(block, number, [&](std::int64_t place) { body.target(place); });
    }
    arrive(block);
  }

 private:
  KERNEL_FN std::int64_t blocks() const {
    const PassControl& control = body.control;
    if (control.stage == PassStage::Count) return control.stretches;
    return control.stretches + control.other_blocks + control.target_blocks;
  }
  /// How often blocks arrive at the second counter, if they do: each once, and once more to say
  /// that what was folded is concluded.
  KERNEL_FN std::int64_t arrivals() const { return blocks() + (kConcludes ? 1 : 0); }

  template <class Block>
  KERNEL_FN std::int64_t take_number(Block& block, Shared& shared) const {
    if constexpr (kOrdered) {
      std::uint32_t* const ticket = body.control.workspace.counters;
      block.each([&](int thread) {
        if (thread == 0) shared.number = CVL_CUDA_TARGET::take_number(ticket, blocks());
      });
      return shared.number;
    } else {
      return block.index();
    }
  }
  template <class Block>
  KERNEL_FN void wait(Block& block, std::int64_t count) const {
    block.each([&](int thread) {
      if (thread != 0) return;
      await_word(body.control.workspace.counters + 1,
                 [&](std::uint32_t arrived) { return arrived >= count; });
    });
  }
  template <class Block>
  KERNEL_FN void arrive(Block& block) const {
    if constexpr (Body::kTargets || kConcludes)
      block.each([&](int thread) {
        if (thread == 0 && body.control.stage != PassStage::Count) count_arrival();
      });
  }
  KERNEL_FN std::int64_t count_arrival() const {
    std::uint32_t* const arrived = body.control.workspace.counters + 1;
    const std::int64_t before = atomic_arrive(arrived, 1);
    if (before == arrivals() - 1) store_release(arrived, 0);
    return before;
  }

  // ---- running values ----

  struct Run {
    typename Body::Kept of[kRun];
  };

  template <class Block>
  KERNEL_FN void run_tile(Block& block, Shared& shared, std::int64_t tile) const {
    typename Block::template PerThread<Cursors> begin;  // those of the first position of the run
    typename Block::template PerThread<State> state;
    typename Block::template PerThread<LoadedRun> loaded;
    typename Block::template PerThread<Run> kept;
    const PassStage stage = body.control.stage;
    const Runs runs(shared.room);
    const auto load = [&](int thread) {
      if (stage != PassStage::Count) load_run(runs, tile, thread, loaded[thread].of);
    };
    // Elements are on their way while segments are looked for.
    find_segments(block, shared, tile, load);
    block.each([&](int thread) {
      const std::int64_t from = first_of(tile, thread);
      const int count = count_from(from);
      State folded = Fold::neutral();
      if constexpr (!Body::kSegmented) load(thread);
      if (count > 0) {
        body.begin_run(from, begin[thread], shared.body);
        evaluate_run(runs, from, count, begin[thread], shared, loaded[thread].of, folded,
                     kept[thread]);
      }
      state[thread] = folded;
    });
    exclusive_scan<Fold>(block, state, shared.scan, shared.total);
    OrderedChain<State>(body.control.workspace, body.control.stretches)
        .template prefix<Fold>(block, tile, shared.total, shared.scan, shared.prefix);
    if (stage != PassStage::Count) {
      block.each([&](int thread) {
        const std::int64_t from = first_of(tile, thread);
        const int count = count_from(from);
        Cursors at = begin[thread];
        State running = Fold::combine(shared.prefix, state[thread]);
        Stored stored[kRun];
        for_run(count, [&](int k) {
          body.finish(from + k, at, shared.body, shared.gathered, stored[k], shared.prefix, running,
                      kept[thread].of[k]);
        });
        const std::conditional_t<Body::kGathers, OwnRuns, Runs> late_runs(shared.room);
        if (is_whole(late_runs, from)) {
          body.store_late_run(late_runs, from, stored);
        } else {
          for_run(count, [&](int k) { body.store_late(from + k, stored[k]); });
        }
      });
      block.each([&](int thread) {
        body.move_selected(shared.gathered, shared.prefix, shared.total, thread);
      });
    }
    if (tile != body.control.stretches - 1 || stage == PassStage::Counted) return;
    block.each([&](int thread) {
      if (thread == 0) body.conclude(Fold::combine(shared.prefix, shared.total));
    });
  }
  KERNEL_FN void evaluate_run(const Runs& runs, std::int64_t from, int count, Cursors at,
                              Shared& shared, Loaded (&loaded)[kRun], State& state,
                              Run& kept) const {
    if constexpr (Body::kCounted) {
      if (body.control.stage == PassStage::Count) {
        return for_run(count, [&](int k) { body.count(from + k, at, shared.body, state); });
      }
    }
    visit_run(runs, from, count, loaded, [&](int k, const Loaded& elements, Stored& stored) {
      body.evaluate(from + k, at, shared.body, elements, stored, state, kept.of[k]);
    });
  }

  // ---- runs ----

  struct LoadedRun {
    Loaded of[kRun];
  };

  KERNEL_FN static std::int64_t first_of(std::int64_t tile, int thread) {
    return (tile * kThreads + thread) * kRun;
  }
  /// How many positions of the run that begins there there are.
  KERNEL_FN int count_from(std::int64_t from) const {
    const std::int64_t left = body.control.length - from;
    return left >= kRun ? kRun : left > 0 ? static_cast<int>(left) : 0;
  }
  /// Calls visit(k) for positions of a run. Unrolled, so that what is kept of a run can be in
  /// registers.
  template <class Visit>
  KERNEL_FN static void for_run(int count, const Visit& visit) {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < kRun; ++k) {
      if (k < count) visit(k);
    }
  }
  /// Is the run that begins there moved as a whole?
  template <class AnyRuns>
  KERNEL_FN bool is_whole(const AnyRuns& runs, std::int64_t from) const {
    return runs.template whole<kRun>(from, body.control.length);
  }
  KERNEL_FN void load_run(const Runs& runs, std::int64_t tile, int thread,
                          Loaded (&loaded)[kRun]) const {
    const std::int64_t from = first_of(tile, thread);
    if (is_whole(runs, from) && body.dense()) {
      body.load_dense_run(runs, from, loaded);
    } else {
      for_run(count_from(from), [&](int k) { body.load(from + k, loaded[k]); });
    }
  }
  /// Calls visit(k, what is loaded of the position, what is to be stored of it).
  template <class Visit>
  KERNEL_FN void visit_run(const Runs& runs, std::int64_t from, int count, Loaded (&loaded)[kRun],
                           const Visit& visit) const {
    const bool whole = is_whole(runs, from);
    if (whole && body.dense()) body.turn_run(runs, loaded);
    Stored stored[kRun];
    for_run(count, [&](int k) { visit(k, loaded[k], stored[k]); });
    if (whole) {
      body.store_run(runs, from, stored);
    } else {
      for_run(count, [&](int k) { body.store(from + k, stored[k]); });
    }
  }
  /// Prepares the windows of segments of a tile. Each thread first calls begin_thread(thread).
  template <class Block, class Begin>
  KERNEL_FN void find_segments(Block& block, Shared& shared, std::int64_t tile,
                               const Begin& begin_thread) const {
    if constexpr (Body::kSegmented) {
      const std::int64_t begin = first_of(tile, 0);
      const std::int64_t next = first_of(tile + 1, 0);
      const std::int64_t end = next < body.control.length ? next : body.control.length;
      block.each([&](int thread) {
        begin_thread(thread);
        body.find_segments(shared.body, begin, end, thread);
      });
      block.each([&](int thread) { body.fill_segments(shared.body, thread); });
    }
  }

  // ---- no running values ----

  template <class Block>
  KERNEL_FN void visit_all(Block& block, Shared& shared, std::int64_t stretch) const {
    typename Block::template PerThread<State> state;
    if constexpr (Body::kSegmented) {
      typename Block::template PerThread<LoadedRun> loaded;
      block.each([&](int thread) { state[thread] = Fold::neutral(); });
      const Runs runs(shared.room);
      const std::int64_t first = stretch * body.control.tiles_each;
      for (std::int64_t tile = first;
           tile < first + body.control.tiles_each && first_of(tile, 0) < body.control.length;
           ++tile) {
        find_segments(block, shared, tile,
                      [&](int thread) { load_run(runs, tile, thread, loaded[thread].of); });
        block.each([&](int thread) {
          const std::int64_t from = first_of(tile, thread);
          const int count = count_from(from);
          if (count == 0) return;
          Cursors at;
          body.begin_run(from, at, shared.body);
          visit_run(runs, from, count, loaded[thread].of,
                    [&](int k, const Loaded& elements, Stored& stored) {
                      body.visit(from + k, at, shared.body, elements, stored, state[thread]);
                    });
        });
      }
    } else {
      block.each([&](int thread) {
        State folded = Fold::neutral();
        visit_stretch(begin_of(stretch) + thread, begin_of(stretch + 1), shared, folded);
        state[thread] = folded;
      });
    }
    if constexpr (Body::kFolds) {
      exclusive_scan<Fold>(block, state, shared.scan, shared.total);
      block.each([&](int thread) {
        if (thread == 0) totals()[stretch] = shared.total;
      });
    }
  }
  /// Visits every kThreads-th position from `i` on.
  KERNEL_FN void visit_stretch(std::int64_t i, std::int64_t end, Shared& shared,
                               State& state) const {
    constexpr int kAhead = 4;
    Cursors at;
    const auto visit = [&](std::int64_t position, const Loaded& loaded) {
      Stored stored;
      body.visit(position, at, shared.body, loaded, stored, state);
      body.store(position, stored);
    };
    if (body.dense()) {
      for (; i + (kAhead - 1) * kThreads < end; i += kAhead * kThreads) {
        Loaded loaded[kAhead];
        for (int k = 0; k < kAhead; ++k) body.load_dense(i + k * kThreads, loaded[k]);
        for (int k = 0; k < kAhead; ++k) visit(i + k * kThreads, loaded[k]);
      }
    }
    for (; i < end; i += kThreads) {
      Loaded loaded;
      body.load(i, loaded);
      visit(i, loaded);
    }
  }
  KERNEL_FN std::int64_t begin_of(std::int64_t stretch) const {
    const std::int64_t begin = stretch * body.control.tiles_each * kTile;
    return begin < body.control.length ? begin : body.control.length;
  }
  KERNEL_FN Array<State> totals() const {
    return {reinterpret_cast<State*>(body.control.workspace.values), body.control.stretches};
  }

  /// Whoever comes last concludes what was folded.
  template <class Block>
  KERNEL_FN void conclude(Block& block, Shared& shared) const {
    block.each([&](int thread) {
      if (thread == 0) shared.last = count_arrival() == body.control.stretches - 1;
    });
    if (shared.last == 0) return;
    for_prefixes<Fold>(
        block, totals(), body.control.stretches, shared.scan, shared.total,
        [](std::int64_t) { return 0; }, [](int, const State&) {});
    block.each([&](int thread) {
      if (thread != 0) return;
      body.conclude(shared.total);
      count_arrival();
    });
  }

  // ---- other places ----

  template <class Block, class Visit>
  KERNEL_FN void for_places(Block& block, std::int64_t number, const Visit& visit) const {
    block.each([&](int thread) {
      for (int k = 0; k < kRun; ++k) visit(number * kTile + k * kThreads + thread);
    });
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
