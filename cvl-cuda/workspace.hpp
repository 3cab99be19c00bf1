// Scratch memory of kernels whose blocks talk to each other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/target.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Kept between calls.
struct Workspace {
  /// One word per tile or slot: whose call it belongs to, and what was published so far.
  Array<std::uint32_t> status;
  std::byte* values = nullptr;        // states of tiles, see CudaBackend::workspace()
  std::uint32_t* counters = nullptr;  // two words, zero between launches
  std::uint32_t epoch = 0;            // differs from call to call; status words of others are stale
};
/// Bytes of Workspace::values per tile of plain operations: two states of at most 24 bytes.
inline constexpr std::int64_t kWorkspaceValueBytes = 48;
/// Words of Workspace::counters.
inline constexpr std::int64_t kWorkspaceCounters = 2;
/// Epochs before status words must be cleared.
inline constexpr std::uint32_t kMaxEpoch = (std::uint32_t{1} << 30) - 1;

}  // namespace cvl::cuda::CVL_CUDA_TARGET
