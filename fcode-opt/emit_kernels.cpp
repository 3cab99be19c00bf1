#include "fcode-opt/emit_kernels.hpp"

#include <optional>

#include <fmt/format.h>

#include "cvl-cuda/codegen/compile_kernel.hpp"
#include "cvl-cuda/codegen/kernel_code.hpp"

namespace fcode {
namespace {

namespace codegen = cvl::cuda::codegen;

cvl::Widths widths_of(const vcode::Program& program) {
  cvl::Widths widths;
  if (!program.fcode) return widths;
  if (const auto bits = program.fcode->int_width) {
    widths.int_bytes = static_cast<std::uint8_t>(*bits / 8);
  }
  if (const auto bits = program.fcode->float_width) {
    widths.float_bytes = static_cast<std::uint8_t>(*bits / 8);
  }
  return widths;
}

}  // namespace

std::string cuda_text(const vcode::Program& program) {
  return codegen::readable_source(program.kernels, widths_of(program));
}

EmittedKernels ship_kernels(const vcode::Program& program, int capability,
                            const std::string& folder) {
  EmittedKernels result;
  const codegen::KernelCache cache(folder);
  for (const vcode::Kernel& kernel : program.kernels) {
    const auto plan = codegen::plan_for_device(kernel);
    const codegen::Generated generated =
        plan ? codegen::generate(*plan) : codegen::Generated{std::nullopt, codegen::kNoPlan};
    if (!generated.code) {
      result.notes.push_back(fmt::format("kernel `{}` is run as the VCODE that it replaces: {}",
                                         kernel.name, generated.reason));
      continue;
    }
    std::string why;
    if (!codegen::ship_kernel(*generated.code, widths_of(program), capability, cache, why)) {
      result.error = fmt::format("no machine code for kernel `{}`: {}", kernel.name, why);
      return result;
    }
  }
  return result;
}

}  // namespace fcode
