// Runs kernels: all threads of a few blocks at a time, one after the other.
//
// A thread runs until it waits at a barrier, ends, or meets another block's memory (atomics, and
// accesses with an order); then chance chooses the block and the thread that go on. So threads
// reach what lies between two barriers in any order, and blocks overtake each other.
//
// With locked warps the threads of a warp run together, instruction by instruction, as on devices
// before compute capability 7.0: where they go different ways, those that go one way run until they
// come to where all meet again, then the others. Whoever waits for another thread of its warp there
// waits for ever, so that such waits are found, which newer devices only promise to get through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cuda/ptx/kernel.hpp"

namespace ptx_machine {

class Machine {
 public:
  enum class Warps { Free, Locked };
  /// A launch that takes more instructions is taken for one that does not end.
  static constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 34;

  Machine(Memory& memory, std::uint64_t seed, Warps warps = Warps::Free,
          std::uint64_t most_steps = kMostSteps);
  ~Machine();

  /// Runs blocks 0 ... blocks - 1, which begin in the order given. Throws Fault.
  void run(Kernel& kernel, const std::vector<std::int64_t>& order, std::uint32_t threads,
           const std::vector<std::byte>& parameters);

  /// From now on the costs of kernels are counted, which takes much longer.
  void count_costs() { counts_costs_ = true; }

  /// Instructions that were run so far.
  std::uint64_t steps() const { return steps_; }

 private:
  struct Path;
  struct RunningBlock;

  void start(RunningBlock& running, Kernel& kernel, std::int64_t index, std::int64_t blocks,
             std::uint32_t threads, const std::vector<std::byte>& parameters);
  void run_some(RunningBlock& running);
  void run_locked(RunningBlock& running);
  bool run_warp(RunningBlock& running, std::uint32_t warp);
  void run_next(RunningBlock& running, const std::vector<Thread*>& lanes);
  void diverge(RunningBlock& running, std::uint32_t warp, const Instruction& at,
               const std::vector<Thread*>& lanes);
  [[noreturn]] static void fail(const RunningBlock& running, const Thread& thread,
                                const Instruction& at, const std::string& what);
  void run_thread(RunningBlock& running, Thread& thread);
  template <bool kCounts>
  std::uint64_t run_until_it_waits(RunningBlock& running, Thread& thread, const Instruction*& at);
  void meet(RunningBlock& running, const std::vector<Thread*>& threads);
  void meet_at_barrier(RunningBlock& running);
  void meet_in_warp(RunningBlock& running, const Thread& thread);
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  Memory& memory_;
  std::mt19937_64 random_;
  Warps warps_;
  std::uint64_t most_steps_;
  bool counts_costs_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t last_step_ = 0;  // of the launch, or else it does not end
  std::vector<std::unique_ptr<RunningBlock>> idle_;
};

}  // namespace ptx_machine
