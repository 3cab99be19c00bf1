// Selection and radix sort of CUB.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "bench/gpu-report/baselines.hpp"

namespace gpu_report {
namespace {

/// Every second element is kept.
template <class T>
Work select(std::int64_t n, cudaStream_t stream) {
  const auto flags = device_array<std::uint8_t>(n);
  CUDA_CALL(cudaMemset2D(flags.get(), 2, 1, 1, static_cast<std::size_t>(n / 2)));
  return with_scratch([=, in = device_array<T>(n), out = device_array<T>(n),
                       kept = device_array<std::int64_t>(1)](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, in.get(), flags.get(), out.get(), kept.get(),
                                      n, stream);
  });
}

template <class Key>
__global__ void fill_with_random_bits(Key* keys, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  std::uint64_t x = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 31) * 0xD6E8FEB86659FD93u;
  keys[i] = static_cast<Key>(x >> 33);
}

template <class Key>
Work sort(std::int64_t n, cudaStream_t stream) {
  const auto keys = device_array<Key>(n);
  fill_with_random_bits<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(keys.get(), n);
  CUDA_CALL(cudaGetLastError());
  return with_scratch([=, sorted_keys = device_array<Key>(n), values = device_array<int>(n),
                       sorted_values = device_array<int>(n)](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.get(), sorted_keys.get(),
                                           values.get(), sorted_values.get(), n, 0,
                                           static_cast<int>(8 * sizeof(Key)), stream);
  });
}

}  // namespace

Work order_baseline(Baseline which, std::int64_t n, cudaStream_t stream) {
  switch (which) {
    case Baseline::Select:
      return select<int>(n, stream);
    case Baseline::SelectFloat:
      return select<double>(n, stream);
    case Baseline::Sort:
      return sort<int>(n, stream);
    case Baseline::SortFloat:
      return sort<double>(n, stream);
    default:
      return {};
  }
}

}  // namespace gpu_report
