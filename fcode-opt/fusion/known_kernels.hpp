// The kernels of a region that its schedules are made of.
//
// Whether a kernel is legal and what it costs depends on its nodes alone, and schedules that are
// compared have most of their kernels in common: this is worked out once for each.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "fcode-opt/fusion/kernel_passes.hpp"

namespace fcode {

class KnownKernels {
 public:
  /// That of a kernel is the exclusive or of those of its nodes; 0: no nodes. By chance two kernels
  /// may have the same one, which is as likely as an error of the machine.
  using Key = std::uint64_t;
  struct Kernel {
    bool legal = true;
    std::vector<Step> passes;  // of a legal one
    std::int64_t cost = 0;
  };

  explicit KnownKernels(const Precedence& precedence);
  Key key_of(NodeIndex node) const { return keys_[node]; }
  /// The kernel that the schedule has in the slot. Stays where it is.
  const Kernel& find(Key key, const Schedule& schedule, Slot slot);

 private:
  const RegionGraph& graph_;
  std::vector<Key> keys_;  // by node
  std::unordered_map<Key, Kernel> kernels_;
  ScheduleCheck check_;
  KernelPasses passes_;
  std::vector<NodeIndex> members_;  // of the kernel that is worked out
};

/// What a schedule costs by its kernels (the sum of cost()), and what others cost that differ from
/// it in a few nodes.
class ScheduleCost {
 public:
  ScheduleCost(const RegionGraph& graph, KnownKernels& kernels, const Schedule& start);
  /// Nothing if one of its kernels is not legal. What comes before what (Precedence) is not looked
  /// at.
  std::optional<std::int64_t> of(const Schedule& schedule);
  std::int64_t total() const { return total_; }
  /// The kernel in the slot.
  KnownKernels::Key key(Slot slot) const { return slot < keys_.size() ? keys_[slot] : 0; }
  /// Schedules are compared with this one from now on.
  void start_from(const Schedule& schedule);

 private:
  const RegionGraph& graph_;
  KnownKernels& kernels_;
  Schedule start_;
  std::vector<KnownKernels::Key> keys_;  // by slot, of start_
  std::int64_t total_ = 0;
  // Of the schedule that is priced: the slots whose kernels are others, and these, by slot.
  std::vector<Slot> changed_;
  std::vector<KnownKernels::Key> changed_keys_;
  std::vector<bool> is_changed_;
};

}  // namespace fcode
