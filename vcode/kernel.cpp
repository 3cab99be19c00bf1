#include "vcode/kernel.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace vcode {
namespace {

// One-to-one correspondence of the ids of two kernels.
class Pairing {
 public:
  enum class Result { New, Known, Conflict };

  Result pair(std::uint32_t a, std::uint32_t b) {
    const auto [there, new_there] = there_.try_emplace(a, b);
    const auto [back, new_back] = back_.try_emplace(b, a);
    if (there->second != b || back->second != a) return Result::Conflict;
    return new_there ? Result::New : Result::Known;
  }

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> there_, back_;
};

class KernelComparer {
 public:
  KernelComparer(const Kernel& a, const Kernel& b) : a_(a), b_(b) {}

  bool run() {
    if (a_.name != b_.name || a_.has_spec != b_.has_spec) return false;
    return same_parameters(a_.inputs, b_.inputs) && same_parameters(a_.outputs, b_.outputs) &&
           same_list(a_.bindings, b_.bindings,
                     [this](const Binding& x, const Binding& y) { return binding(x, y); });
  }

 private:
  template <typename T, typename Same>
  static bool same_list(const std::vector<T>& a, const std::vector<T>& b, Same same) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!same(a[i], b[i])) return false;
    }
    return true;
  }

  bool same_parameters(const std::vector<KernelParameter>& a,
                       const std::vector<KernelParameter>& b) {
    return same_list(a, b, [this](const KernelParameter& x, const KernelParameter& y) {
      return x.segdes == y.segdes && (x.segdes ? segdes(x.id, y.id) : array(x.id, y.id));
    });
  }

  bool size(SizeId x, SizeId y) {
    const KernelSize& left = a_.sizes[x];
    const KernelSize& right = b_.sizes[y];
    if (left.literal || right.literal) return left.literal == right.literal;
    return left.name == right.name && sizes_.pair(x, y) != Pairing::Result::Conflict;
  }

  bool array(ArrayId x, ArrayId y) {
    const KernelArray& left = a_.arrays[x];
    const KernelArray& right = b_.arrays[y];
    return arrays_.pair(x, y) != Pairing::Result::Conflict && left.name == right.name &&
           left.type == right.type && size(left.length, right.length);
  }

  bool segdes(SegdesId x, SegdesId y) {
    const KernelSegdes& left = a_.segdes[x];
    const KernelSegdes& right = b_.segdes[y];
    return segdes_.pair(x, y) != Pairing::Result::Conflict && left.name == right.name &&
           size(left.count, right.count) && size(left.total, right.total);
  }

  bool space(Space x, Space y) {
    return x.segmented == y.segmented && (x.segmented ? segdes(x.id, y.id) : size(x.id, y.id));
  }

  bool binding(const Binding& x, const Binding& y) {
    return x.kind == y.kind && (!has_space(x) || space(x.space, y.space)) &&
           x.classes == y.classes && x.message == y.message && x.exits == y.exits &&
           x.into.has_value() == y.into.has_value() && (!x.into || space(*x.into, *y.into)) &&
           (x.kind != Binding::Kind::Size || size(x.size, y.size)) &&
           same_list(x.arrays, y.arrays, [this](ArrayId i, ArrayId j) { return array(i, j); }) &&
           same_list(x.segdes, y.segdes, [this](SegdesId i, SegdesId j) { return segdes(i, j); }) &&
           same_list(x.monoids, y.monoids,
                     [](Monoid i, Monoid j) { return i.op == j.op && i.type == j.type; }) &&
           same_list(x.writes, y.writes,
                     [this](const TableWrite& i, const TableWrite& j) {
                       return array(i.operand, j.operand);
                     }) &&
           x.rounds == y.rounds && x.depth == y.depth && same_thunks(x, y);
  }

  bool same_thunks(const Binding& x, const Binding& y) {
    const auto left = thunks_of(x), right = thunks_of(y);
    return std::equal(left.begin(), left.end(), right.begin(),
                      [this](const Thunk* a, const Thunk* b) { return thunk(*a, *b); });
  }

  bool thunk(const Thunk& x, const Thunk& y) {
    if (x.results.size() != y.results.size()) return false;
    Pairing nodes;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> due;
    for (std::size_t i = 0; i < x.results.size(); ++i) due.emplace_back(x.results[i], y.results[i]);
    while (!due.empty()) {
      const auto [i, j] = due.back();
      due.pop_back();
      const ThunkNode& left = x.nodes[i];
      const ThunkNode& right = y.nodes[j];
      if (argument_count(left) > 0) {
        const Pairing::Result result = nodes.pair(i, j);
        if (result == Pairing::Result::Conflict) return false;
        if (result == Pairing::Result::Known) continue;
      }
      if (!node(left, right)) return false;
      for (int k = 0; k < argument_count(left); ++k) due.emplace_back(left.args[k], right.args[k]);
    }
    return true;
  }

  bool node(const ThunkNode& x, const ThunkNode& y) {
    if (x.kind != y.kind || x.type != y.type) return false;
    switch (x.kind) {
      case ThunkNode::Kind::Index:
      case ThunkNode::Kind::If:
        return true;
      case ThunkNode::Kind::Size:
        return size(x.id, y.id);
      case ThunkNode::Kind::State:
        return x.id == y.id;
      case ThunkNode::Kind::Constant:
        if (x.type != Type::Float) return x.int_value == y.int_value;
        return std::bit_cast<std::uint64_t>(x.float_value) ==
               std::bit_cast<std::uint64_t>(y.float_value);
      case ThunkNode::Kind::Subscript:
        return array(x.id, y.id);
      case ThunkNode::Kind::Apply:
        return x.op == y.op && (!info(x.op).takes_type() || x.written == y.written);
      default:
        return segdes(x.id, y.id);
    }
  }

  const Kernel& a_;
  const Kernel& b_;
  Pairing sizes_, arrays_, segdes_;
};

