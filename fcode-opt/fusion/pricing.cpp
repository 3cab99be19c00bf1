#include "fcode-opt/fusion/pricing.hpp"

#include <algorithm>
#include <limits>

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {

Pricing::Pricing(const RegionGraph& graph) : graph_(graph), model_(graph) {}

std::int64_t Pricing::held(const Schedule& schedule) const {
  if (graph_.storage.empty()) return 0;
  return kHeldByteCost * excess(schedule).bytes;
}

std::int64_t Pricing::price(const Schedule& schedule) const {
  return cost(graph_, steps_of(graph_, schedule)) + held(schedule);
}

MemoryModel::Excess Pricing::excess(const Schedule& schedule) const {
  const MemoryModel::Excess kernels = model_.excess(steps_of(graph_, schedule));
  const MemoryModel::Excess specs = model_.excess(spec_steps_of(graph_, schedule));
  return kernels.bytes >= specs.bytes ? kernels : specs;
}

}  // namespace fcode
