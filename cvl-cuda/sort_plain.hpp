// The sort of primitives.hpp with plain loops, for the devices of the tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cvl-cuda/primitives.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

template <class Key, class Value>
void sort_typed(const SortCall& call) {
  const auto* keys = static_cast<const Key*>(call.buffers.keys[0]);
  const auto* values = static_cast<const Value*>(call.buffers.values[0]);
  const Key mask =
      call.key_bits == 8 * sizeof(Key) ? static_cast<Key>(-1) : (Key{1} << call.key_bits) - 1;
  std::vector<std::int64_t> order(static_cast<std::size_t>(call.length));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return (keys[a] & mask) < (keys[b] & mask);
  });
  for (std::int64_t k = 0; k < call.length; ++k) {
    const std::int64_t from = order[static_cast<std::size_t>(k)];
    static_cast<Key*>(call.buffers.keys[1])[k] = keys[from];
    static_cast<Value*>(call.buffers.values[1])[k] = values[from];
  }
}

/// Leaves the result in the second copy.
inline void sort_plain(const SortCall& call) {
  if (call.key_bytes == 4) {
    call.value_bytes == 4 ? sort_typed<std::uint32_t, std::uint32_t>(call)
                          : sort_typed<std::uint32_t, std::uint64_t>(call);
  } else {
    call.value_bytes == 4 ? sort_typed<std::uint64_t, std::uint32_t>(call)
                          : sort_typed<std::uint64_t, std::uint64_t>(call);
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
