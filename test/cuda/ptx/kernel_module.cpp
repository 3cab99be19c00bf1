// Passes of fused kernels, which NVRTC compiles to PTX.
#include "cvl-cuda/kernel_module.hpp"

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "cuda/ptx/device.hpp"
#include "cuda/ptx/fault.hpp"
#include "cvl-cuda/codegen/nvrtc.hpp"
#include "cvl-cuda/shapes.hpp"

namespace cvl::cuda::ptx {
namespace {

using codegen::Nvrtc;

/// The device that kernels are compiled for: an H100 or H200.
constexpr int kArchitecture = 90;

class PtxModule final : public KernelModule {
 public:
  PtxModule(ptx_machine::Module& module, const codegen::KernelCode& code) {
    for (std::size_t k = 0; k < code.passes.size(); ++k) {
      passes_.push_back({&module.kernel("pass" + std::to_string(k)),
                         shape::pass_threads(code.passes[k].threads)});
    }
  }
  void launch(Device& device, std::size_t pass, std::int64_t blocks,
              const std::vector<std::byte>& parameters) override {
    if (blocks == 0) return;
    device.count_launches(1);
    enqueue_kernel(device, *passes_[pass].kernel, blocks, passes_[pass].threads, parameters);
  }

 private:
  struct Pass {
    ptx_machine::Kernel* kernel;
    int threads;
  };
  std::vector<Pass> passes_;
};

/// The module of a source, compiled once in a program.
ptx_machine::Module* module_of(const Nvrtc& compiler, const std::string& source, std::string& why) {
  using Modules = std::map<std::string, std::unique_ptr<ptx_machine::Module>>;
  static Modules& modules = *new Modules;  // never destroyed, as device_memory() is
  const auto found = modules.find(source);
  if (found != modules.end()) return found->second.get();
  std::string log;
  const auto text = compiler.compile(source, kArchitecture, log, Nvrtc::Output::Ptx);
  if (!text) {
    why = fmt::format("NVRTC {} rejects the generated text:\n{}", compiler.version(), log);
    return nullptr;
  }
  if (const char* folder = costs_folder()) {
    std::ofstream(fmt::format("{}/generated-{}.ptx", folder, modules.size())) << *text;
  }
  auto& module = modules[source];
  module = std::make_unique<ptx_machine::Module>(*text, device_memory());
  return module.get();
}

}  // namespace

std::unique_ptr<KernelModule> load_kernel_module(Device&, codegen::KernelCompiler&,
                                                 const codegen::GeneratedKernel& kernel,
                                                 const Widths& widths, std::string& why) {
  const Nvrtc* compiler = Nvrtc::find(why);
  if (compiler == nullptr) return nullptr;
  std::string source = codegen::device_source(kernel.code, widths);
  if (shape::kSmall) source = "#define CVL_CUDA_SMALL_SHAPES 1\n" + source;
  std::unique_ptr<KernelModule> result;
  or_abort([&] {
    if (auto* module = module_of(*compiler, source, why)) {
      result = std::make_unique<PtxModule>(*module, kernel.code);
    }
  });
  return result;
}

}  // namespace cvl::cuda::ptx
