// Which device the tests of this folder run on: the emulated one, or the real one in
// cuda-device-test.
#pragma once

#include <memory>

#include "cvl-cuda/make_emulated_backend.hpp"

inline std::unique_ptr<cvl::Backend> make_under_test(const cvl::cuda::CudaOptions& options = {}) {
#if defined(CUDA_TEST_DEVICE)
  return cvl::cuda::make_cuda_backend(options);
#else
  return cvl::cuda::make_emulated_backend(options, {cvl::cuda::BlockOrder::Descending, 3});
#endif
}
