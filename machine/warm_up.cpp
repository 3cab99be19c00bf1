#include "machine/warm_up.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "vcode/numbers.hpp"

namespace vinterp {
namespace {

using vcode::Binding;
using vcode::Kernel;
using vcode::SizeId;
using vcode::Thunk;
using vcode::ThunkNode;

/// What running the SPEC takes without regard to lengths, in elements.
constexpr std::int64_t kRunCost = 256;
/// So many times less is gained from elements that stay in the cache between instructions, for each
/// operation on one.
constexpr std::int64_t kInCache = 8;

/// The sizes of a kernel at one run, as far as they follow from lengths and single elements of the
/// operands without reading more than these.
class Sizes {
 public:
  Sizes(const Kernel& kernel, cvl::Backend& backend, const cvl::Value* operands)
      : kernel_(kernel), backend_(backend), operands_(operands), values_(kernel.sizes.size()) {
    for (SizeId size = 0; size < values_.size(); ++size) values_[size] = kernel.sizes[size].literal;
    for (std::size_t k = 0; k < kernel.inputs.size(); ++k) {
      const vcode::KernelParameter input = kernel.inputs[k];
      if (input.segdes) {
        values_[kernel.segdes[input.id].count] = operands[k].segdes().count;
        values_[kernel.segdes[input.id].total] = operands[k].segdes().total;
      } else {
        values_[kernel.arrays[input.id].length] = operands[k].vector().length;
      }
    }
    for (const Binding& binding : kernel.bindings) {
      if (binding.kind == Binding::Kind::Size) values_[binding.size] = result(binding.elements);
    }
  }

  std::optional<std::int64_t> of(SizeId size) const { return values_[size]; }

 private:
  std::optional<std::int64_t> result(const Thunk& thunk) {
    nodes_.clear();
    for (const ThunkNode& each : thunk.nodes) nodes_.push_back(node(each));
    return nodes_[thunk.results[0]];
  }

  std::optional<std::int64_t> node(const ThunkNode& node) const {
    if (node.type != vcode::Type::Int) return std::nullopt;
    switch (node.kind) {
      case ThunkNode::Kind::Constant:
        return node.int_value;
      case ThunkNode::Kind::Size:
        return values_[node.id];
      case ThunkNode::Kind::Subscript:
        return nodes_[node.args[0]] ? element(node.id, *nodes_[node.args[0]]) : std::nullopt;
      case ThunkNode::Kind::Apply:
        return arithmetic(node);
      default:
        return std::nullopt;
    }
  }

  std::optional<std::int64_t> arithmetic(const ThunkNode& node) const {
    using vcode::Op;
    if (node.op != Op::Add && node.op != Op::Subtract && node.op != Op::Multiply) {
      return std::nullopt;
    }
    const auto x = nodes_[node.args[0]], y = nodes_[node.args[1]];
    if (!x || !y || !vcode::fits_32_bits(*x) || !vcode::fits_32_bits(*y)) return std::nullopt;
    return node.op == Op::Add ? *x + *y : node.op == Op::Subtract ? *x - *y : *x * *y;
  }

  std::optional<std::int64_t> element(vcode::ArrayId array, std::int64_t at) const {
    for (std::size_t k = 0; k < kernel_.inputs.size(); ++k) {
      const vcode::KernelParameter input = kernel_.inputs[k];
      if (input.segdes || input.id != array) continue;
      const cvl::Vector& vector = operands_[k].vector();
      if (at < 0 || at >= vector.length) return std::nullopt;
      return cvl::read_int(backend_, vector, at);
    }
    return std::nullopt;
  }

  const Kernel& kernel_;
  cvl::Backend& backend_;
  const cvl::Value* operands_;
  std::vector<std::optional<std::int64_t>> values_, nodes_;
};

/// Does the SPEC need an operation for what a node stands for?
bool is_operation(const Thunk& thunk, const ThunkNode& node) {
  switch (node.kind) {
    case ThunkNode::Kind::Index:
    case ThunkNode::Kind::Size:
    case ThunkNode::Kind::Constant:
    case ThunkNode::Kind::State:
      return false;
    case ThunkNode::Kind::Subscript:
      return thunk.nodes[node.args[0]].kind != ThunkNode::Kind::Index;
    default:
      return true;
  }
}

/// Operations of the SPEC on an element of a binding.
std::int64_t operations_of(const Binding& binding) {
  std::int64_t operations = binding.kind == Binding::Kind::Map ? 0 : 1;
  for (const Thunk* thunk : vcode::thunks_of(binding)) {
    operations += std::count_if(thunk->nodes.begin(), thunk->nodes.end(),
                                [&](const ThunkNode& node) { return is_operation(*thunk, node); });
  }
  return operations;
}

}  // namespace

WarmUp::WarmUp(const Kernel& kernel) : kernel_(&kernel) {
  std::vector<std::optional<Binding::Kind>> maker(kernel.sizes.size());
  const auto look_at = [&](vcode::Space space) {
    const SizeId size = vcode::length_of_space(kernel, space);
    longest_ = std::max(longest_, kernel.sizes[size].literal.value_or(0));
    pays_ = pays_ || maker[size] == Binding::Kind::Segments;
    if (maker[size] == Binding::Kind::Size) computed_.push_back(size);
  };
  for (const Binding& binding : kernel.bindings) {
    operations_ += operations_of(binding);
    if (vcode::has_space(binding)) look_at(binding.space);
    if (binding.into) look_at(*binding.into);
    // How long states go on nobody can tell.
    pays_ = pays_ || binding.kind == Binding::Kind::Iterate;
    if (binding.kind == Binding::Kind::Size) maker[binding.size] = binding.kind;
    if (binding.kind == Binding::Kind::Segments) {
      maker[kernel.segdes[binding.segdes[0]].total] = binding.kind;
    }
  }
}

bool WarmUp::pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) {
  if (pays_) return true;
  const std::int64_t now = extent(backend, operands);
  pays_ = now > enough ||
          (work_ += std::max<std::int64_t>(operations_, 1) * (kRunCost + now)) > kInCache * enough;
  return pays_;
}

/// The greatest length that the run meets, or, if that cannot be told, a number beyond all.
std::int64_t WarmUp::extent(cvl::Backend& backend, const cvl::Value* operands) const {
  std::int64_t longest = std::max(longest_, cvl::longest_of(operands, kernel_->inputs.size()));
  if (computed_.empty()) return longest;
  const Sizes sizes(*kernel_, backend, operands);
  for (const SizeId size : computed_) {
    longest = std::max(longest, sizes.of(size).value_or(std::numeric_limits<std::int64_t>::max()));
  }
  return longest;
}

}  // namespace vinterp
