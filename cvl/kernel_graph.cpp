#include "cvl/kernel_graph.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace cvl {
namespace {

using Kind = PlanNode::Kind;
using vcode::Op;
using vcode::ThunkNode;
using vcode::Type;

constexpr std::size_t kArity = 3;

/// A thunk may become at most so many times as many nodes: under nested conditionals that share
/// operands the number of guarded versions of a node can double with each level.
constexpr std::size_t kMostVersions = 64;

}  // namespace

std::size_t GraphBuilder::Hash::operator()(const PlanNode& node) const {
  std::size_t hash = 0;
  const auto mix = [&](std::uint64_t number) {
    hash = (hash ^ number) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  mix(static_cast<std::uint64_t>(node.kind) | static_cast<std::uint64_t>(node.type) << 8 |
      static_cast<std::uint64_t>(node.written) << 16 | static_cast<std::uint64_t>(node.op) << 24 |
      static_cast<std::uint64_t>(node.id) << 32);
  for (const NodeId arg : node.args) mix(arg);
  mix(node.guard);
  mix(static_cast<std::uint64_t>(node.int_value));
  mix(std::bit_cast<std::uint64_t>(node.float_value));
  return hash;
}

bool GraphBuilder::Same::operator()(const PlanNode& a, const PlanNode& b) const {
  return a.kind == b.kind && a.type == b.type && a.written == b.written && a.op == b.op &&
         a.id == b.id && std::equal(a.args, a.args + kArity, b.args) && a.guard == b.guard &&
         a.int_value == b.int_value &&
         std::bit_cast<std::uint64_t>(a.float_value) == std::bit_cast<std::uint64_t>(b.float_value);
}

NodeId GraphBuilder::add(PlanNode node) {
  if (!node.traps) node.guard = kNone;
  if (const auto found = known_.find(node); found != known_.end()) return found->second;
  if (node.guard != kNone) {
    // Where the same is wanted everywhere, no guard is needed.
    PlanNode unguarded = node;
    unguarded.guard = kNone;
    if (const auto found = known_.find(unguarded); found != known_.end()) return found->second;
  }
  const bool varies = node.kind == Kind::Position || node.kind == Kind::Load ||
                      node.kind == Kind::SegmentNumber || node.kind == Kind::SegmentOffset ||
                      node.kind == Kind::Scan || node.kind == Kind::Random ||
                      node.kind == Kind::State;
  node.uniform = !varies;
  node.after_scan = node.kind == Kind::Scan;
  const auto depends_on = [&](NodeId other) {
    if (other == kNone) return;
    node.uniform = node.uniform && nodes_[other].uniform;
    node.after_scan = node.after_scan || nodes_[other].after_scan;
  };
  for (const NodeId arg : node.args) depends_on(arg);
  depends_on(node.guard);
  const auto id = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(node);
  known_.emplace(node, id);
  return id;
}

NodeId GraphBuilder::constant_int(std::int64_t number) {
  PlanNode node;
  node.int_value = number;
  return add(node);
}

NodeId GraphBuilder::constant(const ThunkNode& literal) {
  PlanNode node;
  node.type = literal.type;
  node.int_value = literal.type == Type::Float ? 0 : literal.int_value;
  node.float_value = literal.type == Type::Float ? literal.float_value : 0;
  return add(node);
}

NodeId GraphBuilder::size(SizeId size) {
  if (kernel_.sizes[size].literal) return constant_int(*kernel_.sizes[size].literal);
  PlanNode node;
  node.kind = Kind::Size;
  node.id = canonical_[size];
  return add(node);
}

NodeId GraphBuilder::state(const ThunkNode& component) {
  PlanNode node;
  node.kind = Kind::State;
  node.type = component.type;
  node.id = component.id;
  return add(node);
}

NodeId GraphBuilder::position() {
  PlanNode node;
  node.kind = Kind::Position;
  return add(node);
}

bool GraphBuilder::is_single(SegdesId segdes) const {
  return kernel_.sizes[kernel_.segdes[segdes].count].literal == 1;
}

bool GraphBuilder::is_number_of(NodeId index, SegdesId segdes) const {
  return nodes_[index].kind == Kind::SegmentNumber && nodes_[index].id == segdes;
}

bool GraphBuilder::in_range(NodeId index, SizeId count) const {
  const PlanNode& node = nodes_[index];
  switch (node.kind) {
    case Kind::Constant: {
      const auto& literal = kernel_.sizes[count].literal;
      return literal && node.int_value >= 0 && node.int_value < *literal;
    }
    case Kind::Position:
      return is_length(count);
    case Kind::FindSegment:
      if (node.traps) return false;  // where it is not wanted, its value is anything
      [[fallthrough]];
    case Kind::SegmentNumber:
      return canonical_[kernel_.segdes[node.id].count] == canonical_[count];
    default:
      return false;
  }
}

NodeId GraphBuilder::subscript(ArrayId array, NodeId index, NodeId guard, std::uint32_t binding) {
  PlanNode node;
  node.type = kernel_.arrays[array].type;
  node.id = array;
  node.binding = binding;
  const SizeId length = kernel_.arrays[array].length;
  if (nodes_[index].kind == Kind::Position && is_length(length)) {
    node.kind = Kind::Load;
    return add(node);
  }
  node.kind = Kind::Gather;
  node.args[0] = index;
  node.traps = !in_range(index, length);
  node.guard = guard;
  return add(node);
}

/// vcode::is_never_zero(), of nodes.
bool GraphBuilder::never_zero(NodeId divisor) const {
  const auto is_constant = [&](NodeId node, bool zero) {
    return nodes_[node].kind == Kind::Constant && (nodes_[node].int_value == 0) == zero;
  };
  if (is_constant(divisor, false)) return true;
  const PlanNode& choice = nodes_[divisor];
  if (!choice.applies(Op::Select)) return false;
  const PlanNode& test = nodes_[choice.args[0]];
  if (test.applies(Op::Equal)) {
    return is_constant(choice.args[1], false) && test.args[0] == choice.args[2] &&
           is_constant(test.args[1], true);
  }
  const PlanNode& bound = nodes_[test.args[1]];
  return test.applies(Op::Greater) && is_constant(choice.args[2], false) &&
         test.args[0] == choice.args[1] && bound.kind == Kind::Constant && bound.int_value >= 0;
}

NodeId GraphBuilder::apply(Op op, Type written, Type type, const NodeId* args, std::size_t arity,
                           NodeId guard, std::uint32_t binding) {
  PlanNode node;
  node.kind = Kind::Apply;
  node.op = op;
  node.type = type;
  node.written = written;
  node.binding = binding;
  node.guard = guard;
  std::copy_n(args, arity, node.args);
  if (op == Op::Modulo || (op == Op::Divide && type == Type::Int)) {
    node.traps = !never_zero(args[1]);
  }
  return add(node);
}

NodeId GraphBuilder::scan(vcode::Monoid monoid, NodeId value, SegdesId under,
                          std::uint32_t binding) {
  const PlanNode& scanned = nodes_[value];
  const bool whole = under == kNone || is_single(under);
  if (whole && monoid.op == Op::AddReduce && scanned.kind == Kind::SegmentLength &&
      !scanned.traps && nodes_[scanned.args[0]].kind == Kind::Position) {
    // Lengths of segments add up to where they start.
    return segment_property(Kind::SegmentStart, scanned.id, scanned.args[0], kNone, binding);
  }
  PlanNode node;
  node.kind = Kind::Scan;
  node.op = vcode::scan_of(monoid.op);
  node.type = node.written = monoid.type;
  node.args[0] = value;
  node.id = whole ? kNone : under;
  node.binding = binding;
  return add(node);
}

NodeId GraphBuilder::random(std::uint32_t draw, NodeId bound, std::uint32_t binding) {
  PlanNode node;
  node.kind = Kind::Random;
  node.id = draw;
  node.args[0] = bound;
  node.binding = binding;
  return add(node);
}

NodeId GraphBuilder::at_least_one(NodeId number, std::uint32_t binding) {
  const NodeId args[] = {number, constant_int(1)};
  return apply(Op::GreaterEqual, Type::Int, Type::Bool, args, 2, kNone, binding);
}

NodeId GraphBuilder::segment_number(SegdesId segdes, NodeId position, NodeId guard,
                                    std::uint32_t binding) {
  PlanNode node;
  node.id = segdes;
  if (nodes_[position].kind == Kind::Position && is_length(kernel_.segdes[segdes].total)) {
    if (is_single(segdes)) return constant_int(0);
    node.kind = Kind::SegmentNumber;
    return add(node);
  }
  node.kind = Kind::FindSegment;
  node.args[0] = position;
  node.traps = !in_range(position, kernel_.segdes[segdes].total);
  node.guard = guard;
  node.binding = binding;
  return add(node);
}

NodeId GraphBuilder::segment_offset(SegdesId segdes, NodeId position, NodeId guard,
                                    std::uint32_t binding) {
  if (nodes_[position].kind == Kind::Position && is_length(kernel_.segdes[segdes].total)) {
    if (is_single(segdes)) return position;
    PlanNode node;
    node.kind = Kind::SegmentOffset;
    node.id = segdes;
    return add(node);
  }
  const NodeId segment = segment_number(segdes, position, guard, binding);
  const NodeId start = segment_property(Kind::SegmentStart, segdes, segment, guard, binding);
  const NodeId args[] = {position, start};
  return apply(Op::Subtract, Type::Int, Type::Int, args, 2, kNone, binding);
}

NodeId GraphBuilder::segment_property(Kind kind, SegdesId segdes, NodeId segment, NodeId guard,
                                      std::uint32_t binding) {
  PlanNode node;
  node.kind = kind;
  node.id = segdes;
  node.args[0] = segment;
  node.guard = guard;
  node.binding = binding;
  node.traps = !is_number_of(segment, segdes) && !in_range(segment, kernel_.segdes[segdes].count);
  return add(node);
}

NodeId GraphBuilder::both(NodeId guard, NodeId condition) {
  if (guard == kNone || guard == condition) return condition;
  const NodeId args[] = {guard, condition};
  return apply(Op::And, Type::Bool, Type::Bool, args, 2, kNone, 0);
}

NodeId GraphBuilder::negation(NodeId condition) {
  return apply(Op::Not, Type::Bool, Type::Bool, &condition, 1, kNone, 0);
}

/// One thunk on its way into the graph. Depth first with an explicit stack: expressions may be
/// nested as deeply as memory allows.
class GraphBuilder::Lowering {
 public:
  Lowering(GraphBuilder& graph, const vcode::Thunk& thunk, std::uint32_t binding,
           const ArrayValue& array_value, const SizeValue& size_value)
      : graph_(graph),
        thunk_(thunk),
        binding_(binding),
        array_value_(array_value),
        size_value_(size_value),
        may_fail_(thunk.nodes.size()) {
    for (std::size_t k = 0; k < thunk.nodes.size(); ++k) {
      const ThunkNode& node = thunk.nodes[k];
      bool may_fail = node.kind == ThunkNode::Kind::Subscript ||
                      (names_descriptor(node) && argument_count(node) > 0) ||
                      (node.kind == ThunkNode::Kind::Apply &&
                       (node.op == Op::Divide || node.op == Op::Modulo) &&
                       !vcode::is_never_zero(thunk, node.args[1]));
      // Of an element that is compared with its length, the index fails where the comparison does.
      const bool inside = vcode::reads_inside(graph.kernel_, thunk, static_cast<std::uint32_t>(k));
      for (int a = 0; a < argument_count(node); ++a) {
        if (!inside || a != 1) may_fail |= may_fail_[node.args[a]];
      }
      may_fail_[k] = may_fail;
    }
  }

  NodeId value(std::uint32_t root) {
    stack_.push_back({root, kNone});
    while (!stack_.empty()) {
      const Wanted wanted = stack_.back();
      if (find(wanted.node, wanted.guard) != kNone) {
        stack_.pop_back();
      } else if (const NodeId node = make(thunk_.nodes[wanted.node], wanted.guard); node != kNone) {
        if (done_.size() > kMostVersions * thunk_.nodes.size()) throw TooManyGuards{};
        done_[{wanted.node, wanted.guard}] = node;
        stack_.pop_back();
      }
    }
    return find(root, kNone);
  }

 private:
  struct Wanted {
    std::uint32_t node;
    NodeId guard;
  };

  /// What was made under this guard or a weaker one. What cannot fail needs no guard.
  NodeId find(std::uint32_t node, NodeId guard) const {
    if (!may_fail_[node]) guard = kNone;
    while (true) {
      if (const auto found = done_.find({node, guard}); found != done_.end()) return found->second;
      if (guard == kNone) return kNone;
      guard = weaker_.at(guard);
    }
  }
  /// The node for an argument; asks for it and gives kNone if there is none yet.
  NodeId want(std::uint32_t node, NodeId guard) {
    const NodeId made = find(node, guard);
    if (made == kNone) stack_.push_back({node, may_fail_[node] ? guard : kNone});
    return made;
  }
  NodeId guard_of_branch(NodeId guard, NodeId condition) {
    const NodeId result = graph_.both(guard, condition);
    if (result != guard) weaker_.emplace(result, guard);
    return result;
  }

  NodeId make_if(const ThunkNode& node, NodeId guard) {
    const NodeId condition = want(node.args[0], guard);
    if (condition == kNone) return kNone;
    NodeId args[3] = {condition, kNone, kNone};
    const auto branch = [&](std::uint32_t which, bool taken) {
      if (!may_fail_[which]) return want(which, kNone);
      return want(which, guard_of_branch(guard, taken ? condition : graph_.negation(condition)));
    };
    args[1] = branch(node.args[1], true);
    args[2] = branch(node.args[2], false);
    if (args[1] == kNone || args[2] == kNone) return kNone;
    if (args[1] == args[2] && !may_fail_[node.args[0]]) return args[1];
    return graph_.apply(Op::Select, node.type, node.type, args, 3, kNone, binding_);
  }

  /// The node, or kNone if something else had to be asked for first.
  NodeId make(const ThunkNode& node, NodeId guard) {
    using From = ThunkNode::Kind;
    if (node.kind == From::If) return make_if(node, guard);
    NodeId args[3] = {kNone, kNone, kNone};
    bool ready = true;
    for (int a = 0; a < argument_count(node); ++a) {
      args[a] = want(node.args[a], guard);
      ready &= args[a] != kNone;
    }
    if (!ready) return kNone;
    switch (node.kind) {
      case From::Index:
        return graph_.position();
      case From::Size:
        return size(node.id);
      case From::Constant:
        return graph_.constant(node);
      case From::Subscript:
        if (graph_[args[0]].kind == Kind::Position) {
          if (const NodeId made = array_value_(node.id); made != kNone) return made;
        }
        return graph_.subscript(node.id, args[0], guard, binding_);
      case From::Apply:
        return graph_.apply(node.op, node.written, node.type, args,
                            static_cast<std::size_t>(argument_count(node)), guard, binding_);
      case From::SegNo:
        return graph_.segment_number(node.id, args[0], guard, binding_);
      case From::SegOff:
        return graph_.segment_offset(node.id, args[0], guard, binding_);
      case From::SegLen:
        return graph_.segment_property(Kind::SegmentLength, node.id, args[0], guard, binding_);
      case From::SegStart:
        return graph_.segment_property(Kind::SegmentStart, node.id, args[0], guard, binding_);
      case From::State:
        return graph_.state(node);
      case From::SegCount:
        return size(graph_.kernel_.segdes[node.id].count);
      default:
        return kNone;
    }
  }

  NodeId size(SizeId size) {
    const NodeId bound_here = size_value_(size);
    return bound_here != kNone ? bound_here : graph_.size(size);
  }

  GraphBuilder& graph_;
  const vcode::Thunk& thunk_;
  std::uint32_t binding_;
  const ArrayValue& array_value_;
  const SizeValue& size_value_;
  std::vector<bool> may_fail_;
  std::vector<Wanted> stack_;
  std::map<std::pair<std::uint32_t, NodeId>, NodeId> done_;
  std::map<NodeId, NodeId> weaker_;  // guard of the conditional that a guard belongs to
};

std::vector<NodeId> GraphBuilder::lower(const vcode::Thunk& thunk, std::uint32_t binding,
                                        const ArrayValue& array_value,
                                        const SizeValue& size_value) {
  Lowering lowering(*this, thunk, binding, array_value, size_value);
  std::vector<NodeId> results;
  results.reserve(thunk.results.size());
  for (const std::uint32_t root : thunk.results) results.push_back(lowering.value(root));
  return results;
}

}  // namespace cvl
