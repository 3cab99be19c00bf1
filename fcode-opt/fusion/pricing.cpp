#include "fcode-opt/fusion/pricing.hpp"

#include <algorithm>
#include <limits>

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {

Pricing::Pricing(const RegionGraph& graph)
    : graph_(graph),
      models_{MemoryModel(graph, {{.int_bytes = 4}, false}),
              MemoryModel(graph, {{.int_bytes = 8}, false}),
              MemoryModel(graph, {{.int_bytes = 4}, true})} {}

std::int64_t Pricing::price(const Schedule& schedule, std::int64_t limit) const {
  const std::vector<Step> steps = steps_of(graph_, schedule);
  const std::int64_t moved = cost(graph_, steps);
  if (moved >= limit || graph_.storage.empty()) return moved;
  const std::int64_t price = moved + kHeldByteCost * excess(steps).bytes;
  if (price >= limit) return price;
  return std::max(price, moved + kHeldByteCost * excess(spec_steps_of(graph_, schedule)).bytes);
}

std::int64_t Pricing::price(const Schedule& schedule) const {
  return price(schedule, std::numeric_limits<std::int64_t>::max());
}

MemoryModel::Excess Pricing::excess(const std::vector<Step>& steps) const {
  MemoryModel::Excess most;
  for (const MemoryModel& model : models_) {
    const MemoryModel::Excess excess = model.excess(steps);
    if (excess.bytes > most.bytes) most = excess;
  }
  return most;
}

MemoryModel::Excess Pricing::excess(const Schedule& schedule) const {
  const MemoryModel::Excess kernels = excess(steps_of(graph_, schedule));
  const MemoryModel::Excess specs = excess(spec_steps_of(graph_, schedule));
  return kernels.bytes >= specs.bytes ? kernels : specs;
}

}  // namespace fcode
