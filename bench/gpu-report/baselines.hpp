// The vendor's primitives for comparison, on fresh arrays. The functions return nothing for
// baselines that are not theirs, and throw cvl::Failure when there is no memory.
#pragma once

#include <cuda_runtime_api.h>

#include "bench/gpu-report/meter.hpp"
#include "cvl-cuda/cuda_call.hpp"

namespace gpu_report {

using Work = std::function<void()>;

Work transform_baseline(Baseline which, std::int64_t length, cudaStream_t stream);
Work fold_baseline(Baseline which, std::int64_t length, const std::vector<std::int64_t>& offsets,
                   cudaStream_t stream);
Work order_baseline(Baseline which, std::int64_t length, cudaStream_t stream);

/// Device memory, all zero, that goes when the last copy of the function that uses it goes.
template <class T>
std::shared_ptr<T> device_array(std::int64_t length) {
  void* data = nullptr;
  CUDA_CALL(cudaMalloc(&data, static_cast<std::size_t>(length) * sizeof(T) + 1));
  CUDA_CALL(cudaMemset(data, 0, static_cast<std::size_t>(length) * sizeof(T)));
  return {static_cast<T*>(data), [](T* p) { cudaFree(p); }};
}

/// Asks `call` for its scratch memory, and returns a function that runs it.
template <class Call>
Work with_scratch(Call call) {
  std::size_t bytes = 0;
  CUDA_CALL(call(nullptr, bytes));
  auto scratch = device_array<char>(static_cast<std::int64_t>(bytes));
  return [=]() mutable { CUDA_CALL(call(scratch.get(), bytes)); };
}

}  // namespace gpu_report
