// Device-wide primitives that the vendor's library does best. sort_cub.cu implements them with CUB,
// in a closed list of instantiations; sort_plain.cpp with loops, for the emulated device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cuda/device.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Two copies of keys and of values: the sort reads one and writes either.
struct SortBuffers {
  void* keys[2];
  void* values[2];
};

struct SortCall {
  std::int64_t length;
  std::size_t key_bytes;    // 4 or 8: unsigned numbers
  std::size_t value_bytes;  // 4 or 8
  int key_bits;             // only the lowest are looked at; the others are equal
  SortBuffers buffers;
};

/// Bytes of scratch memory that the sort needs.
std::size_t sort_scratch_bytes(Device& device, const SortCall& call);

/// Stable ascending sort of buffers.keys[0] with buffers.values[0]. Returns which copy holds the
/// result.
int sort_pairs(Device& device, const SortCall& call, void* scratch, std::size_t scratch_bytes);

}  // namespace cvl::cuda::CVL_CUDA_TARGET
