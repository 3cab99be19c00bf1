// Passes of kernels that NVRTC has compiled for the device.

#include <cuda_runtime.h>
#include <utility>

#include "cvl-cuda/cuda_call.hpp"
#include "cvl-cuda/kernel_module.hpp"

namespace cvl::cuda::native {
namespace {

class CudaModule final : public KernelModule {
 public:
  CudaModule(std::string cubin, const codegen::KernelCode& code) : cubin_(std::move(cubin)) {
    CUDA_CALL(
        cudaLibraryLoadData(&library_, cubin_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    for (std::size_t k = 0; k < code.passes.size(); ++k) {
      cudaKernel_t kernel = nullptr;
      const std::string name = "pass" + std::to_string(k);
      CUDA_CALL(cudaLibraryGetKernel(&kernel, library_, name.c_str()));
      passes_.push_back({kernel, code.passes[k].threads});
    }
  }
  ~CudaModule() override { cudaLibraryUnload(library_); }
  CudaModule(const CudaModule&) = delete;
  CudaModule& operator=(const CudaModule&) = delete;

  void launch(Device& device, std::size_t pass, std::int64_t blocks,
              const std::vector<std::byte>& parameters) override {
    if (blocks == 0) return;
    device.count_launches(1);
    // The runtime copies the parameters during the call.
    void* arguments[] = {const_cast<std::byte*>(parameters.data())};
    CUDA_CALL(cudaLaunchKernel(passes_[pass].kernel, dim3(static_cast<unsigned>(blocks)),
                               dim3(static_cast<unsigned>(passes_[pass].threads)), arguments, 0,
                               stream_of(device)));
  }

 private:
  struct Pass {
    cudaKernel_t kernel;
    int threads;
  };
  std::string cubin_;
  cudaLibrary_t library_ = nullptr;
  std::vector<Pass> passes_;
};

}  // namespace

std::unique_ptr<KernelModule> load_kernel_module(Device& device, codegen::KernelCompiler& compiler,
                                                 const codegen::GeneratedKernel& kernel,
                                                 const Widths&, std::string& why) {
  auto compiled = compiler.take(kernel, compute_capability_of(device), why);
  if (!compiled) return nullptr;
  return std::make_unique<CudaModule>(std::move(compiled->cubin), kernel.code);
}

}  // namespace cvl::cuda::native
