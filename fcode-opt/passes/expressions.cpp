#include "fcode-opt/passes/expressions.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

namespace fcode {

using vcode::Op;
using vcode::ThunkNode;
using vcode::Type;

vcode::ThunkNode literal_node(Type type, std::int64_t value) {
  ThunkNode node;
  node.type = type;
  node.int_value = value;
  return node;
}

ExpressionId Expressions::add(const ThunkNode& node) {
  const std::string key = fmt::format(
      "{} {} {} {} {} {} {} {} {} {}", static_cast<int>(node.kind), static_cast<int>(node.type),
      static_cast<int>(node.op), static_cast<int>(node.written), node.id, node.args[0],
      node.args[1], node.args[2], node.int_value, std::bit_cast<std::uint64_t>(node.float_value));
  const auto [place, is_new] = known_.try_emplace(key, static_cast<ExpressionId>(nodes_.size()));
  if (is_new) nodes_.push_back(node);
  return place->second;
}

ExpressionId Expressions::constant(bool value) {
  return add(literal_node(Type::Bool, value ? 1 : 0));
}

ExpressionId Expressions::number(std::int64_t value) {
  return add(literal_node(Type::Int, value));
}

ExpressionId Expressions::applied(Op op, Type written, std::initializer_list<ExpressionId> args) {
  ThunkNode node;
  node.kind = ThunkNode::Kind::Apply;
  node.op = op;
  node.written = written;
  node.type = *vcode::operand_type(vcode::info(op).results[0], written);
  std::copy(args.begin(), args.end(), node.args);
  return add(node);
}

std::optional<bool> Expressions::known(ExpressionId node) const {
  const ThunkNode& found = nodes_[node];
  if (found.kind != ThunkNode::Kind::Constant || found.type != Type::Bool) return std::nullopt;
  return found.int_value != 0;
}

ExpressionId Expressions::negation(ExpressionId a) {
  if (const auto value = known(a)) return constant(!*value);
  if (nodes_[a].kind == ThunkNode::Kind::Apply && nodes_[a].op == Op::Not) return nodes_[a].args[0];
  return applied(Op::Not, Type::Bool, {a});
}

ExpressionId Expressions::either(ExpressionId a, ExpressionId b) {
  return choice(a, constant(true), b);
}

ExpressionId Expressions::both(ExpressionId a, ExpressionId b) {
  return choice(a, b, constant(false));
}

bool Expressions::is_logic(ExpressionId node, Op op) const {
  const ThunkNode& found = nodes_[node];
  return found.kind == ThunkNode::Kind::Apply && found.op == op && found.written == Type::Bool;
}

/// Of BOOLs: AND or OR, where one does not say all, or nothing new.
ExpressionId Expressions::logic(Op op, ExpressionId a, ExpressionId b) {
  if (a == b) return a;
  const auto negates = [&](ExpressionId one, ExpressionId other) {
    return is_logic(one, Op::Not) && nodes_[one].args[0] == other;
  };
  if (negates(a, b) || negates(b, a)) return constant(op == Op::Or);
  const Op other = op == Op::And ? Op::Or : Op::And;
  for (const auto& [part, whole] : {std::pair(a, b), std::pair(b, a)}) {
    const auto contains = [&, whole = whole](ExpressionId operand) {
      return nodes_[whole].args[0] == operand || nodes_[whole].args[1] == operand;
    };
    if (is_logic(whole, op) && contains(part)) return whole;
    if (is_logic(whole, other) && contains(part)) return part;
  }
  return applied(op, Type::Bool, {a, b});
}

ExpressionId Expressions::choice(ExpressionId condition, ExpressionId first, ExpressionId second) {
  if (first == second) return first;
  if (const auto value = known(condition)) return *value ? first : second;
  if (const auto value = known(first)) {
    if (const auto other = known(second)) return *value ? condition : negation(condition);
    return *value ? logic(Op::Or, condition, second) : logic(Op::And, negation(condition), second);
  }
  if (const auto value = known(second)) {
    return *value ? logic(Op::Or, negation(condition), first) : logic(Op::And, condition, first);
  }
  ThunkNode node;
  node.kind = ThunkNode::Kind::If;
  node.type = nodes_[first].type;
  node.args[0] = condition;
  node.args[1] = first;
  node.args[2] = second;
  return add(node);
}

vcode::Thunk Expressions::thunk(const std::vector<ExpressionId>& results) const {
  std::vector<bool> wanted(nodes_.size());
  for (const ExpressionId result : results) wanted[result] = true;
  for (std::size_t k = nodes_.size(); k-- > 0;) {
    if (!wanted[k]) continue;
    for (int a = 0; a < vcode::argument_count(nodes_[k]); ++a) wanted[nodes_[k].args[a]] = true;
  }
  vcode::Thunk thunk;
  std::vector<ExpressionId> place(nodes_.size());
  for (std::size_t k = 0; k < nodes_.size(); ++k) {
    if (!wanted[k]) continue;
    place[k] = static_cast<ExpressionId>(thunk.nodes.size());
    thunk.nodes.push_back(nodes_[k]);
    ThunkNode& node = thunk.nodes.back();
    for (int a = 0; a < vcode::argument_count(node); ++a) node.args[a] = place[node.args[a]];
  }
  for (const ExpressionId result : results) thunk.results.push_back(place[result]);
  return thunk;
}

}  // namespace fcode
