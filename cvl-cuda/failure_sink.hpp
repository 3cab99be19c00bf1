// Where kernels report failures.
//
// The first failure in program order counts, and of one operation the one at the lowest position:
// a 64-bit key of the operation's number (since the host last waited) and the position, of which
// the least is kept. The details travel through host-mapped memory, written under a lock by whoever
// lowered the key; the host reads them when it waits anyway. Kernels that do not fail touch none of
// this.
#pragma once

#include <cstdint>

#include "cvl-cuda/block.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

inline constexpr std::uint64_t kNoFailure = ~std::uint64_t{0};
inline constexpr int kPositionBits = 40;
/// Operations between two waits that a key can tell apart.
inline constexpr std::uint64_t kMaxSequence = (std::uint64_t{1} << (64 - kPositionBits)) - 2;

/// What the host reads.
struct FailureRecord {
  std::uint64_t key;   // kNoFailure, or sequence << kPositionBits | position
  std::int64_t value;  // the element at fault: an index, a bound, a length
  std::int64_t segment;
  std::int64_t segment_length;
};

/// What kernels of one device agree on, in device memory.
struct FailureGate {
  std::uint64_t key;
  std::uint32_t lock;
  std::uint32_t unused;
};

struct FailureSink {
  FailureGate* gate = nullptr;
  FailureRecord* record = nullptr;  // host-mapped
  std::uint64_t sequence = 0;

  KERNEL_FN void report(std::int64_t position, std::int64_t value, std::int64_t segment = 0,
                        std::int64_t segment_length = 0) const {
    const std::uint64_t key = sequence << kPositionBits | static_cast<std::uint64_t>(position);
    // Most of many failures end here, without an atomic operation.
    if (load_relaxed(&gate->key) <= key || atomic_min(&gate->key, key) <= key) return;
    exclusively(&gate->lock, [&] {
      if (load_relaxed(&gate->key) != key) return;
      record->value = value;
      record->segment = segment;
      record->segment_length = segment_length;
      record->key = key;
    });
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
