#include "vcode/kernel_reach.hpp"

#include <algorithm>

#include "vcode/kernel.hpp"

namespace vcode {
namespace {

/// What the elements of a vector say about the length of some space.
enum class Says : std::uint8_t {
  Nothing,
  Greatest,  // one of them may be a length
  Sum,       // they may be lengths of segments
};

/// Can the operation make an INT much larger than its INT operands?
bool has_no_bound(Op op) {
  switch (op) {
    case Op::ShiftLeft:
    case Op::Floor:
    case Op::Ceil:
    case Op::Trunc:
    case Op::Round:
      return true;
    default:
      return false;
  }
}

/// By how much constants in a thunk can make INTs larger than what it reads.
std::int64_t growth_in(const Thunk& thunk) {
  std::int64_t growth = 1;
  for (const ThunkNode& node : thunk.nodes) {
    if (node.type != Type::Int) continue;
    if (node.kind == ThunkNode::Kind::Constant) {
      growth = reach_product(growth, std::max<std::int64_t>(node.int_value, 1));
    }
    if (node.kind == ThunkNode::Kind::Apply && has_no_bound(node.op)) {
      return KernelReach::kUnbounded;
    }
  }
  return growth;
}

bool multiplies(const Thunk& thunk) {
  return std::any_of(thunk.nodes.begin(), thunk.nodes.end(), [](const ThunkNode& node) {
    return node.kind == ThunkNode::Kind::Apply && node.op == Op::Multiply;
  });
}

/// Which sizes are lengths of spaces; the longest that is a number goes to `longest`.
std::vector<bool> lengths_of_spaces(const Kernel& kernel, std::int64_t& longest) {
  std::vector<bool> spaces(kernel.sizes.size());
  const auto look_at = [&](Space space) {
    const SizeId size = length_of_space(kernel, space);
    const std::int64_t literal = kernel.sizes[size].literal.value_or(0);
    longest = std::max(longest, std::min(literal, KernelReach::kUnbounded));
    spaces[size] = true;
  };
  for (const Binding& binding : kernel.bindings) {
    if (binding.kind == Binding::Kind::Size || binding.kind == Binding::Kind::Once) continue;
    look_at(binding.space);
    if (binding.into) look_at(*binding.into);
  }
  return spaces;
}

}  // namespace

std::int64_t reach_product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > KernelReach::kUnbounded / b ? KernelReach::kUnbounded : a * b;
}

// From the last binding to the first: what a length is computed from is known before the binding
// that computes that.
KernelReach reach_of(const Kernel& kernel) {
  KernelReach reach;
  const std::vector<bool> spaces = lengths_of_spaces(kernel, reach.literal);
  std::vector<Says> arrays(kernel.arrays.size());
  for (std::size_t k = kernel.bindings.size(); k-- > 0;) {
    const Binding& binding = kernel.bindings[k];
    Says says = Says::Nothing;
    if (binding.kind == Binding::Kind::Size && spaces[binding.size]) says = Says::Greatest;
    if (binding.kind == Binding::Kind::Segments && spaces[kernel.segdes[binding.segdes[0]].total]) {
      says = Says::Sum;
    }
    for (const ArrayId array : binding.arrays) says = std::max(says, arrays[array]);
    if (says == Says::Nothing) continue;
    if (!binding.monoids.empty()) says = Says::Sum;
    reach.growth = reach_product(reach.growth, growth_in(binding.elements));
    reach.multiplies = reach.multiplies || multiplies(binding.elements);
    for (const ThunkNode& node : binding.elements.nodes) {
      if (node.kind != ThunkNode::Kind::Subscript || node.type != Type::Int) continue;
      arrays[node.id] = std::max(arrays[node.id], says);
    }
  }
  for (std::uint32_t k = 0; k < kernel.inputs.size(); ++k) {
    const KernelParameter input = kernel.inputs[k];
    if (input.segdes || arrays[input.id] == Says::Nothing) continue;
    reach.measured.push_back({k, arrays[input.id] == Says::Sum});
  }
  return reach;
}

}  // namespace vcode
