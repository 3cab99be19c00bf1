#include "fcode-opt/fusion/pricing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {

Pricing::Pricing(const RegionGraph& graph)
    : graph_(graph),
      precedence_(graph),
      instructions_(instructions_of(graph)),
      model_(graph, instructions_),
      kernels_(graph) {}

std::int64_t Pricing::held(const Schedule& schedule, std::int64_t limit) const {
  if (graph_.storage.empty()) return 0;
  const std::int64_t kernels = kHeldByteCost * excess_of_kernels(schedule).bytes;
  if (kernels > limit) return kernels;
  return std::max(kernels, kHeldByteCost * excess_of_specs(schedule).bytes);
}

std::int64_t Pricing::price(const Schedule& schedule) const {
  return cost(graph_, steps_of(graph_, schedule)) +
         held(schedule, std::numeric_limits<std::int64_t>::max());
}

MemoryModel::Excess Pricing::excess(const Schedule& schedule) const {
  const MemoryModel::Excess kernels = excess_of_kernels(schedule);
  const MemoryModel::Excess specs = excess_of_specs(schedule);
  return kernels.bytes >= specs.bytes ? kernels : specs;
}

MemoryModel::Excess Pricing::excess_of_kernels(const Schedule& schedule) const {
  std::vector<MemoryModel::Event> events;
  for_each_slot(graph_, schedule, [&](Slot slot, auto kernel, auto instructions) {
    KnownKernels::Key key = 0;
    for (const NodeIndex i : kernel) key ^= kernels_.key_of(i);
    for (const Step& pass : kernels_.find(key, schedule, slot).passes) {
      events.push_back({&pass, slot});
    }
    for (const NodeIndex i : instructions) events.push_back({&instructions_[i], slot});
  });
  return model_.excess(events);
}

// Operation by operation, with the generators where they are read.
MemoryModel::Excess Pricing::excess_of_specs(const Schedule& schedule) const {
  std::vector<MemoryModel::Event> events;
  std::vector<Slot> generated(graph_.nodes.size(), ~Slot{0});
  const auto append = [&](const auto& self, NodeIndex index, Slot slot) -> void {
    for (const ValueId operand : graph_.nodes[index].statement->operands) {
      const NodeIndex made = graph_.producer(operand);
      const bool here = made != kOutside && !graph_.nodes[made].scheduled();
      if (here && std::exchange(generated[made], slot) != slot) self(self, made, slot);
    }
    events.push_back({&instructions_[index], slot});
  };
  for (const NodeIndex i : in_order(graph_, schedule)) append(append, i, schedule[i]);
  return model_.excess(events);
}

}  // namespace fcode
