// The rule for REUSE (W-6).
#include <algorithm>

#include <fmt/format.h>

#include "vcode/kernel_checks.hpp"
#include "vcode/token_reader.hpp"

namespace vcode {
namespace {

using Kind = Binding::Kind;

// Does the thunk read the vector at all or, if that is allowed, elsewhere than at its index?
bool reads_elsewhere(const Thunk& thunk, ArrayId array, bool allowed) {
  return std::any_of(thunk.nodes.begin(), thunk.nodes.end(), [&](const ThunkNode& node) {
    if (node.kind != ThunkNode::Kind::Subscript || node.id != array) return false;
    return !allowed || thunk.nodes[node.args[0]].kind != ThunkNode::Kind::Index;
  });
}

}  // namespace

// W-6: until the result has been written the operand is read only where it is being written, and
// afterwards not at all.
void KernelChecks::reuse(const Reuse& mark) {
  const KernelArray& operand = kernel_.arrays[mark.operand];
  const KernelArray& result = kernel_.arrays[mark.result];
  const auto refuse = [&](const std::string& why) {
    fail(ErrorCode::KernelReuse, kernel_.name_span,
         fmt::format("`REUSE {} -> {}`: {}", shortened(operand.name), shortened(result.name), why));
  };
  const auto is_result = [&](KernelParameter parameter) {
    return !parameter.segdes && parameter.id == mark.result;
  };
  if (arrays_[mark.operand].kind != KernelSource::Kind::Input) {
    refuse("the first is no operand");
    return;
  }
  if (std::none_of(kernel_.outputs.begin(), kernel_.outputs.end(), is_result)) {
    refuse("the second is no result");
    return;
  }
  if (operand.type != result.type || !same_size(kernel_, operand.length, result.length)) {
    refuse("type or size differ");
    return;
  }
  const auto marks = std::count_if(kernel_.reuse.begin(), kernel_.reuse.end(), [&](Reuse other) {
    return other.operand == mark.operand || other.result == mark.result;
  });
  if (marks > 1) {
    refuse("one of them is in two REUSE lines");
    return;
  }
  bool written = false;
  for (const Binding& binding : kernel_.bindings) {
    const bool has_space = binding.kind != Kind::Size && binding.kind != Kind::Once;
    const bool writes = std::find(binding.arrays.begin(), binding.arrays.end(), mark.result) !=
                        binding.arrays.end();
    const bool scatters = writes && binding.kind == Kind::Scatter;
    const bool aligned =
        !written && !scatters && has_space &&
        same_size(kernel_, length_of_space(kernel_, binding.space), operand.length);
    if (reads_elsewhere(binding.elements, mark.operand, aligned) ||
        reads_elsewhere(binding.flags, mark.operand, aligned) ||
        reads_elsewhere(binding.index, mark.operand, aligned) ||
        reads_elsewhere(binding.defaults, mark.operand, scatters)) {
      refuse(written ? "the operand is read after the result has been bound"
                     : "the operand is read elsewhere than at the index that is being written");
      return;
    }
    written = written || writes;
  }
}

}  // namespace vcode
