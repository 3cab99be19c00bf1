// The skeleton of a pass of a fused kernel, one launch whatever its sinks are. The generated text
// (codegen/) is a struct that says what happens at one position; here is who visits which positions
// and in what order.
//
// The positions are divided into stretches, of which a block takes one. Blocks take numbers in the
// order in which they begin, as in sequence.hpp, so that later numbers can wait for earlier ones:
//   1. passes with running values (scans, selections, everything folded within segments): the
//      totals of all stretches; whoever finishes last makes the prefixes of the stretches from them
//   2. all stretches: every position is visited; whoever finishes last concludes reductions
//   3. places that are no positions: empty segments, which have results but no elements
//   4. targets of scatters: each fetches from the position that won it
// Running values are folded twice over a fixed partition (reduce, then scan: Blelloch, Prefix Sums
// and Their Applications, 1990, section 1.2), so that FLOAT sums do not depend on timing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/failure_sink.hpp"
#include "cvl-cuda/kernels/block_scan.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Positions that a thread visits one after the other.
inline constexpr int kPassRun = 8;

/// What every pass is given first.
struct PassControl {
  std::int64_t length = 0;            // positions
  std::int64_t stretches = 0;         // at least one position each
  std::int64_t tiles_each = 0;        // of a stretch; the last one may have fewer
  std::int64_t other_blocks = 0;      // blocks of kTile places of step 3
  std::int64_t target_blocks = 0;     // of step 4
  std::byte* states = nullptr;        // of passes that fold: two states for each stretch
  std::uint32_t* counters = nullptr;  // two, zero before and after
  std::uint64_t tag = 0;              // of the winners of scatters
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
///   control                      a PassControl
///   kThreads                     threads of a block
///   State, Fold                  what is folded, and how (see block_scan.hpp)
///   Cursors                      what a thread keeps from one position to the next
///   kFolds, kRunning             is anything folded, and is it wanted at every position?
///   fold(i, cursors, state)      adds position i to the state (kRunning)
///   visit(i, cursors, state)     does everything at position i, and adds it to the state
///   conclude(total)              takes the state of all positions (kFolds)
///   kOthers, other(place)        step 3
///   kTargets, target(place)      step 4
template <class Body>
struct PassKernel {
  static constexpr int kThreads = Body::kThreads;
  static constexpr int kRun = kPassRun;
  static constexpr int kTile = kThreads * kRun;
  /// Does any block wait for others?
  static constexpr bool kOrdered = Body::kRunning || Body::kTargets;
  static constexpr bool kCounts = kOrdered || Body::kFolds;
  using State = typename Body::State;
  using Fold = typename Body::Fold;
  using Cursors = typename Body::Cursors;
  struct Shared {
    ScanShared<State, kThreads> scan;
    State total, carry;
    std::int64_t number;
    int last;
  };

