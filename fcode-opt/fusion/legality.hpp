// What may be computed by one kernel. Says nothing about whether it pays (cost.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <span>
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

/// The scheduled nodes as they are run: slot by slot, in each its kernel before its instructions.
std::vector<NodeIndex> in_order(const RegionGraph& graph, const Schedule& schedule);

/// Calls visit(slot, kernel, instructions) for each slot that has any nodes, in order, with spans
/// of the nodes of its kernel and of its instructions.
template <class Visit>
void for_each_slot(const RegionGraph& graph, const Schedule& schedule, Visit visit) {
  const std::vector<NodeIndex> order = in_order(graph, schedule);
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const Slot slot = schedule[order[begin]];
    while (end < order.size() && schedule[order[end]] == slot &&
           graph.nodes[order[end]].in_kernel()) {
      ++end;
    }
    const std::size_t middle = end;
    while (end < order.size() && schedule[order[end]] == slot) ++end;
    const std::span<const NodeIndex> nodes(order);
    visit(slot, nodes.subspan(begin, middle - begin), nodes.subspan(middle, end - middle));
  }
}

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

/// What comes before what in a region, and whether the same slot will do: worked out once for all
/// of its schedules.
class Precedence {
 public:
  explicit Precedence(const RegionGraph& graph);
  const RegionGraph& graph() const { return graph_; }
  /// May the node have the slot, as far as each of its edges decides by itself? Looks at what comes
  /// before the node alone, …
  bool follows(const Schedule& schedule, NodeIndex node, Slot slot) const;
  /// … or also at what comes behind it.
  bool fits(const Schedule& schedule, NodeIndex node, Slot slot) const {
    return follows(schedule, node, slot) && precedes(schedule, node, slot);
  }

 private:
  struct Edge {
    NodeIndex node;
    bool together;  // may have the same slot
  };
  /// Edges of all nodes, one after the other.
  struct Edges {
    std::vector<std::uint32_t> begin;  // by node, and one more
    std::vector<Edge> edges;
    std::span<const Edge> of(NodeIndex node) const {
      return {edges.data() + begin[node], edges.data() + begin[node + 1]};
    }
  };
  bool precedes(const Schedule& schedule, NodeIndex node, Slot slot) const;
  Edges reversed() const;

  const RegionGraph& graph_;
  Edges before_, behind_;
};

/// Checks schedules node by node, in program order.
class ScheduleCheck {
 public:
  explicit ScheduleCheck(const Precedence& precedence);
  /// Begins anew.
  void restart();
  /// May the next node (in program order) have this slot, given those before it? If so it has it.
  bool place(NodeIndex node, Slot slot);
  /// Begins anew: is the whole schedule legal?
  bool legal(const Schedule& schedule);
  /// Begins anew: may one kernel consist of `members`, all that the schedule has in one slot, in
  /// program order? What comes before what (Precedence) is not looked at.
  bool legal_kernel(const Schedule& schedule, std::span<const NodeIndex> members);

 private:
  struct State {
    bool after_scan = false;    // computed from the result of a SCAN in its kernel
    bool after_reduce = false;  // or of a REDUCE
  };
  struct InSlot {
    std::uint32_t nodes = 0, results = 0, failing_draws = 0;
    std::set<ValueId> read;  // from outside
  };
  bool joins(const Node& reader, const Read& read, Slot slot, State& state) const;
  bool has_room(const InSlot& used, const Node& node, const std::vector<ValueId>& read) const;
  bool join(NodeIndex index, Slot slot, InSlot& used);

  const Precedence& precedence_;
  const RegionGraph& graph_;
  Schedule slots_;
  std::vector<State> states_;
  std::vector<InSlot> in_slot_;
};

/// Is the whole schedule legal?
bool legal(const RegionGraph& graph, const Schedule& schedule);

}  // namespace fcode
