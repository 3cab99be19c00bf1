// Scans and reductions of CUB.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>

#include "bench/gpu-report/baselines.hpp"

namespace gpu_report {
namespace {

template <class T>
Work reduce(std::int64_t n, cudaStream_t stream) {
  return with_scratch(
      [=, in = device_array<T>(n), out = device_array<T>(1)](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, in.get(), out.get(), n, stream);
      });
}

template <class T>
Work scan(std::int64_t n, cudaStream_t stream) {
  return with_scratch(
      [=, in = device_array<T>(n), out = device_array<T>(n)](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, in.get(), out.get(), n, stream);
      });
}

Work segmented_reduce(std::int64_t n, const std::vector<std::int64_t>& offsets,
                      cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto in = device_array<int>(n), sums = device_array<int>(count);
  const auto starts = device_array<std::int64_t>(count + 1);
  CUDA_CALL(cudaMemcpy(starts.get(), offsets.data(), offsets.size() * sizeof(std::int64_t),
                       cudaMemcpyHostToDevice));
  return with_scratch([=](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in.get(), sums.get(), count,
                                           starts.get(), starts.get() + 1, stream);
  });
}

}  // namespace

Work fold_baseline(Baseline which, std::int64_t n, const std::vector<std::int64_t>& offsets,
                   cudaStream_t stream) {
  switch (which) {
    case Baseline::Reduce:
      return reduce<int>(n, stream);
    case Baseline::ReduceFloat:
      return reduce<double>(n, stream);
    case Baseline::Scan:
      return scan<int>(n, stream);
    case Baseline::ScanFloat:
      return scan<double>(n, stream);
    case Baseline::SegmentedReduce:
      return segmented_reduce(n, offsets, stream);
    default:
      return {};
  }
}

}  // namespace gpu_report
