// Prefixes over the threads of a block, and over blocks.
//
// A "fold" is a type with a State, a neutral() state and an associative combine(left, right).
// The order in which states are combined depends on positions only, never on timing, with the one
// exception of Chain, which is therefore not used where rounding could tell (ordered_chain.hpp has
// one that can be).
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cvl-cuda/block.hpp"
#include "cvl-cuda/kernels/warp.hpp"
#include "cvl-cuda/shapes.hpp"
#include "cvl-cuda/workspace.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class State, int kThreads = shape::kThreads>
struct ScanShared {
#if defined(CVL_CUDA_WARPS)
  State states[kThreads / kWarp];  // of the warps
#else
  State states[2][kThreads];
#endif
};

/// Replaces each thread's state by the combination of those of the threads before it; the
/// combination of all is left in `total`. Kogge and Stone's prefix network: in the registers of a
/// warp, whose sums each thread then adds up to its own warp; where there are no warps in shared
/// memory, in two copies so that a step needs one barrier.
template <class Fold, class Block, class PerThreadState, class State, int kThreads>
KERNEL_FN void exclusive_scan(Block& block, PerThreadState& state,
                              ScanShared<State, kThreads>& shared, State& total) {
#if defined(CVL_CUDA_WARPS)
  static_assert(kThreads % kWarp == 0);
  State up_to;
  block.each([&](int thread) {
    up_to = scan_of_warp<Fold>(state[thread]);
    if (lane_index() == kWarp - 1) shared.states[warp_index()] = up_to;
  });
  block.each([&](int thread) {
    State before = Fold::neutral();
    for (int k = 0; k < warp_index(); ++k) before = Fold::combine(before, shared.states[k]);
    if (thread == kThreads - 1) total = Fold::combine(before, up_to);
    const State others = from_before(up_to, 1);
    state[thread] = lane_index() == 0 ? before : Fold::combine(before, others);
  });
#else
  block.each([&](int thread) { shared.states[0][thread] = state[thread]; });
  int from = 0;
  for (int distance = 1; distance < kThreads; distance *= 2) {
    block.each([&](int thread) {
      const State own = shared.states[from][thread];
      shared.states[from ^ 1][thread] =
          thread >= distance ? Fold::combine(shared.states[from][thread - distance], own) : own;
    });
    from ^= 1;
  }
  block.each([&](int thread) {
    state[thread] = thread == 0 ? Fold::neutral() : shared.states[from][thread - 1];
    if (thread == 0) total = shared.states[from][kThreads - 1];
  });
#endif
}

// ---- prefixes over blocks in one pass ----
//
// Decoupled look-back (Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled
// Look-back, 2016): a tile publishes its own total at once and, as soon as it knows it, the total
// of everything up to its end; a tile that needs its prefix walks back over totals until it meets
// such a sum. Two deviations: tiles are numbered in the order in which their blocks begin, so that
// a tile only ever waits for blocks that are running, whatever order the device chooses; and what
// is published carries the number of the call, so that no launch is needed to clear it.

/// Calls visit(scalar) for what a state consists of. What lies between is undefined, and devices'
/// compilers go on from there as they like.
template <class State, class Visit>
constexpr KERNEL_FN void for_scalars(State& state, const Visit& visit) {
  if constexpr (requires { std::remove_const_t<State>::each_scalar(state, visit); }) {
    std::remove_const_t<State>::each_scalar(state, visit);
  } else {
    visit(state);
  }
}
template <class Scalar>
constexpr KERNEL_FN int words_of_scalar(const Scalar&) {
  return static_cast<int>(words_of_state(sizeof(Scalar)));
}
template <class State>
constexpr KERNEL_FN int words_of() {
  int words = 0;
  const State state{};
  for_scalars(state, [&](const auto& scalar) { words += words_of_scalar(scalar); });
  return words > 0 ? words : 1;  // of no state, that it is there
}

/// States that tiles publish. Each word has four bytes of a state, and above them the call in which
/// it was published, and as what: it is there as a whole or not at all. So nothing is said about
/// other memory, accesses are relaxed, and no fence, which takes a device longer than all the rest
/// of a prefix, is needed.
template <class State>
class PublishedStates {
 public:
  PublishedStates() = default;
  KERNEL_FN explicit PublishedStates(const Workspace& workspace)
      : words_(workspace.words), epoch_(workspace.epoch) {}

