// From the text of a kernel to machine code, through the folders where machine code is kept.
#pragma once

#include <optional>
#include <string>

#include "cvl-cuda/codegen/kernel_cache.hpp"
#include "cvl-cuda/codegen/kernel_code.hpp"

namespace cvl::cuda::codegen {

struct KernelFolders {
  KernelCache shipped;  // read only: what ship_kernel() has made
  KernelCache own;      // read, and written by compile_kernel()

  /// $NESL_KERNELS, and the cache of the user.
  static KernelFolders of_user();
};

struct CompiledKernel {
  std::string cubin;
  bool found = false;  // in one of the folders, without a compiler
};

/// Machine code in one of the folders for devices of compute capability `capability` (such as 90),
/// if there is any.
std::optional<CompiledKernel> find_kernel(const KernelCode& code, const Widths& widths,
                                          int capability, const KernelFolders& folders);

/// The same, compiled if there is none: machine code for devices of that compute capability.
/// Nothing, and the reason in `why`, when there is no compiler for it, or with the compiler's log
/// when it rejects the text.
std::optional<CompiledKernel> compile_kernel(const KernelCode& code, const Widths& widths,
                                             int capability, const KernelFolders& folders,
                                             std::string& why);

/// Compiles into a folder that can be carried to machines without a compiler. False, and the reason
/// in `why`, when that does not work.
bool ship_kernel(const KernelCode& code, const Widths& widths, int capability,
                 const KernelCache& folder, std::string& why);

}  // namespace cvl::cuda::codegen
