#include "vinterp/kernel_table.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/core.h>

namespace vinterp {
namespace {

using vcode::ErrorCode;

void check_width(std::string_view type, std::string_view option, std::optional<int> demanded,
                 int bytes, vcode::Diagnostics& diagnostics) {
  if (!demanded || *demanded == 8 * bytes) return;
  vcode::Diagnostic diagnostic;
  diagnostic.code = ErrorCode::KernelWidth;
  diagnostic.message = fmt::format("the program is for {} of {} bits, this run has {}", type,
                                   *demanded, 8 * bytes);
  diagnostic.hint = fmt::format("run it with {}={}", option, *demanded);
  diagnostics.add(std::move(diagnostic));
}

/// Does the order in which it combines show in the result?
bool depends_on_order(const vcode::Monoid& monoid) {
  return monoid.type == vcode::Type::Float &&
         (monoid.op == vcode::Op::AddReduce || monoid.op == vcode::Op::MultiplyReduce);
}

}  // namespace

void check_demands(const vcode::LinkedProgram& program, const cvl::Widths& widths,
                   vcode::Diagnostics& diagnostics) {
  if (!program.fcode) return;
  check_width("INT", "--int", program.fcode->int_width, widths.int_bytes, diagnostics);
  check_width("FLOAT", "--float", program.fcode->float_width, widths.float_bytes, diagnostics);
  if (!program.fcode->strict_fp) return;
  for (const vcode::LinkedKernel& kernel : program.kernels) {
    for (const vcode::Binding& binding : kernel.definition.bindings) {
      if (std::none_of(binding.monoids.begin(), binding.monoids.end(), depends_on_order)) continue;
      vcode::Diagnostic diagnostic;
      diagnostic.code = ErrorCode::NoSpec;
      diagnostic.message =
          "`FP STRICT` demands sums and products from left to right, which no vector library forms";
      diagnostic.span = binding.span;
      diagnostic.function = kernel.definition.name;
      diagnostic.hint = "write `FP REASSOC`";
      diagnostics.add(std::move(diagnostic));
    }
  }
}

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
