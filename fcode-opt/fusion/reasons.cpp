#include "fcode-opt/fusion/reasons.hpp"

#include <algorithm>
#include <set>

#include <fmt/core.h>

namespace fcode {
namespace {

// Generators that become part of the expressions of the node.
void collect_generators(const RegionGraph& graph, NodeIndex index, std::set<NodeIndex>& found) {
  for (ValueId operand : graph.nodes[index].statement->operands) {
    const NodeIndex made = graph.producer(operand);
    if (made == kOutside || graph.nodes[made].role != Role::Generator) continue;
    if (graph.nodes[made].kept || !found.insert(made).second) continue;
    collect_generators(graph, made, found);
  }
}

// Numbers that are stored, and nothing else: instructions do that as well.
bool only_draws(const RegionGraph& graph, const std::vector<NodeIndex>& kernel) {
  return std::all_of(kernel.begin(), kernel.end(), [&](NodeIndex i) {
    const Node& node = graph.nodes[i];
    return node.role == Role::Random && (node.output || node.readers > 0) &&
           std::none_of(node.reads.begin(), node.reads.end(), [&](const Read& read) {
             return std::find(kernel.begin(), kernel.end(), read.producer) != kernel.end();
           });
  });
}

}  // namespace

bool pays(const RegionGraph& graph, const std::vector<NodeIndex>& kernel) {
  if (only_draws(graph, kernel)) return false;
  std::set<NodeIndex> generators;
  for (NodeIndex i : kernel) {
    if (graph.nodes[i].role == Role::Assert) return true;
    collect_generators(graph, i, generators);
  }
  return kernel.size() + generators.size() > 1;
}

std::string why_not(const RegionGraph& graph, NodeIndex index, bool given_back) {
  const Node& node = graph.nodes[index];
  const Statement& statement = *node.statement;
  if (statement.kind == Statement::Kind::Run) return "is a kernel already";
  const std::string_view name = vcode::info(statement.op).text;
  if (given_back) return fmt::format("{}: nothing to fuse it with", name);
  if (statement.op == Op::Rand) return fmt::format("{}: draws one number only", name);
  if (node.kept) return fmt::format("{}: needed as a value by an instruction or elsewhere", name);
  if (!vcode::info(statement.op).is_vector_op()) {
    return fmt::format("{}: no vector operation", name);
  }
  return fmt::format("{}: has no form in a kernel", name);
}

}  // namespace fcode
