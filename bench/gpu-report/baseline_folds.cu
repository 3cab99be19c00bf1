// Scans and reductions of CUB.
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

#include "bench/gpu-report/baselines.hpp"

namespace gpu_report {
namespace {

struct Identity {
  template <class T>
  __device__ T operator()(T x) const {
    return x;
  }
};
struct Square {
  __device__ double operator()(double x) const { return x * x; }
};

template <class T, class Function>
Run reduce(const BaselineCall& call, Function function) {
  return with_scratch([=, n = call.length, stream = call.stream, in = operand<T>(call, 0),
                       out = device_array<T>(1)](void* scratch, std::size_t& bytes) {
    return cub::DeviceReduce::Sum(
        scratch, bytes, thrust::make_transform_iterator(in.get(), function), out.get(), n, stream);
  });
}

template <class T, class Function>
Run scan(const BaselineCall& call, Function function) {
  return with_scratch([=, n = call.length, stream = call.stream, in = operand<T>(call, 0),
                       out = device_array<T>(call.length)](void* scratch, std::size_t& bytes) {
    return cub::DeviceScan::ExclusiveSum(
        scratch, bytes, thrust::make_transform_iterator(in.get(), function), out.get(), n, stream);
  });
}

template <class T, class Function>
Run segmented_reduce(const BaselineCall& call, Function function) {
  const auto count = static_cast<std::int64_t>(call.offsets.size()) - 1;
  const auto starts = device_array<std::int64_t>(count + 1);
  CUDA_CALL(cudaMemcpy(starts.get(), call.offsets.data(),
                       call.offsets.size() * sizeof(std::int64_t), cudaMemcpyHostToDevice));
  return with_scratch([=, stream = call.stream, in = operand<T>(call, 0),
                       sums = device_array<T>(count)](void* scratch, std::size_t& bytes) {
    return cub::DeviceSegmentedReduce::Sum(
        scratch, bytes, thrust::make_transform_iterator(in.get(), function), sums.get(), count,
        starts.get(), starts.get() + 1, stream);
  });
}

}  // namespace

Run fold_baseline(const BaselineCall& call) {
  switch (call.which) {
    case Baseline::Reduce:
      return reduce<int>(call, Identity());
    case Baseline::ReduceFloat:
      return reduce<double>(call, Identity());
    case Baseline::FusedReduce:
      return reduce<double>(call, Square());
    case Baseline::Scan:
      return scan<int>(call, Identity());
    case Baseline::ScanFloat:
      return scan<double>(call, Identity());
    case Baseline::FusedScan:
      return scan<double>(call, Square());
    case Baseline::SegmentedReduce:
      return segmented_reduce<int>(call, Identity());
    case Baseline::FusedSegmentedReduce:
      return segmented_reduce<double>(call, Square());
    default:
      return {};
  }
}

}  // namespace gpu_report
