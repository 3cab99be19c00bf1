// What the threads of a warp do together: barriers of the warp, shuffles, votes.
//
// Threads wait until all lanes of the mask have come to the same instruction (machine.cpp); then it
// runs for all of them at once.
#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"
#include "cuda/ptx/operation_table.hpp"

namespace ptx_machine {
namespace {

constexpr std::uint32_t kLanes = SharedMemory::kWarp;

std::uint32_t lane_of(const Thread& t) {
  return t.index % kLanes;
}

template <std::size_t kMask>
void wait_for_warp(const Instruction& i, Thread& t) {
  t.warp_mask = t.get<std::uint32_t>(i.r[kMask]);
  if ((t.warp_mask >> lane_of(t) & 1) == 0) {
    throw Fault(fmt::format("the mask {:#x} lacks the lane itself, {}", t.warp_mask, lane_of(t)));
  }
  t.state = Thread::State::AtWarp;
}

/// What threads wrote before it can be seen by the others after it.
void synchronize(const Instruction&, const std::vector<Thread*>& lanes) {
  for (Thread* lane : lanes) ++lane->warp_phase;
}

enum class Shuffle { Up, Down, Butterfly, Index };

/// d[|p] = a of another lane, which only moves it; kPredicate: is there a p that tells whether that
/// lane is in range?
template <Shuffle kShuffle, bool kPredicate>
void shuffle(const Instruction& i, const std::vector<Thread*>& lanes) {
  constexpr std::size_t kFirst = kPredicate ? 2 : 1;
  std::array<const Thread*, kLanes> by_lane{};
  std::array<std::uint32_t, kLanes> values{}, unwritten{};
  for (const Thread* t : lanes) {
    by_lane[lane_of(*t)] = t;
    values[lane_of(*t)] = t->moved<std::uint32_t>(i.r[kFirst]);
    unwritten[lane_of(*t)] = t->unwritten<std::uint32_t>(i.r[kFirst]);
  }
  for (Thread* t : lanes) {
    const std::uint32_t lane = lane_of(*t);
    const std::uint32_t by = t->get<std::uint32_t>(i.r[kFirst + 1]) & 0x1F;
    const auto control = t->get<std::uint32_t>(i.r[kFirst + 2]);
    const std::uint32_t clamp = control & 0x1F, segment = control >> 8 & 0x1F;
    const std::uint32_t least = lane & segment, most = least | (clamp & ~segment);
    std::int64_t from = lane;
    bool in_range = false;
    switch (kShuffle) {
      case Shuffle::Up:
        from -= by;
        in_range = from >= std::int64_t{most};
        break;
      case Shuffle::Down:
        from += by;
        in_range = from <= std::int64_t{most};
        break;
      case Shuffle::Butterfly:
        from = lane ^ by;
        in_range = from <= std::int64_t{most};
        break;
      case Shuffle::Index:
        from = least | (by & ~segment);
        in_range = from <= std::int64_t{most};
        break;
    }
    if (!in_range) from = lane;
    if (by_lane[static_cast<std::size_t>(from)] == nullptr) {
      throw Fault(
          fmt::format("shuffle: lane {} takes from lane {}, which does not take part", lane, from));
    }
    t->set(i.r[0], values[static_cast<std::size_t>(from)],
           unwritten[static_cast<std::size_t>(from)]);
    if constexpr (kPredicate) t->set<bool>(i.r[1], in_range);
  }
}

enum class Vote { All, Any, Uniform, Ballot };

template <Vote kVote>
void vote(const Instruction& i, const std::vector<Thread*>& lanes) {
  std::uint32_t ballot = 0, mask = 0;
  for (const Thread* t : lanes) {
    mask |= 1u << lane_of(*t);
    if (t->get<bool>(i.r[1])) ballot |= 1u << lane_of(*t);
  }
  for (Thread* t : lanes) {
    if constexpr (kVote == Vote::Ballot) {
      t->set(i.r[0], ballot);
    } else {
      t->set<bool>(i.r[0], kVote == Vote::All   ? ballot == mask
                           : kVote == Vote::Any ? ballot != 0
                                                : ballot == 0 || ballot == mask);
    }
  }
}

/// The lanes with the same value.
template <class T>
void match_any(const Instruction& i, const std::vector<Thread*>& lanes) {
  std::vector<std::uint32_t> results;
  for (const Thread* t : lanes) {
    std::uint32_t equal = 0;
    for (const Thread* other : lanes) {
      if (other->get<T>(i.r[1]) == t->get<T>(i.r[1])) equal |= 1u << lane_of(*other);
    }
    results.push_back(equal);
  }
  for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k]->set(i.r[0], results[k]);
}

/// The values of all lanes, combined, for each of them.
template <class T, auto kFunction>
void reduce(const Instruction& i, const std::vector<Thread*>& lanes) {
  T result = lanes.front()->get<T>(i.r[1]);
  for (std::size_t k = 1; k < lanes.size(); ++k) {
    result = static_cast<T>(kFunction(result, lanes[k]->get<T>(i.r[1])));
  }
  for (Thread* t : lanes) t->set(i.r[0], result);
}

template <Shuffle kShuffle>
void add_shuffle(OperationTable& table, const std::string& mode) {
  const std::string name = "shfl.sync." + mode + ".b32";
  table.add_together(name, wait_for_warp<4>, shuffle<kShuffle, false>);
  table.add_together(name + "|p", wait_for_warp<5>, shuffle<kShuffle, true>);
}

}  // namespace

void add_warp_operations(OperationTable& table) {
  table.add_together("bar.warp.sync", wait_for_warp<0>, synchronize);
  add_shuffle<Shuffle::Up>(table, "up");
  add_shuffle<Shuffle::Down>(table, "down");
  add_shuffle<Shuffle::Butterfly>(table, "bfly");
  add_shuffle<Shuffle::Index>(table, "idx");
  table.add_together("vote.sync.all.pred", wait_for_warp<2>, vote<Vote::All>);
  table.add_together("vote.sync.any.pred", wait_for_warp<2>, vote<Vote::Any>);
  table.add_together("vote.sync.uni.pred", wait_for_warp<2>, vote<Vote::Uniform>);
  table.add_together("vote.sync.ballot.b32", wait_for_warp<2>, vote<Vote::Ballot>);
  constexpr auto kSum = [](std::uint32_t a, std::uint32_t b) { return a + b; };
  table.add_together("redux.sync.add.s32", wait_for_warp<2>, reduce<std::uint32_t, kSum>);
  table.add_together("redux.sync.add.u32", wait_for_warp<2>, reduce<std::uint32_t, kSum>);
  table.add_together("match.any.sync.b32", wait_for_warp<2>, match_any<std::uint32_t>);
  table.add_together("match.any.sync.b64", wait_for_warp<2>, match_any<std::uint64_t>);
}

}  // namespace ptx_machine
