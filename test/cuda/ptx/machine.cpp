#include "cuda/ptx/machine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cuda/ptx/fault.hpp"

namespace ptx_machine {
namespace {

using State = Thread::State;

/// Blocks that run at the same time, at most.
constexpr std::uint64_t kResident = 4;
/// A launch that takes more instructions is taken for one that does not end.
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 34;

}  // namespace

void refuse_unwritten(std::uint64_t bits) {
  throw Fault(fmt::format("uses what nobody has written: bits {:#x} of a register", bits));
}

struct Machine::RunningBlock {
  Block block;
  Kernel* kernel = nullptr;
  std::vector<Thread> threads;
  std::vector<Register> registers;  // of all threads
  std::vector<Thread*> ready;
  std::uint32_t at_barrier = 0, done = 0;
  BlockCost cost;
};

Machine::Machine(Memory& memory, std::uint64_t seed) : memory_(memory), random_(seed) {}
Machine::~Machine() = default;

void Machine::run(Kernel& kernel, const std::vector<std::int64_t>& order, std::uint32_t threads,
                  const std::vector<std::byte>& parameters) {
  if (parameters.size() < kernel.parameter_bytes) {
    throw Fault(fmt::format("kernel {} is given {} bytes of parameters and has {}", kernel.name,
                            parameters.size(), kernel.parameter_bytes));
  }
  ++kernel.launches;
  if (counts_costs_) ++kernel.cost.launches;
  last_step_ = steps_ + kMostSteps;
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
    thread.set(kLaneid, k % SharedMemory::kWarp);
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
}

/// Lets a few threads of a block go on, in the order that chance has given them.
void Machine::run_some(RunningBlock& running) {
  for (std::uint64_t turns = 1 + below(2 * running.threads.size()); turns > 0; --turns) {
    if (running.ready.empty()) return;
    Thread& thread = *running.ready.back();
    run_thread(running, thread);
    if (thread.state == State::Ready) {
      // It pauses: somebody else's turn.
      std::swap(running.ready.back(), running.ready[below(running.ready.size())]);
    } else {
      running.ready.pop_back();
      meet(running, thread);
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
    const Kernel& kernel = *running.kernel;
    throw Fault(fmt::format("{}\n  in thread {} of block {} of {}\n  at line {}: {}", fault.what(),
                            thread.index, running.block.index, kernel.name, at->line,
                            kernel.text[static_cast<std::size_t>(at - kernel.code.data())]));
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
  } while (thread.state == State::Ready && !thread.pauses && steps < kMostSteps);
  return steps;
}

/// A thread waits or has ended: can those that wait go on?
void Machine::meet(RunningBlock& running, Thread& thread) {
  if (thread.state == State::AtBarrier) ++running.at_barrier;
  if (thread.state == State::Done) ++running.done;
  if (thread.state == State::AtWarp) meet_in_warp(running, thread);
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
