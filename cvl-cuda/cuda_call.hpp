// Every call of the CUDA runtime goes through CUDA_CALL, which keeps the text of the call and its
// place for the message. For .cu files only.
#pragma once

#include <cuda_runtime_api.h>

#include "cvl-cuda/device.hpp"

namespace cvl::cuda::native {

/// Throws Failure (Internal, or OutOfMemory for memory errors) unless `error` is success.
void check_cuda(cudaError_t error, const char* call, const char* file, int line);

cudaStream_t stream_of(Device& device);
/// Such as 90 for 9.0.
int compute_capability_of(Device& device);

}  // namespace cvl::cuda::native

#define CUDA_CALL(call) ::cvl::cuda::native::check_cuda((call), #call, __FILE__, __LINE__)
