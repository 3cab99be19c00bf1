#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <cub/device/device_transform.cuh>
#include <cuda/std/tuple>

#include "bench/gpu-report/baselines.hpp"
#include "cvl-cuda/cuda_call.hpp"

namespace gpu_report {
namespace {

/// Device memory that goes when the last copy of the function that uses it goes.
template <class T>
std::shared_ptr<T> device_array(std::int64_t length) {
  void* data = nullptr;
  CUDA_CALL(cudaMalloc(&data, static_cast<std::size_t>(length) * sizeof(T) + 1));
  CUDA_CALL(cudaMemset(data, 0, static_cast<std::size_t>(length) * sizeof(T)));
  return {static_cast<T*>(data), [](T* p) { cudaFree(p); }};
}

/// Asks `call` for its scratch memory, and returns a function that runs it.
template <class Call>
std::function<void()> with_scratch(Call call) {
  std::size_t bytes = 0;
  CUDA_CALL(call(nullptr, bytes));
  auto scratch = device_array<char>(static_cast<std::int64_t>(bytes));
  return [=]() mutable { CUDA_CALL(call(scratch.get(), bytes)); };
}

struct Plus {
  __device__ int operator()(int a, int b) const { return a + b; }
};

}  // namespace

std::function<void()> make_baseline(Baseline which, std::int64_t n,
                                    const std::vector<std::int64_t>& offsets, cudaStream_t stream) {
  if (which == Baseline::None) return {};
  const auto in = device_array<int>(n);
  const auto out = device_array<int>(n);
  switch (which) {
    case Baseline::Copy:
      return [=] {
        CUDA_CALL(cudaMemcpyAsync(out.get(), in.get(), static_cast<std::size_t>(n) * sizeof(int),
                                  cudaMemcpyDeviceToDevice, stream));
      };
    case Baseline::Reduce:
      return with_scratch([=](void* scratch, std::size_t& bytes) {
        return cub::DeviceReduce::Sum(scratch, bytes, in.get(), out.get(), n, stream);
      });
    case Baseline::Scan:
      return with_scratch([=](void* scratch, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(scratch, bytes, in.get(), out.get(), n, stream);
      });
    case Baseline::Select: {
      const auto flags = device_array<std::uint8_t>(n);
      const auto kept = device_array<std::int64_t>(1);
      CUDA_CALL(cudaMemset(flags.get(), 1, static_cast<std::size_t>(n / 2)));
      return with_scratch([=](void* scratch, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(scratch, bytes, in.get(), flags.get(), out.get(),
                                          kept.get(), n, stream);
      });
    }
    case Baseline::Sort: {
      const auto values = device_array<int>(n);
      const auto sorted = device_array<int>(n);
      return with_scratch([=](void* scratch, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, in.get(), out.get(), values.get(),
                                               sorted.get(), n, 0, 32, stream);
      });
    }
    case Baseline::Transform: {
      const auto other = device_array<int>(n);
      return [=] {
        CUDA_CALL(cub::DeviceTransform::Transform(cuda::std::make_tuple(in.get(), other.get()),
                                                  out.get(), n, Plus(), stream));
      };
    }
    default: {
      const auto count = static_cast<std::int64_t>(offsets.size()) - 1;
      const auto starts = device_array<std::int64_t>(count + 1);
      const auto sums = device_array<int>(count);
      CUDA_CALL(cudaMemcpy(starts.get(), offsets.data(), offsets.size() * sizeof(std::int64_t),
                           cudaMemcpyHostToDevice));
      return with_scratch([=](void* scratch, std::size_t& bytes) {
        return cub::DeviceSegmentedReduce::Sum(scratch, bytes, in.get(), sums.get(), count,
                                               starts.get(), starts.get() + 1, stream);
      });
    }
  }
}

}  // namespace gpu_report
