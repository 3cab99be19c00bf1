#include "fcode-opt/fusion/pricing.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {

Pricing::Pricing(const RegionGraph& graph)
    : graph_(graph),
      instructions_(instructions_of(graph)),
      model_(graph, instructions_),
      passes_(graph) {}

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
  const std::vector<SlotMembers> slots = members_by_slot(graph_, schedule);
  steps_.clear();
  std::vector<std::size_t> ends;  // of the passes of each slot
  for (const SlotMembers& members : slots) {
    passes_.append(schedule, members.kernel, steps_);
    ends.push_back(steps_.size());
  }
  std::vector<MemoryModel::Event> events;
  std::size_t pass = 0;
  for (Slot slot = 0; slot < slots.size(); ++slot) {
    for (; pass < ends[slot]; ++pass) events.push_back({&steps_[pass], slot});
    for (const NodeIndex i : slots[slot].instructions) events.push_back({&instructions_[i], slot});
  }
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
  Slot slot = 0;
  for (const SlotMembers& members : members_by_slot(graph_, schedule)) {
    for (const NodeIndex i : members.kernel) append(append, i, slot);
    for (const NodeIndex i : members.instructions) append(append, i, slot);
    ++slot;
  }
  return model_.excess(events);
}

}  // namespace fcode
