// Selection and radix sort of CUB.
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "bench/gpu-report/baselines.hpp"

namespace gpu_report {
namespace {

/// Flags are operand 1.
template <class T>
Run select(const BaselineCall& call) {
  return with_scratch([=, n = call.length, stream = call.stream, in = operand<T>(call, 0),
                       flags = operand<std::uint8_t>(call, 1), out = device_array<T>(call.length),
                       kept = device_array<std::int64_t>(1)](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::Flagged(scratch, bytes, in.get(), flags.get(), out.get(), kept.get(),
                                      n, stream);
  });
}

struct Large {
  __device__ bool operator()(double x) const { return x > 50; }
};
Run filter(const BaselineCall& call) {
  return with_scratch([=, n = call.length, stream = call.stream, in = operand<double>(call, 0),
                       out = device_array<double>(call.length),
                       kept = device_array<std::int64_t>(1)](void* scratch, std::size_t& bytes) {
    return cub::DeviceSelect::If(scratch, bytes, in.get(), out.get(), kept.get(), n, Large(),
                                 stream);
  });
}

template <class Key>
Run sort(const BaselineCall& call) {
  const std::int64_t n = call.length;
  return with_scratch([=, stream = call.stream, keys = operand<Key>(call, 0),
                       sorted_keys = device_array<Key>(n), values = device_array<int>(n),
                       sorted_values = device_array<int>(n)](void* scratch, std::size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys.get(), sorted_keys.get(),
                                           values.get(), sorted_values.get(), n, 0,
                                           static_cast<int>(8 * sizeof(Key)), stream);
  });
}

}  // namespace

Run order_baseline(const BaselineCall& call) {
  switch (call.which) {
    case Baseline::Select:
      return select<int>(call);
    case Baseline::SelectFloat:
      return select<double>(call);
    case Baseline::FusedFilter:
      return filter(call);
    case Baseline::Sort:
      return sort<int>(call);
    case Baseline::SortFloat:
      return sort<double>(call);
    default:
      return {};
  }
}

}  // namespace gpu_report
