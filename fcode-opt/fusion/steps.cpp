#include "fcode-opt/fusion/steps.hpp"

#include <algorithm>
#include <utility>

namespace fcode {
namespace {

using vcode::Family;

// May an operation by itself write its result over this operand?
bool written_over_alone(const Statement& statement, std::size_t operand) {
  if (statement.kind != Statement::Kind::Op) return false;
  switch (vcode::info(statement.op).family) {
    case Family::Elementwise:
      return true;
    case Family::Scan:
    case Family::Random:
    case Family::Replace:
      return operand == 0;
    default:
      return false;
  }
}

}  // namespace

void unite(std::vector<Step::Operand>& reads) {
  std::sort(reads.begin(), reads.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  std::size_t count = 0;
  for (const Step::Operand& read : reads) {
    if (count == 0 || reads[count - 1].value != read.value) {
      reads[count++] = read;
      continue;
    }
    reads[count - 1].moved |= read.moved;
    reads[count - 1].over &= read.over;
  }
  reads.resize(count);
}

Step instruction(const RegionGraph& graph, NodeIndex index, Slot slot) {
  const Statement& statement = *graph.nodes[index].statement;
  Step step;
  step.slot = slot;
  for (std::size_t i = 0; i < statement.operands.size(); ++i) {
    step.reads.push_back({statement.operands[i], true, written_over_alone(statement, i)});
  }
  unite(step.reads);
  step.makes.push_back(index);
  return step;
}

std::vector<Step> instructions_of(const RegionGraph& graph) {
  std::vector<Step> steps;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) steps.push_back(instruction(graph, i, 0));
  return steps;
}

}  // namespace fcode
