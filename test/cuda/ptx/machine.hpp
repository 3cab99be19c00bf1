// Runs kernels: all threads of a few blocks at a time, one after the other.
//
// A thread runs until it waits at a barrier, ends, or meets another block's memory (atomics, and
// accesses with an order); then chance chooses the block and the thread that go on. So threads
// reach what lies between two barriers in any order, and blocks overtake each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "cuda/ptx/kernel.hpp"

namespace ptx_machine {

class Machine {
 public:
  explicit Machine(Memory& memory, std::uint64_t seed);
  ~Machine();

  /// Runs blocks 0 ... blocks - 1, which begin in the order given. Throws Fault.
  void run(Kernel& kernel, const std::vector<std::int64_t>& order, std::uint32_t threads,
           const std::vector<std::byte>& parameters);

  /// From now on the costs of kernels are counted, which takes much longer.
  void count_costs() { counts_costs_ = true; }

  /// Instructions that were run so far.
  std::uint64_t steps() const { return steps_; }

 private:
  struct RunningBlock;

  void start(RunningBlock& running, Kernel& kernel, std::int64_t index, std::int64_t blocks,
             std::uint32_t threads, const std::vector<std::byte>& parameters);
  void run_some(RunningBlock& running);
  void run_thread(RunningBlock& running, Thread& thread);
  template <bool kCounts>
  std::uint64_t run_until_it_waits(RunningBlock& running, Thread& thread, const Instruction*& at);
  void meet(RunningBlock& running, Thread& thread);
  void meet_at_barrier(RunningBlock& running);
  void meet_in_warp(RunningBlock& running, const Thread& thread);
  std::uint64_t below(std::uint64_t end) { return random_() % end; }

  Memory& memory_;
  std::mt19937_64 random_;
  bool counts_costs_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t last_step_ = 0;  // of the launch, or else it does not end
  std::vector<std::unique_ptr<RunningBlock>> idle_;
};

}  // namespace ptx_machine
