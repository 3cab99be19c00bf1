// What is left of this library in builds without nvcc.

#include "cvl-cuda/make_backend.hpp"
#include "cvl/failure.hpp"

namespace cvl::cuda {

bool cuda_built() {
  return false;
}

std::string cuda_unavailable_reason() {
  return "this program was built without CUDA";
}

bool cuda_by_default() {
  return false;
}

std::unique_ptr<Backend> make_cuda_backend(const CudaOptions&) {
  throw Failure(vcode::ErrorCode::NoBackend, cuda_unavailable_reason());
}

}  // namespace cvl::cuda
