// Scratch memory of kernels whose blocks talk to each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/target.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Kept between calls.
struct Workspace {
  /// What tiles publish (block_scan.hpp), and nothing else ever.
  Array<std::uint64_t> words;
  std::byte* values = nullptr;        // states that are read when all have been written
  std::uint32_t* counters = nullptr;  // two words, zero between launches
  std::uint32_t epoch = 0;            // differs from call to call; words of others are stale
};
/// Bytes of Workspace::values for each block of plain reductions: two states of at most 24 bytes.
inline constexpr std::int64_t kWorkspaceValueBytes = 48;
/// Words of Workspace::words that a state of so many bytes takes: each has four of them.
constexpr std::int64_t words_of_state(std::int64_t bytes) {
  return (bytes + 3) / 4;
}
/// Those of the states of plain scans and packs: a value of eight bytes, and flags.
inline constexpr std::int64_t kPlainStateWords = words_of_state(8 + 4);
/// Words of Workspace::counters.
inline constexpr std::int64_t kWorkspaceCounters = 2;
/// Epochs before the words must be cleared.
inline constexpr std::uint32_t kMaxEpoch = (std::uint32_t{1} << 30) - 1;

}  // namespace cvl::cuda::CVL_CUDA_TARGET
