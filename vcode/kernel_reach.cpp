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

/// Numbers that are no greater than a power of the base, which is the longest operand and what the
/// measured ones say: each of them, and the sum of all over the space.
struct Powers {
  std::int64_t each = 0;
  std::int64_t sum = 0;
};

// Of whatever is 2 or more, that is beyond all bounds.
constexpr std::int64_t kGreatestPower = 64;

std::int64_t limited(std::int64_t power) {
  return std::min(power, kGreatestPower);
}

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

bool has_products(const std::vector<Monoid>& monoids) {
  return std::any_of(monoids.begin(), monoids.end(),
                     [](const Monoid& monoid) { return monoid.op == Op::MultiplyReduce; });
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

/// Works out, from the first binding to the last, how large sizes and elements can become.
class Growth {
 public:
  explicit Growth(const Kernel& kernel)
      : kernel_(kernel), sizes_(kernel.sizes.size(), 1), arrays_(kernel.arrays.size(), {1, 1}) {
    for (const Binding& each : kernel.bindings) binding(each);
  }

  std::int64_t of_size(SizeId size) const { return sizes_[size]; }

 private:
  void binding(const Binding& binding) {
    using Kind = Binding::Kind;
    const bool once = binding.kind == Kind::Size || binding.kind == Kind::Once;
    space_ = once ? 0 : sizes_[length_of_space(kernel_, binding.space)];
    nodes_.clear();
    for (const ThunkNode& each : binding.elements.nodes) {
      const Powers powers = node(binding.elements, each);
      nodes_.push_back({limited(powers.each), limited(powers.sum)});
    }
    switch (binding.kind) {
      case Kind::Size:
        sizes_[binding.size] = result(binding, 0).each;
        break;
      case Kind::Segments:
        sizes_[kernel_.segdes[binding.segdes[0]].total] = result(binding, 0).sum;
        break;
      case Kind::Map:
      case Kind::Random:
      case Kind::Once:
        for (std::size_t k = 0; k < binding.arrays.size(); ++k)
          made(binding, k) = result(binding, k);
        break;
      case Kind::Reduce:
      case Kind::Scan:
        for (std::size_t k = 0; k < binding.arrays.size(); ++k) {
          const std::int64_t sum = result(binding, k).sum;
          made(binding, k) = {sum, binding.kind == Kind::Scan ? limited(sum + space_) : sum};
        }
        break;
      default:  // what others make is not read, and no longer than their spaces
        for (const ArrayId array : binding.arrays) {
          SizeId length = kernel_.arrays[array].length;
          sizes_[length] = std::max(sizes_[length], space_);
        }
        break;
    }
  }

  Powers& made(const Binding& binding, std::size_t k) { return arrays_[binding.arrays[k]]; }
  Powers result(const Binding& binding, std::size_t k) const {
    return nodes_[binding.elements.results[k]];
  }

  Powers anywhere(std::int64_t power) const { return {power, power + space_}; }

  // What is read at the index of the thunk is read once, what is read elsewhere any number of
  // times.
  Powers at(const Thunk& thunk, const ThunkNode& node, Powers all) const {
    const bool own = thunk.nodes[node.args[0]].kind == ThunkNode::Kind::Index;
    return own ? all : anywhere(all.each);
  }

  Powers node(const Thunk& thunk, const ThunkNode& node) const {
    using Kind = ThunkNode::Kind;
    if (node.type == Type::Bool) return anywhere(0);
    switch (node.kind) {
      case Kind::Constant:
        return anywhere(0);
      case Kind::Index:
        return anywhere(space_);
      case Kind::Size:
        return anywhere(sizes_[node.id]);
      case Kind::SegCount:
        return anywhere(sizes_[kernel_.segdes[node.id].count]);
      case Kind::Subscript:
        return at(thunk, node, arrays_[node.id]);
      case Kind::SegLen: {
        const std::int64_t total = sizes_[kernel_.segdes[node.id].total];
        return at(thunk, node, {total, total});
      }
      case Kind::SegNo:
      case Kind::SegOff:
      case Kind::SegStart:
        return anywhere(sizes_[kernel_.segdes[node.id].total]);
      default:
        return combined(node);
    }
  }

  Powers combined(const ThunkNode& node) const {
    if (node.op == Op::Multiply && node.kind == ThunkNode::Kind::Apply) {
      const Powers x = nodes_[node.args[0]], y = nodes_[node.args[1]];
      return {x.each + y.each, std::min(x.each + y.sum, x.sum + y.each)};
    }
    Powers most;
    for (int k = 0; k < argument_count(node); ++k) {
      most.each = std::max(most.each, nodes_[node.args[k]].each);
      most.sum = std::max(most.sum, nodes_[node.args[k]].sum);
    }
    return most;
  }

  const Kernel& kernel_;
  std::vector<std::int64_t> sizes_;  // powers
  std::vector<Powers> arrays_;       // of INT
  std::int64_t space_ = 0;           // of the binding at hand; 0: it has none
  std::vector<Powers> nodes_;        // of its thunk
};

}  // namespace

std::int64_t reach_product(std::int64_t a, std::int64_t b) {
  return b != 0 && a > KernelReach::kUnbounded / b ? KernelReach::kUnbounded : a * b;
}

std::int64_t reach_over(std::int64_t base, const KernelReach& reach) {
  std::int64_t length = reach.growth;
  const std::int64_t power = base == 1 ? 0 : limited(reach.power);
  for (std::int64_t k = 0; k < power; ++k) length = reach_product(length, base);
  return length;
}

// From the last binding to the first: what a length is computed from is known before the binding
// that computes that.
KernelReach reach_of(const Kernel& kernel) {
  KernelReach reach;
  std::vector<bool> lengths = lengths_of_spaces(kernel, reach.literal);
  const Growth growth(kernel);
  for (SizeId size = 0; size < lengths.size(); ++size) {
    if (lengths[size]) reach.power = std::max(reach.power, growth.of_size(size));
  }
  std::vector<Says> arrays(kernel.arrays.size());
  for (std::size_t k = kernel.bindings.size(); k-- > 0;) {
    const Binding& binding = kernel.bindings[k];
    Says says = Says::Nothing;
    if (binding.kind == Binding::Kind::Size && lengths[binding.size]) says = Says::Greatest;
    if (binding.kind == Binding::Kind::Segments &&
        lengths[kernel.segdes[binding.segdes[0]].total]) {
      says = Says::Sum;
    }
    for (const ArrayId array : binding.arrays) says = std::max(says, arrays[array]);
    if (says == Says::Nothing) continue;
    if (!binding.monoids.empty()) says = Says::Sum;
    reach.growth = reach_product(reach.growth, growth_in(binding.elements));
    if (has_products(binding.monoids)) reach.growth = KernelReach::kUnbounded;
    for (const ThunkNode& node : binding.elements.nodes) {
      if (node.kind == ThunkNode::Kind::Size) lengths[node.id] = true;
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
