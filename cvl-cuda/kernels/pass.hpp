// The skeleton of a pass of a fused kernel, one launch whatever its sinks are. The generated text
// (codegen/) is a struct that says what happens at one position; here is who visits which positions
// and in what order.
//
// A tile is kRun positions of each thread of a block. Every position is evaluated once:
//   Passes without running values divide the positions into stretches of tiles, one for each block,
//   and visit them with threads side by side. Whoever finishes last concludes reductions.
//   Passes with running values (scans, selections, everything folded within segments) give each
//   block one tile. Its threads evaluate a run of positions each and keep what is wanted later in
//   registers; prefixes over the threads and over the blocks (ordered_chain.hpp) tell what lies
//   before every run; then the positions are finished. The last tile concludes reductions.
// Then come places that are no positions: empty segments, which have results but no elements, and
// targets of scatters, each of which fetches from the position that won it.
// Blocks take numbers in the order in which they begin, as in sequence.hpp, so that later numbers
// can wait for earlier ones. States are combined in an order that depends on positions alone, so
// that FLOAT sums do not depend on timing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/failure_sink.hpp"
#include "cvl-cuda/kernels/block_scan.hpp"
#include "cvl-cuda/kernels/ordered_chain.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// What a launch does of a pass.
enum class PassStage : std::int64_t {
  All,
  Count,    // only fold, and conclude
  Counted,  // all but conclude
};

/// What every pass is given first.
struct PassControl {
  std::int64_t length = 0;         // positions
  std::int64_t stretches = 0;      // at least one position each
  std::int64_t tiles_each = 0;     // of a stretch; the last one may have fewer
  std::int64_t other_blocks = 0;   // blocks of a tile of other places each
  std::int64_t target_blocks = 0;  // … of targets of scatters
  PassStage stage = PassStage::All;
  Workspace workspace;    // of passes with running values: for a chain; else a state per stretch
  std::uint64_t tag = 0;  // of the winners of scatters
  FailureSink failures;

  /// Reports the failure number `site` of the pass; `rank` orders it among those of the kernel.
  KERNEL_FN void fail(int rank, int site, std::int64_t position, std::int64_t value,
                      std::int64_t limit) const {
    FailureSink sink = failures;
    sink.sequence += static_cast<std::uint64_t>(rank);
    sink.report(position, value, site, limit);
  }
};

/// `Body` has
///   control                           a PassControl
///   kThreads, kRun                    threads of a block, positions of a thread in a tile (see
///   shapes.hpp) State, Fold                       what is folded, and how (see block_scan.hpp)
///   Cursors                           what a thread keeps from one position to the next
///   kFolds, kRunning                  is anything folded, and is it wanted at every position?
///   kCounted                          is the pass also launched in stage Count?
///   visit(i, cursors, state)          does everything at position i, and adds it to the state
///                                     (unless kRunning)
///   Kept                              what is kept of a position (kRunning, as the next three)
///   evaluate(i, cursors, state, kept) does what needs no state, and adds position i to it
///   finish(i, cursors, state, kept)   does the rest, given the state before i, and adds i to it
///   count(i, cursors, state)          only adds position i to the state (kCounted)
///   conclude(total)                   takes the state of all positions (kFolds)
///   kOthers, other(place)             places that are no positions
///   kTargets, target(place)           targets of scatters
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
  struct Shared {
    ScanShared<State, kThreads> scan;
    State total, prefix;
    std::int64_t number;
    int last;
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
      while (load_acquire(body.control.workspace.counters + 1) < count) pause();
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
    typename Block::template PerThread<Run> kept;
    const PassStage stage = body.control.stage;
    block.each([&](int thread) {
      Cursors at;
      State folded = Fold::neutral();
      for_run(tile, thread, [&](std::int64_t i, int k) {
        add(i, at, folded, kept[thread].of[k]);
        if (k == 0) begin[thread] = at;
      });
      state[thread] = folded;
    });
    exclusive_scan<Fold>(block, state, shared.scan, shared.total);
    OrderedChain<State>(body.control.workspace, body.control.stretches)
        .template prefix<Fold>(block, tile, shared.total, shared.scan, shared.prefix);
    if (stage != PassStage::Count) {
      block.each([&](int thread) {
        Cursors at = begin[thread];
        State running = Fold::combine(shared.prefix, state[thread]);
        for_run(tile, thread,
                [&](std::int64_t i, int k) { body.finish(i, at, running, kept[thread].of[k]); });
      });
    }
    if (tile != body.control.stretches - 1 || stage == PassStage::Counted) return;
    block.each([&](int thread) {
      if (thread == 0) body.conclude(Fold::combine(shared.prefix, shared.total));
    });
  }
  template <class Kept>
  KERNEL_FN void add(std::int64_t i, Cursors& at, State& state, Kept& kept) const {
    if constexpr (Body::kCounted) {
      if (body.control.stage == PassStage::Count) return body.count(i, at, state);
    }
    body.evaluate(i, at, state, kept);
  }
  /// Calls visit(position, its number in the run). Unrolled, so that what is kept of a run can be
  /// in registers.
  template <class Visit>
  KERNEL_FN void for_run(std::int64_t tile, int thread, const Visit& visit) const {
    const std::int64_t from = (tile * kThreads + thread) * kRun;
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < kRun; ++k) {
      if (from + k < body.control.length) visit(from + k, k);
    }
  }

  // ---- no running values ----

  template <class Block>
  KERNEL_FN void visit_all(Block& block, Shared& shared, std::int64_t stretch) const {
    typename Block::template PerThread<State> state;
    const std::int64_t end = begin_of(stretch + 1);
    block.each([&](int thread) {
      Cursors own;
      State folded = Fold::neutral();
#if defined(__CUDA_ARCH__)
#pragma unroll 4
#endif
      for (std::int64_t i = begin_of(stretch) + thread; i < end; i += kThreads) {
        body.visit(i, own, folded);
      }
      state[thread] = folded;
    });
    if constexpr (Body::kFolds) {
      exclusive_scan<Fold>(block, state, shared.scan, shared.total);
      block.each([&](int thread) {
        if (thread == 0) totals()[stretch] = shared.total;
      });
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
    for_prefixes<Fold>(block, totals(), body.control.stretches, shared.scan, shared.total,
                       [](std::int64_t, const State&) {});
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

/// Of passes that fold nothing.
struct NoState {};
struct NoFold {
  static KERNEL_FN NoState neutral() { return {}; }
  static KERNEL_FN NoState combine(NoState, NoState) { return {}; }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
