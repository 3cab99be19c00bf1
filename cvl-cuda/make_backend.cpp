// The factories of both libraries: this file is compiled into each.

#include "cvl-cuda/make_backend.hpp"

#include "cvl-cuda/cuda_backend.hpp"

#if defined(CVL_CUDA_EMULATED) || defined(CVL_CUDA_PTX)
#include "cvl-cuda/emulated_device.hpp"
#endif

namespace cvl::cuda {

#if defined(CVL_CUDA_EMULATED) || defined(CVL_CUDA_PTX)

std::unique_ptr<Backend> make_emulated_backend(const CudaOptions& options,
                                               const EmulationOptions& emulation) {
  CVL_CUDA_TARGET::emulation_options() = emulation;
  return std::make_unique<CVL_CUDA_TARGET::CudaBackend>(options);
}

#else

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  return std::make_unique<native::CudaBackend>(options);
}

#endif

}  // namespace cvl::cuda