  /// At most twice in a call for each slot, the second time as another kind. REQUIRES: kind is 1, 2
  /// or 3.
  KERNEL_FN void publish(std::int64_t slot, std::uint32_t kind, const State& state) const {
    std::uint32_t parts[kWords] = {};
    int filled = 0;
    for_scalars(state, [&](const auto& scalar) {
      memcpy(&parts[filled], &scalar, sizeof scalar);
      filled += words_of_scalar(scalar);
    });
    const std::uint64_t status = std::uint64_t{epoch_ << 2 | kind} << 32;
    for (int k = 0; k < kWords; ++k) store_relaxed(&words_[slot * kWords + k], status | parts[k]);
  }
  /// What a slot holds, whenever it was published.
  struct Seen {
    std::uint64_t words[static_cast<std::size_t>(words_of<State>())];
  };
  KERNEL_FN Seen look(std::int64_t slot) const {
    Seen seen;
    for (int k = 0; k < kWords; ++k) seen.words[k] = load_relaxed(&words_[slot * kWords + k]);
    return seen;
  }
  /// As what it was published in this call; 0: not yet.
  KERNEL_FN std::uint32_t kind(const Seen& seen) const {
    const auto status = static_cast<std::uint32_t>(seen.words[0] >> 32);
    bool complete = status >> 2 == epoch_;
    for (int k = 1; k < kWords; ++k) complete = complete && seen.words[k] >> 32 == status;
    return complete ? status & 3 : 0;
  }
  static KERNEL_FN State state(const Seen& seen) {
    std::uint32_t parts[kWords];
    for (int k = 0; k < kWords; ++k) parts[k] = static_cast<std::uint32_t>(seen.words[k]);
    State result{};
    int taken = 0;
    for_scalars(result, [&](auto& scalar) {
      memcpy(&scalar, &parts[taken], sizeof scalar);
      taken += words_of_scalar(scalar);
    });
    return result;
  }
  /// Waits until the slot is published in this call, and tells as what. `seen`: what was seen there
  /// before.
  KERNEL_FN std::uint32_t await(std::int64_t slot, Seen seen, State& published) const {
    std::uint32_t found = kind(seen);
    for (; found == 0; found = kind(seen)) {
      pause();
      seen = look(slot);
    }
    published = state(seen);
    return found;
  }
  KERNEL_FN std::uint32_t await(std::int64_t slot, State& published) const {
    return await(slot, look(slot), published);
  }

 private:
  static constexpr int kWords = words_of<State>();

  Array<std::uint64_t> words_;
  std::uint32_t epoch_ = 0;
};

template <class State>
struct ChainShared {
  State prefix;
  std::int64_t tile;
#if !defined(CVL_CUDA_WARPS)
  std::uint32_t kind[shape::kLookBackWindow];
  State seen[shape::kLookBackWindow];
  std::int64_t window;
  int found;
#endif
};

template <class State>
class Chain {
 public:
  Chain() = default;
  Chain(const Workspace& workspace, std::int64_t tiles)
      : states_(workspace), ticket_(workspace.counters), tiles_(tiles) {
    static_assert(words_of<State>() <= kPlainStateWords);
  }

  /// The number of this block's tile.
  template <class Block>
  KERNEL_FN std::int64_t take_tile(Block& block, ChainShared<State>& shared) const {
    block.each([&](int thread) {
      if (thread == 0) shared.tile = take_number(ticket_, tiles_);
    });
    return shared.tile;
  }

  /// Publishes the total of a tile and leaves in shared.prefix what lies before it.
  template <class Fold, class Block>
  KERNEL_FN void prefix(Block& block, std::int64_t tile, const State& total,
                        ChainShared<State>& shared) const {
#if defined(CVL_CUDA_WARPS)
    block.each([&](int) {
      if (warp_index() == 0) look_back<Fold>(tile, total, shared);
    });
#else
    block.each([&](int thread) {
      if (thread != 0) return;
      shared.prefix = Fold::neutral();
      shared.found = tile == 0;
      shared.window = tile - 1;
      if (tile > 0) states_.publish(tile, kTotal, total);
    });
    while (shared.found == 0) {
      block.each([&](int thread) {
        const std::int64_t other = shared.window - thread;
        if (thread >= shape::kLookBackWindow || other < 0) return;
        shared.kind[thread] = states_.await(other, shared.seen[thread]);
      });
      block.each([&](int thread) {
        if (thread != 0) return;
        // Tile 0 publishes a sum only, so this ends before the window leaves the array.
        for (int k = 0; k < shape::kLookBackWindow && shared.found == 0; ++k) {
          shared.prefix = Fold::combine(shared.seen[k], shared.prefix);
          shared.found = shared.kind[k] == kSum;
        }
        shared.window -= shape::kLookBackWindow;
      });
    }
    block.each([&](int thread) {
      if (thread == 0) states_.publish(tile, kSum, Fold::combine(shared.prefix, total));
    });
#endif
  }

