// The kernels of a program, compiled several at a time: NVRTC takes about a second for each, on one
// core.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cvl-cuda/codegen/compile_kernel.hpp"
#include "cvl-cuda/codegen/kernel_code.hpp"

namespace cvl::cuda::codegen {

/// A kernel with the code that was generated from it.
struct GeneratedKernel {
  const vcode::Kernel& kernel;
  const KernelCode& code;
};

class KernelCompiler {
 public:
  KernelCompiler(const Widths& widths, int threads, KernelFolders folders);

  /// Kernels that may be taken from now on, in the order of their program; as Backend::expect.
  void expect(std::vector<const vcode::Kernel*> kernels);

  /// As compile_kernel(). Where there is something to compile, expected kernels that come after
  /// this one are compiled beside it, one for each thread: a program that wants a kernel on a
  /// device mostly wants the next ones, too.
  std::optional<CompiledKernel> take(const GeneratedKernel& generated, int capability,
                                     std::string& why);

  /// How many kernels have been compiled, rather than found, and how long that took.
  int compiled() const { return compiled_; }
  double seconds() const { return seconds_; }

 private:
  struct Outcome {
    std::optional<CompiledKernel> kernel;
    std::string why;
  };
  struct Expected {
    const vcode::Kernel* kernel;
    bool compiled = false;           // or found, or tried
    std::optional<Outcome> outcome;  // until it is taken
  };

  Outcome compile_with_next(const GeneratedKernel& generated, std::size_t next, int capability);
  Outcome compile(const KernelCode& code, int capability) const;

  Widths widths_;
  std::size_t threads_;
  KernelFolders folders_;
  std::vector<Expected> expected_;
  int compiled_ = 0;
  double seconds_ = 0;
};

/// Compiles kernels, on so many threads, into a folder that can be carried to machines without a
/// compiler. The number of the first one for which that does not work, and the reason in `why`.
std::optional<std::size_t> ship_kernels(const std::vector<KernelCode>& kernels,
                                        const Widths& widths, int capability, int threads,
                                        const KernelCache& folder, std::string& why);

}  // namespace cvl::cuda::codegen
