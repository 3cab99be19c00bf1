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

KernelCosts::KernelCosts(const RegionGraph& graph, const Schedule& start)
    : graph_(graph), passes_(graph), start_(start.size()) {
  start_from(start);
}

// Marks the slots whose kernels are not those of start_, and lists their members.
void KernelCosts::find_changed(const Schedule& schedule) {
  changed_.assign(by_slot_.size(), false);
  const auto mark = [&](Slot slot) {
    if (slot >= changed_.size()) {
      changed_.resize(slot + 1);
      by_slot_.resize(slot + 1);
    }
    changed_[slot] = true;
  };
  for (NodeIndex i = 0; i < schedule.size(); ++i) {
    if (schedule[i] == start_[i] || !graph_.nodes[i].in_kernel()) continue;
    mark(start_[i]);
    mark(schedule[i]);
  }
  members_.resize(std::max(members_.size(), changed_.size()));
  for (Slot slot = 0; slot < changed_.size(); ++slot) members_[slot].clear();
  for (NodeIndex i = 0; i < schedule.size(); ++i) {
    const Slot slot = schedule[i];
    if (!graph_.nodes[i].in_kernel() || slot >= changed_.size() || !changed_[slot]) continue;
    members_[slot].push_back(i);
  }
}

std::int64_t KernelCosts::kernel(const Schedule& schedule, std::span<const NodeIndex> members) {
  steps_.clear();
  passes_.append(schedule, members, steps_);
  return cost(graph_, {steps_.begin(), steps_.size()});
}

std::int64_t KernelCosts::of(const Schedule& schedule) {
  find_changed(schedule);
  std::int64_t total = total_;
  for (Slot slot = 0; slot < changed_.size(); ++slot) {
    if (!changed_[slot]) continue;
    total += kernel(schedule, members_[slot]) - by_slot_[slot];
  }
  return total;
}

void KernelCosts::start_from(const Schedule& schedule) {
  start_ = schedule;
  by_slot_.clear();
  total_ = 0;
  for (const SlotMembers& members : members_by_slot(graph_, schedule)) {
    by_slot_.push_back(kernel(schedule, members.kernel));
    total_ += by_slot_.back();
  }
}

}  // namespace fcode
