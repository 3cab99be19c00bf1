#include "vinterp/kernel_table.hpp"

#include <utility>

namespace vinterp {

std::vector<LoadedKernel> load_kernels(const vcode::LinkedProgram& program) {
  std::vector<LoadedKernel> kernels;
  kernels.reserve(program.kernels.size());
  for (const vcode::LinkedKernel& kernel : program.kernels) {
    LoadedKernel loaded;
    loaded.definition = &kernel.definition;
    loaded.spec = kernel.spec;
    loaded.results = static_cast<std::uint32_t>(kernel.definition.outputs.size());
    for (vcode::KernelParameter input : kernel.definition.inputs) {
      const auto type = static_cast<unsigned>(vcode::parameter_type(kernel.definition, input));
      loaded.accepted.push_back(static_cast<std::uint8_t>(1u << type));
    }
    kernels.push_back(std::move(loaded));
  }
  return kernels;
}

}  // namespace vinterp
