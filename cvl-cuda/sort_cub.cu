// Stable radix sort by CUB: one-sweep, eight bits a pass (Adinets, Merrill: Onesweep, 2022).
#include <cub/device/device_radix_sort.cuh>

#include "cvl-cuda/cuda_call.hpp"
#include "cvl-cuda/primitives.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {
namespace {

/// Kernels of one call, as CUB 3.0 launches them: a histogram and its scan, then a pass for each
/// eight bits. (Short inputs take one launch; the counters then overstate.)
std::uint64_t launches(int key_bits) {
  return 2 + static_cast<std::uint64_t>((key_bits + 7) / 8);
}

template <class Key, class Value>
int sort_typed(Device& device, const SortCall& call, void* scratch, std::size_t& scratch_bytes) {
  const auto& buffers = call.buffers;
  cub::DoubleBuffer<Key> keys(static_cast<Key*>(buffers.keys[0]),
                              static_cast<Key*>(buffers.keys[1]));
  cub::DoubleBuffer<Value> values(static_cast<Value*>(buffers.values[0]),
                                  static_cast<Value*>(buffers.values[1]));
  CUDA_CALL(cub::DeviceRadixSort::SortPairs(scratch, scratch_bytes, keys, values, call.length, 0,
                                            call.key_bits, stream_of(device)));
  return keys.selector;
}

int sort_any(Device& device, const SortCall& call, void* scratch, std::size_t& scratch_bytes) {
  if (call.key_bytes == 4) {
    return call.value_bytes == 4
               ? sort_typed<std::uint32_t, std::uint32_t>(device, call, scratch, scratch_bytes)
               : sort_typed<std::uint32_t, std::uint64_t>(device, call, scratch, scratch_bytes);
  }
  return call.value_bytes == 4
             ? sort_typed<std::uint64_t, std::uint32_t>(device, call, scratch, scratch_bytes)
             : sort_typed<std::uint64_t, std::uint64_t>(device, call, scratch, scratch_bytes);
}

}  // namespace

std::size_t sort_scratch_bytes(Device& device, const SortCall& call) {
  std::size_t bytes = 0;
  sort_any(device, call, nullptr, bytes);
  return bytes;
}

int sort_pairs(Device& device, const SortCall& call, void* scratch, std::size_t scratch_bytes) {
  device.count_launches(launches(call.key_bits));
  return sort_any(device, call, scratch, scratch_bytes);
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
