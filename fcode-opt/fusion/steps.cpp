#include "fcode-opt/fusion/steps.hpp"

#include <algorithm>
#include <utility>

#include "fcode-opt/fusion/kernel_passes.hpp"

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

std::vector<Step> steps_of(const RegionGraph& graph) {
  std::vector<Step> steps;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) steps.push_back(instruction(graph, i, 0));
  return steps;
}

std::vector<Step> steps_of(const RegionGraph& graph, const Schedule& schedule) {
  struct Members {
    std::vector<NodeIndex> kernel, instructions;
  };
  std::vector<Members> slots(last_slot(graph, schedule) + 1);
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!node.scheduled()) continue;
    Members& members = slots[schedule[i]];
    (node.in_kernel() ? members.kernel : members.instructions).push_back(i);
  }
  KernelPasses passes(graph);
  std::vector<Step> steps;
  for (Slot slot = 0; slot < slots.size(); ++slot) {
    const std::span<const Step> kernel = passes.of(schedule, slots[slot].kernel);
    steps.insert(steps.end(), kernel.begin(), kernel.end());
    for (const NodeIndex i : slots[slot].instructions) {
      steps.push_back(instruction(graph, i, slot));
    }
  }
  return steps;
}

std::vector<Step> spec_steps_of(const RegionGraph& graph, const Schedule& schedule) {
  // Instructions come behind the kernel of their slot.
  std::vector<std::pair<std::pair<Slot, bool>, NodeIndex>> order;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.scheduled()) order.push_back({{schedule[i], !node.in_kernel()}, i});
  }
  std::sort(order.begin(), order.end());
  std::vector<Step> steps;
  std::vector<Slot> generated(graph.nodes.size(), ~Slot{0});
  const auto append = [&](const auto& self, NodeIndex index, Slot slot) -> void {
    for (const ValueId operand : graph.nodes[index].statement->operands) {
      const NodeIndex made = graph.producer(operand);
      const bool here = made != kOutside && !graph.nodes[made].scheduled();
      if (here && std::exchange(generated[made], slot) != slot) self(self, made, slot);
    }
    steps.push_back(instruction(graph, index, slot));
  };
  for (const auto& [place, index] : order) append(append, index, place.first);
  return steps;
}

}  // namespace fcode
