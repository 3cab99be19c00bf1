// The rules of kernels that concern the whole file: widths (W-8), features (W-9), names.
#include <unordered_map>

#include <fmt/format.h>

#include "vcode/kernel_verifier.hpp"
#include "vcode/numbers.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

void check_literals(const Kernel& kernel, Diagnostics& diagnostics) {
  for (const Binding& binding : kernel.bindings) {
    for (const Thunk* thunk :
         {&binding.elements, &binding.flags, &binding.index, &binding.defaults}) {
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

void check_features(const Kernel& kernel, FeatureSet declared, Diagnostics& diagnostics) {
  const FeatureSet missing = features_of(kernel) & ~declared;
  for (int i = 0; i < kFeatures; ++i) {
    const auto feature = static_cast<Feature>(i);
    if ((missing & feature_bit(feature)) == 0) continue;
    diagnostics.add(
        {.severity = Severity::Error,
         .code = ErrorCode::KernelFeature,
         .message = fmt::format("the kernel uses {}, which the file does not declare",
                                feature_name(feature)),
         .span = kernel.name_span,
         .function = shortened(kernel.name),
         .notes = {},
         .hint = fmt::format("write `NEEDS {}` behind `FCODE 2`", feature_name(feature))});
  }
}

}  // namespace

bool verify_kernel(const Kernel& kernel, const FcodeHeader& header, Diagnostics& diagnostics,
                   bool parsed) {
  const std::size_t errors_before = diagnostics.error_count();
  verify_kernel(kernel, diagnostics, parsed);
  if (header.int_width != 64) check_literals(kernel, diagnostics);
  check_features(kernel, header.needs, diagnostics);
  return diagnostics.error_count() == errors_before;
}

bool verify_kernels(const Program& program, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  const FcodeHeader header = program.fcode.value_or(FcodeHeader{});
  std::unordered_map<std::string_view, Span> names;
  for (const Kernel& kernel : program.kernels) {
    if (!kernel.unread) verify_kernel(kernel, header, diagnostics, true);
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
