#include "vinterp/warm_up.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace vinterp {
namespace {

using vcode::Binding;
using vcode::ThunkNode;

/// What running the SPEC takes without regard to lengths, in elements.
constexpr std::int64_t kRunCost = 64;
/// So many times less is gained from elements that stay in the cache between instructions.
constexpr std::int64_t kInCache = 4;
/// The same as having no bound.
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int32_t>::max();

/// The product, or kUnbounded. REQUIRES: neither is negative.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
}

/// Can the operation make an INT much larger than its INT operands?
bool has_no_bound(vcode::Op op) {
  switch (op) {
    case vcode::Op::ShiftLeft:
    case vcode::Op::Floor:
    case vcode::Op::Ceil:
    case vcode::Op::Trunc:
    case vcode::Op::Round:
      return true;
    default:
      return false;
  }
}

/// By how much constants in a thunk can make INTs larger than what it reads.
std::int64_t growth_in(const vcode::Thunk& thunk) {
  std::int64_t growth = 1;
  for (const ThunkNode& node : thunk.nodes) {
    if (node.type != vcode::Type::Int) continue;
    if (node.kind == ThunkNode::Kind::Constant) {
      growth = times(growth, std::max<std::int64_t>(node.int_value, 1));
    }
    if (node.kind == ThunkNode::Kind::Apply && has_no_bound(node.op)) return kUnbounded;
  }
  return growth;
}

bool multiplies(const vcode::Thunk& thunk) {
  return std::any_of(thunk.nodes.begin(), thunk.nodes.end(), [](const ThunkNode& node) {
    return node.kind == ThunkNode::Kind::Apply && node.op == vcode::Op::Multiply;
  });
}

/// The greatest of some numbers and 0, or the sum of those that are not negative.
std::int64_t measure(cvl::Backend& backend, const cvl::Vector& vector, bool sum) {
  std::int64_t result = 0;
  const auto measure_as = [&](auto element) {
    std::vector<decltype(element)> elements(static_cast<std::size_t>(vector.length));
    backend.download(vector, 0, vector.length, elements.data());
    for (const std::int64_t each : elements) {
      const std::int64_t more = sum ? result + std::clamp<std::int64_t>(each, 0, kUnbounded) : each;
      result = std::max(result, std::min(more, kUnbounded));
    }
  };
  backend.widths().int_bytes == 8 ? measure_as(std::int64_t{}) : measure_as(std::int32_t{});
  return result;
}

}  // namespace

WarmUp::WarmUp(const vcode::Kernel& kernel) : operands_(kernel.inputs.size()) {
  std::vector<bool> spaces(kernel.sizes.size());
  const auto look_at = [&](vcode::Space space) {
    const vcode::SizeId size = vcode::length_of_space(kernel, space);
    const std::int64_t literal = std::min(kernel.sizes[size].literal.value_or(0), kUnbounded);
    longest_literal_ = std::max(longest_literal_, literal);
    spaces[size] = true;
  };
  for (const Binding& binding : kernel.bindings) {
    if (binding.kind == Binding::Kind::Size || binding.kind == Binding::Kind::Once) continue;
    look_at(binding.space);
    if (binding.into) look_at(*binding.into);
  }
  find_measured(kernel, spaces);
}

/// Finds the operands whose elements the lengths of spaces are computed from.
void WarmUp::find_measured(const vcode::Kernel& kernel, const std::vector<bool>& spaces) {
  std::vector<Says> arrays(kernel.arrays.size());
  for (std::size_t k = kernel.bindings.size(); k-- > 0;) {
    const Binding& binding = kernel.bindings[k];
    Says says = Says::Nothing;
    if (binding.kind == Binding::Kind::Size && spaces[binding.size]) says = Says::Greatest;
    if (binding.kind == Binding::Kind::Segments && spaces[kernel.segdes[binding.segdes[0]].total]) {
      says = Says::Sum;
    }
    for (const vcode::ArrayId array : binding.arrays) says = std::max(says, arrays[array]);
    if (says == Says::Nothing) continue;
    if (!binding.monoids.empty()) says = Says::Sum;
    growth_ = times(growth_, growth_in(binding.elements));
    multiplies_ = multiplies_ || multiplies(binding.elements);
    for (const ThunkNode& node : binding.elements.nodes) {
      if (node.kind != ThunkNode::Kind::Subscript || node.type != vcode::Type::Int) continue;
      arrays[node.id] = std::max(arrays[node.id], says);
    }
  }
  for (std::size_t k = 0; k < operands_; ++k) {
    const vcode::KernelParameter input = kernel.inputs[k];
    if (input.segdes || arrays[input.id] == Says::Nothing) continue;
    measured_.push_back({k, arrays[input.id]});
  }
}

bool WarmUp::pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) {
  if (pays_) return true;
  const std::int64_t now = extent(backend, operands, enough);
  elements_ += kRunCost + now;
  pays_ = now > enough || elements_ > kInCache * enough;
  return pays_;
}

/// The greatest length that the run meets, as far as its operands show; if that is more than
/// `enough`, any such number.
std::int64_t WarmUp::extent(cvl::Backend& backend, const cvl::Value* operands,
                            std::int64_t enough) const {
  std::int64_t longest = longest_literal_;
  for (const cvl::Value* operand = operands; operand != operands + operands_; ++operand) {
    const bool segdes = operand->type() == vcode::Type::Segdes;
    longest = std::max(longest, segdes ? std::max(operand->segdes().count, operand->segdes().total)
                                       : operand->vector().length);
  }
  if (longest > enough) return longest;
  std::int64_t lengths = longest;
  for (const Measured& each : measured_) {
    const cvl::Vector& vector = operands[each.operand].vector();
    const std::int64_t says = measure(backend, vector, each.says == Says::Sum);
    lengths = multiplies_ ? times(lengths, std::max<std::int64_t>(says, 1))
                          : std::min(lengths + says, kUnbounded);
  }
  return times(std::max<std::int64_t>(lengths, 1), growth_);
}

}  // namespace vinterp
