// The vendor's primitives for comparison, on the operands of ours. The functions return nothing for
// baselines that are not theirs, and throw cvl::Failure when there is no memory.
#pragma once

#include <cuda_runtime_api.h>
#include <functional>
#include <memory>
#include <vector>

#include "bench/gpu-report/meter.hpp"
#include "cvl-cuda/cuda_call.hpp"

namespace gpu_report {

using Run = std::function<void()>;

struct BaselineCall {
  Baseline which;
  std::int64_t length;
  std::vector<const void*> arrays;  // of the operands that are vectors
  const std::vector<std::int64_t>& offsets;
  cudaStream_t stream;
};

Run transform_baseline(const BaselineCall& call);
Run fold_baseline(const BaselineCall& call);
Run order_baseline(const BaselineCall& call);

/// Device memory, all zero, that goes when the last copy of the function that uses it goes.
template <class T>
std::shared_ptr<T> device_array(std::int64_t length) {
  void* data = nullptr;
  CUDA_CALL(cudaMalloc(&data, static_cast<std::size_t>(length) * sizeof(T) + 1));
  CUDA_CALL(cudaMemset(data, 0, static_cast<std::size_t>(length) * sizeof(T)));
  return {static_cast<T*>(data), [](T* p) { cudaFree(p); }};
}

/// The elements of an operand, which the caller keeps; of one that is in no memory, zeros.
template <class T>
std::shared_ptr<const T> operand(const BaselineCall& call, std::size_t number) {
  const void* data = number < call.arrays.size() ? call.arrays[number] : nullptr;
  if (data == nullptr) return device_array<T>(call.length);
  return {static_cast<const T*>(data), [](const T*) {}};
}

/// Asks `call` for its scratch memory, and returns a function that runs it.
template <class Call>
Run with_scratch(Call call) {
  std::size_t bytes = 0;
  CUDA_CALL(call(nullptr, bytes));
  auto scratch = device_array<char>(static_cast<std::int64_t>(bytes));
  return [=]() mutable { CUDA_CALL(call(scratch.get(), bytes)); };
}

}  // namespace gpu_report
