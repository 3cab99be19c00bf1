// The rules of kernels that concern the whole file: widths (6), names.
#include <unordered_map>

#include <fmt/format.h>

#include "vcode/kernel_verifier.hpp"
#include "vcode/numbers.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

void check_literals(const Kernel& kernel, Diagnostics& diagnostics) {
  for (const Binding& binding : kernel.bindings) {
    for (const Thunk* thunk : thunks_of(binding)) {
      for (const ThunkNode& node : thunk->nodes) {
        if (node.kind != ThunkNode::Kind::Constant || node.type != Type::Int ||
            fits_32_bits(node.int_value)) {
          continue;
        }
        diagnostics.add(
            {.severity = Severity::Error,
             .code = ErrorCode::KernelWidth,
             .message = fmt::format("the integer {} does not fit in 32 bits", node.int_value),
             .span = node.span,
             .function = shortened(kernel.name),
             .notes = {},
             .hint = "a file for 64-bit integers only says `WIDTH INT 64`"});
      }
    }
  }
}

}  // namespace

bool verify_kernels(const Program& program, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  const FcodeHeader header = program.fcode.value_or(FcodeHeader{});
  std::unordered_map<std::string_view, Span> names;
  for (const Kernel& kernel : program.kernels) {
    verify_kernel(kernel, diagnostics, true);
    if (header.int_width != 64) check_literals(kernel, diagnostics);
    const auto [first, added] = names.try_emplace(kernel.name, kernel.name_span);
    if (added) continue;
    diagnostics.add(
        {.severity = Severity::Error,
         .code = ErrorCode::RedefinedKernel,
         .message = fmt::format("the kernel `{}` is defined twice", shortened(kernel.name)),
         .span = kernel.name_span,
         .function = {},
         .notes = {{"the earlier definition", first->second}},
         .hint = {}});
  }
  return diagnostics.error_count() == errors_before;
}

}  // namespace vcode
