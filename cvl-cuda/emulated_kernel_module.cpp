#include "cvl-cuda/emulated_kernel_module.hpp"

#include <map>
#include <utility>

#include "cvl-cuda/kernel_module.hpp"

namespace cvl::cuda::emulated {
namespace {

std::map<std::string, std::vector<LaunchPass>>& known_kernels() {
  static std::map<std::string, std::vector<LaunchPass>> kernels;
  return kernels;
}

class EmulatedModule final : public KernelModule {
 public:
  explicit EmulatedModule(const std::vector<LaunchPass>& passes) : passes_(passes) {}
  void launch(Device& device, std::size_t pass, std::int64_t blocks,
              const std::vector<std::byte>& parameters) override {
    passes_[pass](device, blocks, parameters);
  }

 private:
  const std::vector<LaunchPass>& passes_;
};

}  // namespace

EmulatedKernel::EmulatedKernel(const std::string& text, std::vector<LaunchPass> passes) {
  known_kernels()[text] = std::move(passes);
}

std::unique_ptr<KernelModule> load_kernel_module(Device&, codegen::KernelCompiler&,
                                                 const codegen::GeneratedKernel& kernel,
                                                 const Widths& widths, std::string& why) {
  const auto found = known_kernels().find(codegen::width_aliases(widths) + kernel.code.text());
  if (found == known_kernels().end()) {
    why = "the emulated device runs only kernels that were compiled with it";
    return nullptr;
  }
  return std::make_unique<EmulatedModule>(found->second);
}

}  // namespace cvl::cuda::emulated