/// Sizes and literals have a node for each place where they are written.
bool is_same_int(const Thunk& thunk, std::uint32_t a, std::uint32_t b) {
  const ThunkNode &x = thunk.nodes[a], &y = thunk.nodes[b];
  if (a == b) return true;
  if (x.kind != y.kind || x.type != Type::Int || y.type != Type::Int) return false;
  return (x.kind == ThunkNode::Kind::Size && x.id == y.id) ||
         (x.kind == ThunkNode::Kind::Constant && x.int_value == y.int_value);
}

}  // namespace

bool names_descriptor(const ThunkNode& node) {
  switch (node.kind) {
    case ThunkNode::Kind::SegNo:
    case ThunkNode::Kind::SegOff:
    case ThunkNode::Kind::SegLen:
    case ThunkNode::Kind::SegStart:
    case ThunkNode::Kind::SegCount:
      return true;
    default:
      return false;
  }
}

int argument_count(const ThunkNode& node) {
  switch (node.kind) {
    case ThunkNode::Kind::Index:
    case ThunkNode::Kind::Size:
    case ThunkNode::Kind::Constant:
    case ThunkNode::Kind::SegCount:
    case ThunkNode::Kind::State:
      return 0;
    case ThunkNode::Kind::Apply:
      return static_cast<int>(info(node.op).operands.size());
    case ThunkNode::Kind::If:
      return 3;
    default:
      return 1;
  }
}

std::vector<const Thunk*> thunks_of(const Binding& binding) {
  std::vector<const Thunk*> thunks = {&binding.elements, &binding.flags, &binding.index,
                                      &binding.defaults, &binding.next,  &binding.push,
                                      &binding.pop};
  for (const TableWrite& write : binding.writes) thunks.push_back(&write.thunk);
  return thunks;
}

std::vector<ArrayId> tables_of(const Binding& binding) {
  std::vector<ArrayId> tables;
  for (const TableWrite& write : binding.writes) {
    if (std::find(tables.begin(), tables.end(), write.operand) == tables.end()) {
      tables.push_back(write.operand);
    }
  }
  return tables;
}

Type parameter_type(const Kernel& kernel, KernelParameter parameter) {
  return parameter.segdes ? Type::Segdes : kernel.arrays[parameter.id].type;
}

bool is_pure(const Kernel& kernel) {
  return std::none_of(kernel.bindings.begin(), kernel.bindings.end(), [](const Binding& binding) {
    return binding.kind == Binding::Kind::Assert || binding.kind == Binding::Kind::Random;
  });
}

