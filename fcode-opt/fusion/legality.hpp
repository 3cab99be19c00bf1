// What may be computed by one kernel. Says nothing about whether it pays (cost.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "fcode-opt/fusion/graph.hpp"

namespace fcode {

/// The number of the kernel that computes a node; kernels run in this order. Nodes without a slot
/// of their own (Node::scheduled) have any.
using Slot = std::uint32_t;
using Schedule = std::vector<Slot>;

/// Producers read at other positions than their own are computed anew for each of these; only up to
/// so many operations.
inline constexpr std::uint32_t kMaxRecomputedOperations = 2;
/// Operands and results of one kernel, together. A device passes them as launch parameters, which
/// are limited to 4 KiB.
inline constexpr std::uint32_t kMaxKernelOperands = 200;
/// Scheduled nodes in one kernel: bounds the size of what a backend has to compile at once.
inline constexpr std::uint32_t kMaxKernelNodes = 400;

/// May the read lie inside one kernel, as far as reader and producer alone decide?
/// (fcode.md 4.2: F-1, F-1b, F-2 … F-4, F-8, F-9; otherwise it is a barrier edge, R-P2.)
bool fusible(const RegionGraph& graph, const Node& reader, const Read& read);

/// The highest slot that a node has.
Slot last_slot(const RegionGraph& graph, const Schedule& schedule);

/// Are reader and producer computed by the same kernel?
inline bool in_same_kernel(const RegionGraph& graph, const Schedule& schedule, NodeIndex reader,
                           const Read& read) {
  return read.producer != kOutside && schedule[read.producer] == schedule[reader] &&
         graph.nodes[reader].in_kernel() && graph.nodes[read.producer].in_kernel();
}

/// RANDs of one kernel that may fail: their failure is reported at the place of the kernel.
inline constexpr std::uint32_t kMaxFailingDraws = 1;

/// Is it a RAND that fails if a bound is below 1?
inline bool is_failing_draw(const Node& node) {
  return node.role == Role::Random && node.may_fail;
}

/// Checks a schedule node by node, in program order.
class ScheduleCheck {
 public:
  explicit ScheduleCheck(const RegionGraph& graph);
  /// May the next node (in program order) have this slot, given those before it? If so it has it.
  bool place(NodeIndex node, Slot slot);

 private:
  struct State {
    Slot slot = 0;
    bool after_scan = false;    // computed from the result of a SCAN in its kernel
    bool after_reduce = false;  // or of a REDUCE
  };
  bool in_order(const Node& node, Slot slot) const;
  std::uint32_t operands(const Node& node, Slot slot) const;
  bool allowed(NodeIndex node, Slot slot, State& state) const;
  bool allowed(const Node& reader, const Read& read, Slot slot, State& state) const;

  const RegionGraph& graph_;
  std::vector<State> states_;
  std::vector<std::uint32_t> nodes_in_slot_, operands_in_slot_, failing_draws_in_slot_;
};

/// Is the whole schedule legal?
bool legal(const RegionGraph& graph, const Schedule& schedule);

}  // namespace fcode
