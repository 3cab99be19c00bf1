// Makes a vinterp whose CUDA library runs on the emulated device, so that whole programs can be
// tested with it. --backend=auto takes it, as on a machine with a GPU.
//
// NESL_EMULATED_HOST_ELEMENTS sets CudaOptions::host_elements; 0 sends everything to the device.
#include <cstdlib>

#include "cvl-cuda/make_emulated_backend.hpp"

namespace cvl::cuda {

bool cuda_built() {
  return true;
}

std::string cuda_unavailable_reason() {
  return {};
}

bool cuda_by_default() {
  return true;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions& options) {
  CudaOptions emulated = options;
  if (const char* text = std::getenv("NESL_EMULATED_HOST_ELEMENTS")) {
    emulated.host_elements = std::atoll(text);
  }
  return make_emulated_backend(emulated);
}

}  // namespace cvl::cuda
