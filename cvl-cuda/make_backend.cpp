// The factories of both libraries: this file is compiled into each.

#include "cvl-cuda/make_backend.hpp"

#include "cvl-cuda/cuda_backend.hpp"

#if defined(CVL_CUDA_EMULATED)
#include "cvl-cuda/emulated_device.hpp"
#endif

namespace cvl::cuda {

#if defined(CVL_CUDA_EMULATED)

std::unique_ptr<Backend> make_emulated_backend(const CudaOptions& options,
                                               const EmulationOptions& emulation) {
  emulated::emulation_options() = emulation;
  return std::make_unique<emulated::CudaBackend>(options);
}

#else

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<native::CudaBackend>(options);
}

#endif

}  // namespace cvl::cuda
