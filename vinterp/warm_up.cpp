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
/// The same as having no bound.
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int32_t>::max();

/// The product, or kUnbounded. REQUIRES: neither is negative.
std::int64_t times(std::int64_t a, std::int64_t b) {
  return b != 0 && a > kUnbounded / b ? kUnbounded : a * b;
}

/// By how much a thunk can make INTs larger than the sum of what it reads: lengths come from sums
/// and differences, and now and then from a multiple.
std::int64_t growth_in(const vcode::Thunk& thunk) {
  std::int64_t growth = 1;
  for (const ThunkNode& node : thunk.nodes) {
    if (node.type != vcode::Type::Int) continue;
    if (node.kind == ThunkNode::Kind::Constant) growth = std::max(growth, node.int_value);
    if (node.kind == ThunkNode::Kind::Apply &&
        (node.op == vcode::Op::Multiply || node.op == vcode::Op::ShiftLeft)) {
      return kUnbounded;
    }
  }
  return growth;
}

/// The sum of the positive elements of a vector, or more than `enough` if there are as many.
std::int64_t sum_of(cvl::Backend& backend, const cvl::Vector& vector, std::int64_t enough) {
  if (vector.length > enough) return vector.length;
  std::int64_t sum = 0;
  const auto add = [&](auto element) {
    std::vector<decltype(element)> elements(static_cast<std::size_t>(vector.length));
    backend.download(vector, 0, vector.length, elements.data());
    for (const std::int64_t each : elements) {
      if (each > 0) sum = std::min(sum + std::min(each, kUnbounded), kUnbounded);
    }
  };
  backend.widths().int_bytes == 8 ? add(std::int64_t{}) : add(std::int32_t{});
  return sum;
}

}  // namespace

WarmUp::WarmUp(const vcode::Kernel& kernel) : operands_(kernel.inputs.size()) {
  std::vector<bool> computed(kernel.sizes.size());
  bool has_computed_space = false;
  const auto look_at = [&](vcode::Space space) {
    const vcode::SizeId size = vcode::length_of_space(kernel, space);
    has_computed_space = has_computed_space || computed[size];
    const std::int64_t literal = std::min(kernel.sizes[size].literal.value_or(0), kUnbounded);
    longest_literal_ = std::max(longest_literal_, literal);
  };
  for (const Binding& binding : kernel.bindings) {
    if (binding.kind == Binding::Kind::Size) {
      computed[binding.size] = true;
      continue;
    }
    if (binding.kind != Binding::Kind::Once) look_at(binding.space);
    if (binding.into) look_at(*binding.into);
    if (binding.kind == Binding::Kind::Segments) {
      computed[kernel.segdes[binding.segdes[0]].total] = true;
    }
  }
  if (!has_computed_space) return;
  for (const Binding& binding : kernel.bindings) {
    growth_ = std::max(growth_, growth_in(binding.elements));
  }
}

bool WarmUp::pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) {
  if (elements_ <= enough) elements_ += kRunCost + extent(backend, operands, enough);
  return elements_ > enough;
}

/// The greatest length that the run meets, as far as its operands show.
std::int64_t WarmUp::extent(cvl::Backend& backend, const cvl::Value* operands,
                            std::int64_t enough) const {
  std::int64_t longest = longest_literal_;
  std::int64_t sum = 0;
  for (const cvl::Value* operand = operands; operand != operands + operands_; ++operand) {
    if (operand->type() == vcode::Type::Segdes) {
      longest = std::max({longest, operand->segdes().count, operand->segdes().total});
      continue;
    }
    longest = std::max(longest, operand->vector().length);
    if (growth_ != 0 && operand->type() == vcode::Type::Int) {
      sum = std::min(sum + sum_of(backend, operand->vector(), enough), kUnbounded);
    }
  }
  return growth_ == 0 ? longest : std::min(longest + times(longest + sum, growth_), kUnbounded);
}

}  // namespace vinterp
