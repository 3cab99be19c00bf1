#include "fcode-opt/fusion/cost.hpp"

#include <algorithm>

namespace fcode {
namespace {

constexpr std::int64_t kElementSize = 8;

std::int64_t bytes(const RegionGraph& graph, const Step& pass) {
  if (pass.once) return kElementSize;
  const std::int64_t known = graph.domain_length[pass.domain];
  return (known < 0 ? kAssumedLength : std::min(known, kAssumedLength)) * kElementSize;
}

}  // namespace

std::int64_t cost(const RegionGraph& graph, std::span<const Step> steps) {
  std::int64_t total = 0;
  const Step* before = nullptr;
  for (const Step& step : steps) {
    if (!step.kernel) continue;
    if (before == nullptr || before->slot != step.slot) total += kKernelCost;
    before = &step;
    if (!step.once) total += kPassCost;
    const std::int64_t size = bytes(graph, step) * (step.in_order ? kInOrderFactor : 1);
    for (const Step::Operand& read : step.reads) total += kVectorCost + (read.moved ? size : 0);
    for (const NodeIndex made : step.makes) {
      total += kVectorCost + (graph.nodes[made].role == Role::Reduce ? 0 : size);
    }
  }
  return total;
}

}  // namespace fcode
