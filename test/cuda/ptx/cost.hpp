// What kernels cost: counted while they run, for scripts/kernel-costs.
//
// A real device issues the instructions of a thread in order, and stops it where one uses what a
// load has not brought yet. How many loads are on their way at such a place is what hides the
// latency of memory; how many 32-byte sectors the lanes of a warp touch for the bytes that they
// want is what the caches have to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "cuda/ptx/instruction.hpp"

namespace ptx_machine {

/// Of one kernel, all launches together.
struct Cost {
  std::uint64_t launches = 0, blocks = 0, threads = 0;
  std::uint64_t instructions = 0;                             // of all threads
  std::uint64_t barriers = 0;                                 // of all blocks
  std::uint64_t loads = 0, load_bytes = 0, load_sectors = 0;  // of global memory
  std::uint64_t stores = 0, store_bytes = 0, store_sectors = 0;
  std::uint64_t waits = 0;       // uses of what a load has not brought yet
  std::uint64_t most_loads = 0;  // of a thread at such a use

  Cost& operator+=(const Cost& other);
};

/// Counts for the blocks that run at the same time, each of which has one of these.
class BlockCost {
 public:
  void begin(std::size_t threads);
  /// Called for what runs, before it runs.
  void count(const Instruction& instruction, const Thread& thread);
  void count_barrier() { ++cost_.barriers; }
  /// The block has ended.
  Cost end();

 private:
  struct OfThread {
    std::vector<std::uint32_t> pending;                       // registers that loads will write
    std::uint64_t loads = 0;                                  // that will write them
    std::map<const Instruction*, std::uint32_t> occurrences;  // of accesses to global memory
  };
  /// The same access of the lanes of a warp: which warp, which instruction, how often before.
  using Request = std::tuple<std::uint32_t, const Instruction*, std::uint32_t>;

  void count_access(const Instruction& instruction, const Thread& thread, OfThread& of_thread);

  Cost cost_;
  std::vector<OfThread> threads_;
  std::map<Request, std::vector<std::uint64_t>> requests_;  // the sectors that they touch
};

}  // namespace ptx_machine
