#include "fcode-opt/fusion/known_kernels.hpp"

#include <algorithm>
#include <random>

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {

KnownKernels::KnownKernels(const Precedence& precedence)
    : graph_(precedence.graph()), check_(precedence), passes_(graph_) {
  std::mt19937_64 random;
  for (std::size_t i = 0; i < graph_.nodes.size(); ++i) keys_.push_back(random());
}

const KnownKernels::Kernel& KnownKernels::find(Key key, const Schedule& schedule, Slot slot) {
  const auto [place, is_new] = kernels_.try_emplace(key);
  Kernel& kernel = place->second;
  if (!is_new || key == 0) return kernel;
  members_.clear();
  for (NodeIndex i = 0; i < schedule.size(); ++i) {
    if (schedule[i] == slot && graph_.nodes[i].in_kernel()) members_.push_back(i);
  }
  kernel.legal = check_.legal_kernel(schedule, members_);
  if (!kernel.legal) return kernel;
  passes_.append(schedule, members_, kernel.passes);
  kernel.cost = cost(graph_, kernel.passes);
  return kernel;
}

ScheduleCost::ScheduleCost(const RegionGraph& graph, KnownKernels& kernels, const Schedule& start)
    : graph_(graph), kernels_(kernels) {
  start_from(start);
}

std::optional<std::int64_t> ScheduleCost::of(const Schedule& schedule) {
  for (const Slot slot : changed_) is_changed_[slot] = false;
  changed_.clear();
  const auto change = [&](Slot slot, NodeIndex node) {
    if (slot >= keys_.size()) {
      keys_.resize(slot + 1);
      changed_keys_.resize(slot + 1);
      is_changed_.resize(slot + 1);
    }
    if (!is_changed_[slot]) {
      is_changed_[slot] = true;
      changed_.push_back(slot);
      changed_keys_[slot] = keys_[slot];
    }
    changed_keys_[slot] ^= kernels_.key_of(node);
  };
  for (NodeIndex i = 0; i < schedule.size(); ++i) {
    if (schedule[i] == start_[i] || !graph_.nodes[i].in_kernel()) continue;
    change(start_[i], i);
    change(schedule[i], i);
  }
  std::int64_t total = total_;
  for (const Slot slot : changed_) {
    const KnownKernels::Kernel& kernel = kernels_.find(changed_keys_[slot], schedule, slot);
    if (!kernel.legal) return std::nullopt;
    total += kernel.cost - kernels_.find(keys_[slot], start_, slot).cost;
  }
  return total;
}

void ScheduleCost::start_from(const Schedule& schedule) {
  start_ = schedule;
  keys_.assign(last_slot(graph_, schedule) + 1, 0);
  changed_keys_ = keys_;
  changed_.clear();
  is_changed_.assign(keys_.size(), false);
  for (NodeIndex i = 0; i < schedule.size(); ++i) {
    if (graph_.nodes[i].in_kernel()) keys_[schedule[i]] ^= kernels_.key_of(i);
  }
  total_ = 0;
  for (Slot slot = 0; slot < keys_.size(); ++slot) {
    total_ += kernels_.find(keys_[slot], schedule, slot).cost;
  }
}

}  // namespace fcode