bool is_never_zero(const Thunk& thunk, std::uint32_t node) {
  const auto is_int = [&](std::uint32_t at, bool zero) {
    const ThunkNode& literal = thunk.nodes[at];
    return literal.kind == ThunkNode::Kind::Constant && literal.type == Type::Int &&
           (literal.int_value == 0) == zero;
  };
  if (is_int(node, false)) return true;
  const ThunkNode& choice = thunk.nodes[node];
  const bool selects = choice.kind == ThunkNode::Kind::Apply && choice.op == Op::Select;
  if (choice.kind != ThunkNode::Kind::If && !selects) return false;
  const ThunkNode& test = thunk.nodes[choice.args[0]];
  if (test.kind != ThunkNode::Kind::Apply || test.written != Type::Int) return false;
  if (test.op == Op::Equal) {
    return is_int(choice.args[1], false) && is_same_int(thunk, test.args[0], choice.args[2]) &&
           is_int(test.args[1], true);
  }
  const ThunkNode& bound = thunk.nodes[test.args[1]];
  return test.op == Op::Greater && is_int(choice.args[2], false) &&
         is_same_int(thunk, test.args[0], choice.args[1]) &&
         bound.kind == ThunkNode::Kind::Constant && bound.int_value >= 0;
}

std::optional<ThunkNode> exact_reciprocal(const ThunkNode& divisor) {
  if (divisor.kind != ThunkNode::Kind::Constant || divisor.type != Type::Float) return std::nullopt;
  // With these exponents both are normal numbers of 32 bits.
  constexpr int kGreatest = 126;
  int exponent = 0;
  const bool is_power = std::abs(std::frexp(divisor.float_value, &exponent)) == 0.5;
  if (!is_power || std::abs(exponent - 1) > kGreatest) return std::nullopt;
  ThunkNode factor = divisor;
  factor.float_value = 1 / divisor.float_value;
  return factor;
}

bool reads_inside(const Kernel& kernel, const Thunk& thunk, std::uint32_t node) {
  const ThunkNode& choice = thunk.nodes[node];
  if (choice.kind != ThunkNode::Kind::If) return false;
  const ThunkNode &test = thunk.nodes[choice.args[0]], &element = thunk.nodes[choice.args[1]];
  const auto compares = [&](std::uint32_t at, Op op) {
    const ThunkNode& comparison = thunk.nodes[at];
    return comparison.kind == ThunkNode::Kind::Apply && comparison.op == op &&
           comparison.written == Type::Int &&
           is_same_int(thunk, comparison.args[0], element.args[0]);
  };
  if (element.kind != ThunkNode::Kind::Subscript || test.kind != ThunkNode::Kind::Apply ||
      test.op != Op::And || test.written != Type::Bool ||
      !compares(test.args[0], Op::GreaterEqual) || !compares(test.args[1], Op::Less)) {
    return false;
  }
  const ThunkNode& least = thunk.nodes[thunk.nodes[test.args[0]].args[1]];
  const ThunkNode& limit = thunk.nodes[thunk.nodes[test.args[1]].args[1]];
  return least.kind == ThunkNode::Kind::Constant && least.int_value == 0 &&
         limit.kind == ThunkNode::Kind::Size && limit.id == kernel.arrays[element.id].length;
}

bool is_guarded(const Kernel& kernel, const Thunk& thunk, std::uint32_t subscript) {
  if (std::find(thunk.results.begin(), thunk.results.end(), subscript) != thunk.results.end()) {
    return false;
  }
  for (std::uint32_t user = 0; user < thunk.nodes.size(); ++user) {
    for (int k = 0; k < argument_count(thunk.nodes[user]); ++k) {
      if (thunk.nodes[user].args[k] != subscript) continue;
      if (k != 1 || !reads_inside(kernel, thunk, user)) return false;
    }
  }
  return true;
}

bool same_size(const Kernel& kernel, SizeId a, SizeId b) {
  if (a == b) return true;
  return kernel.sizes[a].literal && kernel.sizes[a].literal == kernel.sizes[b].literal;
}

SizeId length_of_space(const Kernel& kernel, Space space) {
  return space.segmented ? kernel.segdes[space.id].total : space.id;
}

bool same_space(const Kernel& kernel, Space a, Space b) {
  return same_size(kernel, length_of_space(kernel, a), length_of_space(kernel, b));
}

bool same_kernel(const Kernel& a, const Kernel& b) {
  return KernelComparer(a, b).run();
}

}  // namespace vcode
