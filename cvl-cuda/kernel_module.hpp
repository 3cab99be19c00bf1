// The compiled passes of a fused kernel.
//
// There are two implementations: cuda_kernel_module.cpp compiles the generated text at run time;
// emulated_kernel_module.cpp finds, for the tests, what the host compiler has made of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cvl-cuda/codegen/kernel_compiler.hpp"
#include "cvl-cuda/device.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

class KernelModule {
 public:
  virtual ~KernelModule() = default;

  /// Gives a pass to the device. `parameters` is the image of its struct: a PassControl, then the
  /// members of its PassCode.
  virtual void launch(Device& device, std::size_t pass, std::int64_t blocks,
                      const std::vector<std::byte>& parameters) = 0;
};

/// Nothing, and the reason in `why`, when the text cannot be compiled here.
std::unique_ptr<KernelModule> load_kernel_module(Device& device, codegen::KernelCompiler& compiler,
                                                 const codegen::GeneratedKernel& kernel,
                                                 const Widths& widths, std::string& why);

}  // namespace cvl::cuda::CVL_CUDA_TARGET
