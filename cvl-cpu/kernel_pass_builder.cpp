#include "cvl-cpu/kernel_pass_builder.hpp"

#include <algorithm>

#include "vcode/comparisons.hpp"
#include "vcode/reductions.hpp"

namespace cvl::cpu {

using vcode::Op;
using vcode::Type;

NodeId PassBuilder::apply(Op op, Type written, std::initializer_list<NodeId> args) {
  PlanNode node;
  node.kind = PlanNode::Kind::Apply;
  node.op = op;
  node.written = written;
  node.type = vcode::is_comparison(op) ? Type::Bool : written;
  std::copy(args.begin(), args.end(), node.args);
  return add(node);
}

NodeId PassBuilder::combined(Op reduction, Type type, NodeId total, NodeId value) {
  if (const auto op = vcode::elementwise_of(reduction)) return apply(*op, type, {total, value});
  // As ops::Max and ops::Min choose.
  const bool greatest = reduction == Op::MaxReduce;
  NodeId stays = apply(Op::Greater, type, {greatest ? total : value, greatest ? value : total});
  if (type == Type::Float) {
    const NodeId is_nan = apply(Op::NotEqual, type, {total, total});
    stays = apply(Op::Or, Type::Bool, {stays, is_nan});
  }
  return apply(Op::Select, type, {stays, total, value});
}

}  // namespace cvl::cpu
