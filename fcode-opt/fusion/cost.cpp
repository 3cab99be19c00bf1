#include "fcode-opt/fusion/cost.hpp"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace fcode {
namespace {

constexpr std::int64_t kElementSize = 8;

std::int64_t bytes(const RegionGraph& graph, const Node& node) {
  if (node.role == Role::Opaque || node.kept) return 0;
  const std::int64_t known = graph.domain_length[node.domain];
  return (known < 0 ? kAssumedLength : std::min(known, kAssumedLength)) * kElementSize;
}

}  // namespace

std::int64_t cost(const RegionGraph& graph, const Schedule& schedule, NodeIndex end) {
  std::vector<bool> stored(end, false);  // must exist outside its kernel
  std::set<std::pair<Slot, ValueId>> fetched;
  std::set<Slot> kernels;
  std::int64_t total = 0;
  auto fetch = [&](const Node& reader, Slot slot, const Read& read) {
    if (!fetched.insert({slot, read.value}).second) return;
    total += kVectorCost;
    if (read.access == Access::Own || read.access == Access::Target ||
        read.access == Access::Foreign) {
      total += bytes(graph, reader);
    }
  };
  for (NodeIndex i = 0; i < end; ++i) {
    const Node& node = graph.nodes[i];
    if (!node.scheduled()) continue;
    if (node.output) stored[i] = true;
    if (node.in_kernel()) kernels.insert(schedule[i]);
    for (const Read& read : node.reads) {
      const bool inside = read.producer != kOutside && schedule[read.producer] == schedule[i] &&
                          node.in_kernel() && graph.nodes[read.producer].in_kernel();
      if (inside) continue;
      if (read.producer != kOutside) stored[read.producer] = true;
      if (node.in_kernel()) fetch(node, schedule[i], read);
    }
  }
  // A map that is only read inside its kernel is part of its readers' passes.
  std::set<std::pair<Slot, std::uint32_t>> passes;
  for (NodeIndex i = 0; i < end; ++i) {
    const Node& node = graph.nodes[i];
    if (!node.in_kernel()) continue;
    const bool elementwise = node.role == Role::Map || node.role == Role::Scan ||
                             (node.role == Role::Random && !node.may_fail);
    if (elementwise && !stored[i]) continue;
    if (!node.scalar) passes.insert({schedule[i], node.domain});
    if (stored[i]) total += kVectorCost + (node.role == Role::Reduce ? 0 : bytes(graph, node));
  }
  return total + static_cast<std::int64_t>(kernels.size()) * kKernelCost +
         static_cast<std::int64_t>(passes.size()) * kPassCost;
}

}  // namespace fcode