  Body body;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    const std::int64_t stretches = body.control.stretches;
    std::int64_t number = take_number(block, shared);
    const std::int64_t first = Body::kRunning ? stretches : 0;
    if (number < first) {
      sum_up(block, shared, number);
      conclude(block, shared);
      return;
    }
    number -= first;
    if constexpr (Body::kRunning) wait(block, stretches + 1);
    if (number < stretches) {
      visit_all(block, shared, number);
      if constexpr (Body::kFolds && !Body::kRunning) {
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
  /// How often blocks arrive at the second counter: each once, and once more to say that what was
  /// folded is concluded.
  KERNEL_FN std::int64_t arrivals() const {
    const PassControl& control = body.control;
    return control.stretches * (Body::kRunning ? 2 : 1) + (Body::kFolds ? 1 : 0) +
           control.other_blocks + control.target_blocks;
  }

  template <class Block>
  KERNEL_FN std::int64_t take_number(Block& block, Shared& shared) const {
    if constexpr (kOrdered) {
      block.each([&](int thread) {
        if (thread != 0) return;
        shared.number = atomic_arrive(body.control.counters, 1);
        const std::int64_t blocks = arrivals() - (Body::kFolds ? 1 : 0);
        if (shared.number == blocks - 1) store_release(body.control.counters, 0);
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
      while (load_acquire(body.control.counters + 1) < count) {
      }
    });
  }
  template <class Block>
  KERNEL_FN void arrive(Block& block) const {
    if constexpr (kCounts)
      block.each([&](int thread) {
        if (thread == 0) count_arrival();
      });
  }
  KERNEL_FN std::int64_t count_arrival() const {
    std::uint32_t* const arrived = body.control.counters + 1;
    const std::int64_t before = atomic_arrive(arrived, 1);
    if (before == arrivals() - 1) store_release(arrived, 0);
    return before;
  }

  KERNEL_FN Array<State> totals() const {
    return {reinterpret_cast<State*>(body.control.states), body.control.stretches};
  }
  KERNEL_FN Array<State> prefixes() const {
    return {reinterpret_cast<State*>(body.control.states) + body.control.stretches,
            body.control.stretches};
  }
  KERNEL_FN std::int64_t begin_of(std::int64_t stretch) const {
    const std::int64_t begin = stretch * body.control.tiles_each * kTile;
    return begin < body.control.length ? begin : body.control.length;
  }

  /// Leaves the total of a stretch in shared.carry.
  template <class Block>
  KERNEL_FN void sum_up(Block& block, Shared& shared, std::int64_t stretch) const {
    if constexpr (Body::kRunning) {
      typename Block::template PerThread<Cursors> cursors;
      typename Block::template PerThread<State> state;
      block.each([&](int thread) {
        cursors[thread] = Cursors();
        if (thread == 0) shared.carry = Fold::neutral();
      });
      const std::int64_t end = begin_of(stretch + 1);
      for (std::int64_t begin = begin_of(stretch); begin < end; begin += kTile) {
        fold_runs(block, shared, begin, cursors, state);
        block.each([&](int thread) {
          if (thread == 0) shared.carry = Fold::combine(shared.carry, shared.total);
        });
      }
      block.each([&](int thread) {
        if (thread == 0) totals()[stretch] = shared.carry;
      });
    }
  }

  /// Leaves with each thread the state before its run, and in shared.total that of the tile.
  template <class Block, class PerThreadCursors, class PerThreadState>
  KERNEL_FN void fold_runs(Block& block, Shared& shared, std::int64_t begin,
                           PerThreadCursors& cursors, PerThreadState& state) const {
    block.each([&](int thread) {
      State folded = Fold::neutral();
      for_run(begin, thread, [&](std::int64_t i) { body.fold(i, cursors[thread], folded); });
      state[thread] = folded;
    });
    exclusive_scan<Fold>(block, state, shared.scan, shared.total);
  }
  template <class Visit>
  KERNEL_FN void for_run(std::int64_t begin, int thread, const Visit& visit) const {
    const std::int64_t from = begin + static_cast<std::int64_t>(thread) * kRun;
    for (std::int64_t i = from; i < from + kRun && i < body.control.length; ++i) visit(i);
  }

  /// Whoever comes last makes the prefixes and concludes what was folded.
  template <class Block>
  KERNEL_FN void conclude(Block& block, Shared& shared) const {
    if constexpr (Body::kFolds) {
      block.each([&](int thread) {
        if (thread == 0) shared.last = count_arrival() == body.control.stretches - 1;
      });
      if (shared.last == 0) return;
      const Array<State> of_stretches = prefixes();
      for_prefixes<Fold>(block, totals(), body.control.stretches, shared.scan, shared.total,
                         [&](std::int64_t k, const State& prefix) { of_stretches[k] = prefix; });
      block.each([&](int thread) {
        if (thread != 0) return;
        body.conclude(shared.total);
        count_arrival();
      });
    }
  }

  template <class Block>
  KERNEL_FN void visit_all(Block& block, Shared& shared, std::int64_t stretch) const {
    typename Block::template PerThread<Cursors> cursors;
    typename Block::template PerThread<State> state;
    const std::int64_t end = begin_of(stretch + 1);
    if constexpr (Body::kRunning) {
      block.each([&](int thread) {
        cursors[thread] = Cursors();
        if (thread == 0) shared.carry = prefixes()[stretch];
      });
      for (std::int64_t begin = begin_of(stretch); begin < end; begin += kTile) {
        fold_runs(block, shared, begin, cursors, state);
        block.each([&](int thread) {
          State running = Fold::combine(shared.carry, state[thread]);
          for_run(begin, thread, [&](std::int64_t i) { body.visit(i, cursors[thread], running); });
        });
        block.each([&](int thread) {
          if (thread == 0) shared.carry = Fold::combine(shared.carry, shared.total);
        });
      }
    } else {
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
  }

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