 private:
  static constexpr std::uint32_t kTotal = 1, kSum = 2;

#if defined(CVL_CUDA_WARPS)
  /// What prefix() does, by one warp.
  template <class Fold>
  __device__ void look_back(std::int64_t tile, const State& total,
                            ChainShared<State>& shared) const {
    const int lane = lane_index();
    if (lane == 0 && tile > 0) states_.publish(tile, kTotal, total);
    State before = Fold::neutral();
    bool found = tile == 0;
    // Tile 0 publishes a sum only, so this ends before the window leaves the array.
    for (std::int64_t last = tile - 1; !found; last -= kWarp) {
      const std::int64_t other = last - lane;
      State seen = Fold::neutral();
      bool is_sum = true;
      if (other >= 0) is_sum = states_.await(other, seen) == kSum;
      const std::uint32_t sums = __ballot_sync(kAllLanes, is_sum);
      found = sums != 0;
      if (found && lane > __ffs(sums) - 1) seen = Fold::neutral();
      before = Fold::combine(fold_of_warp_backwards<Fold>(seen), before);
    }
    if (lane == 0) {
      shared.prefix = before;
      states_.publish(tile, kSum, Fold::combine(before, total));
    }
  }
#endif

  PublishedStates<State> states_;
  std::uint32_t* ticket_ = nullptr;
  std::int64_t tiles_ = 0;
};

// ---- prefixes over blocks at the end of a pass ----

/// Is this the last of `blocks` blocks to get here? If so it sees what all others wrote.
template <class Block>
KERNEL_FN bool is_last_block(Block& block, std::uint32_t* counter, std::int64_t blocks,
                             int& shared_flag) {
  block.each([&](int thread) {
    if (thread != 0) return;
    shared_flag = atomic_arrive(counter, 1) == static_cast<std::uint32_t>(blocks - 1);
    if (shared_flag != 0) store_release(counter, 0);  // ready for the next launch
  });
  return shared_flag != 0;
}

/// Calls visit(load(k), prefix of totals[k]) for all k, each thread for a run of them. One block's
/// work: see carry_blocks in tuning.def.
template <class Fold, class Block, class State, int kThreads, class Load, class Visit>
KERNEL_FN void for_prefixes(Block& block, const Array<State>& totals, std::int64_t count,
                            ScanShared<State, kThreads>& shared, State& sum, const Load& load,
                            const Visit& visit) {
  using Loaded = decltype(load(std::int64_t{}));
  const std::int64_t run = (count + kThreads - 1) / kThreads;
  const auto begin = [&](int thread) { return thread * run < count ? thread * run : count; };
  typename Block::template PerThread<State> state;
  // Several loads are on their way together: this is the tail of a launch, which nothing hides.
  constexpr int kAhead = 4;
  block.each([&](int thread) {
    State folded = Fold::neutral();
    const std::int64_t end = begin(thread + 1);
    for (std::int64_t k = begin(thread); k < end; k += kAhead) {
      State ahead[kAhead];
      for (int j = 0; j < kAhead && k + j < end; ++j) ahead[j] = totals[k + j];
      for (int j = 0; j < kAhead && k + j < end; ++j) folded = Fold::combine(folded, ahead[j]);
    }
    state[thread] = folded;
  });
  exclusive_scan<Fold>(block, state, shared, sum);
  block.each([&](int thread) {
    const std::int64_t end = begin(thread + 1);
    for (std::int64_t k = begin(thread); k < end; k += kAhead) {
      State ahead[kAhead];
      Loaded loaded[kAhead];
      for (int j = 0; j < kAhead && k + j < end; ++j) {
        ahead[j] = totals[k + j];
        loaded[j] = load(k + j);
      }
      for (int j = 0; j < kAhead && k + j < end; ++j) {
        visit(loaded[j], state[thread]);
        state[thread] = Fold::combine(state[thread], ahead[j]);
      }
    }
  });
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
