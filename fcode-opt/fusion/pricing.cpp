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
      kernels_(precedence_) {
  find_generators();
}

std::int64_t Pricing::held(const Schedule& schedule, std::int64_t limit) const {
  if (graph_.storage.empty()) return 0;
  const std::int64_t bytes = limit / kHeldByteCost;
  const std::int64_t kernels = excess_of_kernels(schedule, bytes).bytes;
  if (kernels > bytes) return kHeldByteCost * kernels;
  return kHeldByteCost * std::max(kernels, excess_of_specs(schedule, bytes).bytes);
}

std::int64_t Pricing::price(const Schedule& schedule) const {
  return cost(graph_, steps_of(graph_, schedule)) + held(schedule, MemoryModel::kNoLimit);
}

MemoryModel::Excess Pricing::excess(const Schedule& schedule) const {
  const MemoryModel::Excess kernels = excess_of_kernels(schedule, MemoryModel::kNoLimit);
  const MemoryModel::Excess specs = excess_of_specs(schedule, MemoryModel::kNoLimit);
  return kernels.bytes >= specs.bytes ? kernels : specs;
}

MemoryModel::Excess Pricing::excess_of_kernels(const Schedule& schedule, std::int64_t limit) const {
  std::vector<MemoryModel::Event> events;
  for_each_slot(graph_, schedule, [&](Slot slot, auto kernel, auto instructions) {
    KnownKernels::Key key = 0;
    for (const NodeIndex i : kernel) key ^= kernels_.key_of(i);
    for (const Step& pass : kernels_.find(key, schedule, slot).passes) {
      events.push_back({&pass, slot});
    }
    for (const NodeIndex i : instructions) events.push_back({&instructions_[i], slot});
  });
  return model_.excess(events, limit);
}

// Operation by operation, with the generators where they are read.
MemoryModel::Excess Pricing::excess_of_specs(const Schedule& schedule, std::int64_t limit) const {
  std::vector<MemoryModel::Event> events;
  std::vector<Slot> generated(graph_.nodes.size(), ~Slot{0});
  for (const NodeIndex i : in_order(graph_, schedule)) {
    const Slot slot = schedule[i];
    for (const NodeIndex made : generators_[i]) {
      if (std::exchange(generated[made], slot) != slot) {
        events.push_back({&instructions_[made], slot});
      }
    }
    events.push_back({&instructions_[i], slot});
  }
  return model_.excess(events, limit);
}

void Pricing::find_generators() {
  generators_.resize(graph_.nodes.size());
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    std::vector<NodeIndex>& all = generators_[i];
    const auto append = [&](NodeIndex made) {
      if (std::find(all.begin(), all.end(), made) == all.end()) all.push_back(made);
    };
    for (const ValueId operand : graph_.nodes[i].statement->operands) {
      const NodeIndex made = graph_.producer(operand);
      if (made == kOutside || graph_.nodes[made].scheduled()) continue;
      for (const NodeIndex earlier : generators_[made]) append(earlier);
      append(made);
    }
  }
}

}  // namespace fcode
