#include "cuda/ptx/machine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cuda/ptx/divergence.hpp"
#include "cuda/ptx/fault.hpp"

namespace ptx_machine {
namespace {

using State = Thread::State;

/// Blocks that run at the same time, at most.
constexpr std::uint64_t kResident = 4;

}  // namespace

void refuse_unwritten(std::uint64_t bits) {
  throw Fault(fmt::format("uses what nobody has written: bits {:#x} of a register", bits));
}

/// Threads of a warp that go one way, until they come to where they meet the others.
struct Machine::Path {
  std::vector<Thread*> lanes;
  const Instruction* rejoin = nullptr;  // of all threads of the warp: nowhere
};

struct Machine::RunningBlock {
  Block block;
  Kernel* kernel = nullptr;
  std::vector<Thread> threads;
  std::vector<Register> registers;  // of all threads
  std::vector<Thread*> ready;
  std::uint32_t at_barrier = 0, done = 0;
  BlockCost cost;
  std::vector<std::vector<Path>> paths;  // of each warp, if they are locked: the last one runs
};

Machine::Machine(Memory& memory, std::uint64_t seed, Warps warps, std::uint64_t most_steps)
    : memory_(memory), random_(seed), warps_(warps), most_steps_(most_steps) {}
Machine::~Machine() = default;

void Machine::run(Kernel& kernel, const std::vector<std::int64_t>& order, std::uint32_t threads,
                  const std::vector<std::byte>& parameters) {
  if (parameters.size() < kernel.parameter_bytes) {
    throw Fault(fmt::format("kernel {} is given {} bytes of parameters and has {}", kernel.name,
                            parameters.size(), kernel.parameter_bytes));
  }
  ++kernel.launches;
  if (counts_costs_) ++kernel.cost.launches;
  last_step_ = steps_ + most_steps_;
  const auto blocks = static_cast<std::int64_t>(order.size());
  const std::size_t resident = 1 + below(kResident);
  std::vector<std::unique_ptr<RunningBlock>> running;
  std::size_t next = 0;
  while (next < order.size() || !running.empty()) {
    while (running.size() < resident && next < order.size()) {
      if (idle_.empty()) idle_.push_back(std::make_unique<RunningBlock>());
      running.push_back(std::move(idle_.back()));
      idle_.pop_back();
      start(*running.back(), kernel, order[next++], blocks, threads, parameters);
    }
    auto& chosen = running[below(running.size())];
    run_some(*chosen);
    if (chosen->done < threads) continue;
    if (counts_costs_) kernel.cost += chosen->cost.end();
    std::swap(chosen, running.back());
    idle_.push_back(std::move(running.back()));
    running.pop_back();
  }
}

void Machine::start(RunningBlock& running, Kernel& kernel, std::int64_t index, std::int64_t blocks,
                    std::uint32_t threads, const std::vector<std::byte>& parameters) {
  const bool as_before = running.kernel == &kernel && running.threads.size() == threads;
  running.kernel = &kernel;
  running.at_barrier = running.done = 0;
  Block& block = running.block;
  block.index = index;
  block.code = kernel.code.data();
  block.parameters = &parameters;
  block.memory = &memory_;
  block.shared.reset(kernel.shared_bytes);
  running.threads.resize(threads);
  running.registers.resize(std::size_t{threads} * kernel.registers);
  running.ready.clear();
  if (counts_costs_) running.cost.begin(threads);
  for (std::uint32_t k = 0; k < threads; ++k) {
    Thread& thread = running.threads[k];
    thread.registers = running.registers.data() + std::size_t{k} * kernel.registers;
    // What no instruction has set is undefined, and not what another block has left there.
    std::fill_n(thread.registers, kernel.first_constant, kUndefined);
    if (!as_before) {
      std::transform(kernel.constants.begin(), kernel.constants.end(),
                     thread.registers + kernel.first_constant, [](std::uint64_t value) {
                       return Register{value, 0};
                     });
    }
    thread.set(kTid, k);
    thread.set(kCtaid, static_cast<std::uint32_t>(index));
    thread.set(kNtid, threads);
    thread.set(kNctaid, static_cast<std::uint32_t>(blocks));
    thread.set(kCtaidY, std::uint32_t{0});
    thread.set(kNctaidY, std::uint32_t{1});
    const std::uint32_t lane = k % SharedMemory::kWarp;
    thread.set(kLaneid, lane);
    thread.set(kLanemaskLe, (std::uint32_t{2} << lane) - 1);
    thread.set(kLanemaskGe, ~std::uint32_t{0} << lane);
    thread.next = kernel.code.data();
    thread.state = State::Ready;
    thread.index = k;
    thread.warp_phase = 0;
    thread.calls.clear();
    thread.local.reset(kernel.local_bytes);
    thread.block = &block;
    running.ready.push_back(&thread);
  }
  std::shuffle(running.ready.begin(), running.ready.end(), random_);
  running.paths.clear();
  if (warps_ == Warps::Free) return;
  if (kernel.rejoin_points.empty()) kernel.rejoin_points = rejoin_points(kernel);
  for (std::uint32_t k = 0; k < threads; ++k) {
    if (k % SharedMemory::kWarp == 0) running.paths.push_back({Path()});
    running.paths.back()[0].lanes.push_back(&running.threads[k]);
  }
}

/// Lets a few threads of a block go on, in the order that chance has given them.
void Machine::run_some(RunningBlock& running) {
  if (warps_ == Warps::Locked) return run_locked(running);
  for (std::uint64_t turns = 1 + below(2 * running.threads.size()); turns > 0; --turns) {
    if (running.ready.empty()) return;
    Thread& thread = *running.ready.back();
    run_thread(running, thread);
    if (thread.state == State::Ready) {
      // It pauses: somebody else's turn.
      std::swap(running.ready.back(), running.ready[below(running.ready.size())]);
    } else {
      running.ready.pop_back();
      meet(running, {&thread});
    }
  }
}

void Machine::run_thread(RunningBlock& running, Thread& thread) {
  thread.pauses = false;
  const Instruction* at = nullptr;
  try {
    steps_ += counts_costs_ ? run_until_it_waits<true>(running, thread, at)
                            : run_until_it_waits<false>(running, thread, at);
    if (steps_ > last_step_) throw Fault("the launch does not end");
  } catch (const Fault& fault) {
    fail(running, thread, *at, fault.what());
  }
}

/// Returns the number of instructions; `at` is the one that runs.
template <bool kCounts>
std::uint64_t Machine::run_until_it_waits(RunningBlock& running, Thread& thread,
                                          const Instruction*& at) {
  std::uint64_t steps = 0;
  do {
    at = thread.next++;
    ++steps;
    if constexpr (kCounts) running.cost.count(*at, thread);
    if (at->guarded && thread.get<bool>(at->guard) != at->guard_value) continue;
    at->run(*at, thread);
  } while (thread.state == State::Ready && !thread.pauses && steps < most_steps_);
  return steps;
}

void Machine::fail(const RunningBlock& running, const Thread& thread, const Instruction& at,
                   const std::string& what) {
  const Kernel& kernel = *running.kernel;
  throw Fault(fmt::format("{}\n  in thread {} of block {} of {}\n  at line {}: {}", what,
                          thread.index, running.block.index, kernel.name, at.line,
                          kernel.text[static_cast<std::size_t>(&at - kernel.code.data())]));
}

// ---- locked warps ----

/// Lets a warp of the block go on.
void Machine::run_locked(RunningBlock& running) {
  const std::size_t warps = running.paths.size(), first = below(warps);
  for (std::size_t k = 0; k < warps; ++k) {
    if (run_warp(running, static_cast<std::uint32_t>((first + k) % warps))) return;
  }
  const Thread& thread = *running.ready.front();
  fail(running, thread, *thread.next, "threads of a warp wait for each other");
}

/// Until it pauses or waits. False when it cannot run.
bool Machine::run_warp(RunningBlock& running, std::uint32_t warp) {
  std::vector<Path>& paths = running.paths[warp];
  std::vector<Thread*> lanes;
  for (bool moved = false;;) {
    lanes.clear();
    for (Thread* lane : paths.back().lanes) {
      if (lane->state != State::Done && lane->next != paths.back().rejoin) lanes.push_back(lane);
    }
    if (lanes.empty()) {
      if (paths.size() == 1) return moved;
      paths.pop_back();
      continue;
    }
    if (lanes[0]->state != State::Ready) return moved;
    const Instruction& at = *lanes[0]->next;
    run_next(running, lanes);
    moved = true;
    diverge(running, warp, at, lanes);
    bool waits = false;
    std::vector<Thread*> stopped;
    for (Thread* lane : lanes) {
      waits = waits || lane->pauses;
      if (lane->state == State::Ready) continue;
      waits = waits || lane->state != State::Done;
      running.ready.erase(std::find(running.ready.begin(), running.ready.end(), lane));
      stopped.push_back(lane);
    }
    if (!stopped.empty()) meet(running, stopped);
    if (waits) return true;
  }
}

/// The next instruction of all these threads, which is the same. Any of them may be the first one.
void Machine::run_next(RunningBlock& running, const std::vector<Thread*>& lanes) {
  const Instruction& at = *lanes[0]->next;
  const std::size_t first = below(lanes.size());
  for (std::size_t k = 0; k < lanes.size(); ++k) {
    Thread* const lane = lanes[(first + k) % lanes.size()];
    if (lane->next != &at) fail(running, *lane, at, "the warp is not together");
    lane->pauses = false;
    ++lane->next;
    try {
      if (counts_costs_) running.cost.count(at, *lane);
      if (at.guarded && lane->get<bool>(at.guard) != at.guard_value) continue;
      at.run(at, *lane);
    } catch (const Fault& fault) {
      fail(running, *lane, at, fault.what());
    }
  }
  steps_ += lanes.size();
  if (steps_ > last_step_) fail(running, *lanes[0], at, "the launch does not end");
}

/// Makes paths of threads that went different ways at an instruction.
void Machine::diverge(RunningBlock& running, std::uint32_t warp, const Instruction& at,
                      const std::vector<Thread*>& lanes) {
  std::vector<Path> ways;
  for (Thread* lane : lanes) {
    if (lane->state == State::Done) continue;
    const auto same = std::find_if(ways.begin(), ways.end(), [&](const Path& way) {
      return way.lanes[0]->next == lane->next;
    });
    if (same == ways.end()) {
      ways.push_back({{lane}, nullptr});
    } else {
      same->lanes.push_back(lane);
    }
  }
  if (ways.size() < 2) return;
  const Kernel& kernel = *running.kernel;
  const std::uint32_t point =
      kernel.rejoin_points[static_cast<std::size_t>(&at - kernel.code.data())];
  // Those that return from a function early meet the others behind the call.
  const bool returns = point == kernel.code.size() &&
                       ways[0].lanes[0]->calls.size() != ways[1].lanes[0]->calls.size();
  const std::size_t early = ways[0].lanes[0]->calls.size() < ways[1].lanes[0]->calls.size() ? 0 : 1;
  const Instruction* rejoin = returns ? ways[early].lanes[0]->next : kernel.code.data() + point;
  std::shuffle(ways.begin(), ways.end(), random_);
  for (Path& way : ways) {
    way.rejoin = rejoin;
    if (way.lanes[0]->next != rejoin) running.paths[warp].push_back(std::move(way));
  }
}

// ---- meeting ----

/// These threads, which are no longer among those that are ready, wait together or have ended: can
/// those that wait go on?
void Machine::meet(RunningBlock& running, const std::vector<Thread*>& threads) {
  for (const Thread* thread : threads) {
    if (thread->state == State::AtBarrier) ++running.at_barrier;
    if (thread->state == State::Done) ++running.done;
  }
  const auto at_warp = std::find_if(threads.begin(), threads.end(), [](const Thread* thread) {
    return thread->state == State::AtWarp;
  });
  if (at_warp != threads.end()) meet_in_warp(running, **at_warp);
  if (!running.ready.empty() || running.done == running.threads.size()) return;
  if (running.at_barrier == running.threads.size()) return meet_at_barrier(running);
  // Nobody can go on any more.
  std::string where;
  for (const State state : {State::AtBarrier, State::AtWarp, State::Done}) {
    const auto found = std::find_if(running.threads.begin(), running.threads.end(),
                                    [&](const Thread& each) { return each.state == state; });
    if (found == running.threads.end()) continue;
    where += fmt::format("\n  thread {} {} at line {}", found->index,
                         state == State::AtBarrier ? "waits for the block"
                         : state == State::AtWarp  ? "waits for its warp"
                                                   : "has ended",
                         found->next[-1].line);
  }
  throw Fault(fmt::format("divergent barrier in block {} of {}: not all threads come to it{}",
                          running.block.index, running.kernel->name, where));
}

void Machine::meet_at_barrier(RunningBlock& running) {
  const Instruction* at = running.threads[0].next;
  for (Thread& thread : running.threads) {
    if (thread.next != at) {
      throw Fault(fmt::format(
          "divergent barrier in block {} of {}: thread 0 waits at line {}, thread {} at line {}",
          running.block.index, running.kernel->name, at[-1].line, thread.index,
          thread.next[-1].line));
    }
    thread.state = State::Ready;
    thread.warp_phase = 0;
    running.ready.push_back(&thread);
  }
  running.at_barrier = 0;
  if (counts_costs_) running.cost.count_barrier();
  running.block.shared.barrier();
  std::shuffle(running.ready.begin(), running.ready.end(), random_);
}

void Machine::meet_in_warp(RunningBlock& running, const Thread& thread) {
  const std::uint32_t first = thread.index / SharedMemory::kWarp * SharedMemory::kWarp;
  std::vector<Thread*> lanes;
  for (std::uint32_t lane = 0; lane < SharedMemory::kWarp; ++lane) {
    if ((thread.warp_mask >> lane & 1) == 0) continue;
    if (first + lane >= running.threads.size()) return;
    Thread& other = running.threads[first + lane];
    if (other.state != State::AtWarp || other.next != thread.next ||
        other.warp_mask != thread.warp_mask) {
      return;
    }
    lanes.push_back(&other);
  }
  const Instruction& instruction = thread.next[-1];
  instruction.run_together(instruction, lanes);
  for (Thread* lane : lanes) {
    lane->state = State::Ready;
    const std::size_t at = below(running.ready.size() + 1);
    running.ready.push_back(lane);
    std::swap(running.ready.back(), running.ready[at]);
  }
}

}  // namespace ptx_machine
