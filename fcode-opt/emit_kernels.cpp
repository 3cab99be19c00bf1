#include "fcode-opt/emit_kernels.hpp"

#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "cvl-cuda/codegen/kernel_compiler.hpp"

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
  std::vector<codegen::KernelCode> codes;
  std::vector<std::string> names;
  for (const vcode::Kernel& kernel : program.kernels) {
    const auto plan = codegen::plan_for_device(kernel);
    codegen::Generated generated =
        plan ? codegen::generate(*plan) : codegen::Generated{std::nullopt, codegen::kNoPlan};
    if (!generated.code) {
      result.notes.push_back(fmt::format("kernel `{}` is run as the VCODE that it replaces: {}",
                                         kernel.name, generated.reason));
      continue;
    }
    codes.push_back(std::move(*generated.code));
    names.push_back(kernel.name);
  }
  std::string why;
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  if (const auto failed = codegen::ship_kernels(codes, widths_of(program), capability, threads,
                                                codegen::KernelCache(folder), why)) {
    result.error = fmt::format("no machine code for kernel `{}`: {}", names[*failed], why);
  }
  return result;
}

}  // namespace fcode
