#include "fcode-opt/fusion/legality.hpp"

#include <algorithm>
#include <numeric>

namespace fcode {
namespace {

// A map whose value at any position can be had by computing it there: few operations, and as many
// positions as one of the vectors that it reads, so that reading that one checks the position.
bool recomputable(const RegionGraph& graph, const Node& producer, Access access) {
  if (producer.role != Role::Map) return false;
  std::uint32_t operations = producer.weight;
  bool checked = access == Access::Segment;  // segment numbers are always in range
  for (const Read& read : producer.reads) {
    if (read.producer != kOutside) {
      const Node& source = graph.nodes[read.producer];
      if (!source.in_kernel()) return false;
      if (!source.scalar) return false;
      operations += source.weight;
    }
    if (read.access == Access::Own && read.producer == kOutside) checked = true;
    if (read.access == Access::Segment || read.access == Access::Descriptor) return false;
  }
  return checked && operations <= kMaxRecomputedOperations;
}

// A map whose only reader takes each of its elements once at most.
bool pulled(const RegionGraph& graph, const Node& producer) {
  if (producer.role != Role::Map || producer.scalar || producer.output || producer.readers != 1) {
    return false;
  }
  return std::all_of(producer.reads.begin(), producer.reads.end(), [&](const Read& read) {
    if (read.access == Access::Segment || read.access == Access::Descriptor) return false;
    if (read.producer == kOutside || !graph.nodes[read.producer].in_kernel()) return true;
    return read.access == Access::Own && pulled(graph, graph.nodes[read.producer]);
  });
}

}  // namespace

bool fusible(const RegionGraph& graph, const Node& reader, const Read& read) {
  if (read.producer == kOutside) return true;
  const Node& producer = graph.nodes[read.producer];
  if (!reader.in_kernel() || !producer.in_kernel()) return false;
  const bool descriptor = read.access == Access::Descriptor;
  switch (producer.role) {
    case Role::Map:
      if (read.access == Access::Length || descriptor) return false;
      if (producer.scalar) return read.access != Access::Foreign;
      if (read.access == Access::Own) return producer.domain == reader.domain;
      if (reader.piece && read.access == Access::Foreign) {
        return pulled(graph, producer);
      }
      if (read.access == Access::Target) return true;  // as long as the target, by the length rules
      return recomputable(graph, producer, read.access);
    case Role::Scan:
    case Role::Random:  // a scalar has no index at which to read them
      return read.access == Access::Own && producer.domain == reader.domain && !reader.scalar;
    case Role::Reduce:
      return read.access == Access::Zero && reader.scalar && !read.size;
    case Role::Segments:
      return descriptor && producer.new_total;
    default:
      return false;
  }
}

Slot last_slot(const RegionGraph& graph, const Schedule& schedule) {
  Slot last = 0;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled()) last = std::max(last, schedule[i]);
  }
  return last;
}

std::vector<NodeIndex> in_order(const RegionGraph& graph, const Schedule& schedule) {
  const auto place = [&](NodeIndex i) {
    return 2 * std::size_t{schedule[i]} + (graph.nodes[i].in_kernel() ? 0 : 1);
  };
  std::vector<std::uint32_t> begin(2 * std::size_t{last_slot(graph, schedule)} + 3);  // by place
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled()) ++begin[place(i) + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<NodeIndex> order(begin.back());
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled()) order[begin[place(i)]++] = i;
  }
  return order;
}

Precedence::Precedence(const RegionGraph& graph) : graph_(graph) {
  const auto count = static_cast<NodeIndex>(graph.nodes.size());
  before_.begin.reserve(count + 1);
  for (NodeIndex i = 0; i < count; ++i) {
    before_.begin.push_back(static_cast<std::uint32_t>(before_.edges.size()));
    const Node& node = graph.nodes[i];
    if (!node.scheduled()) continue;
    for (const Read& read : node.reads) {
      if (read.producer == kOutside || !graph.nodes[read.producer].scheduled()) continue;
      // Instructions come behind the kernel of their slot.
      before_.edges.push_back({read.producer, !node.in_kernel() || fusible(graph, node, read)});
    }
    for (const NodeIndex first : node.after) {
      if (!graph.nodes[first].scheduled()) continue;
      before_.edges.push_back({first, !node.in_kernel() || graph.nodes[first].in_kernel()});
    }
    for (const NodeIndex first : node.apart) before_.edges.push_back({first, !node.in_kernel()});
  }
  before_.begin.push_back(static_cast<std::uint32_t>(before_.edges.size()));
  behind_ = reversed();
}

Precedence::Edges Precedence::reversed() const {
  const std::size_t count = graph_.nodes.size();
  Edges result;
  result.begin.assign(count + 1, 0);
  for (const Edge& edge : before_.edges) ++result.begin[edge.node + 1];
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  result.edges.resize(before_.edges.size());
  std::vector<std::uint32_t> next = result.begin;
  for (NodeIndex i = 0; i < count; ++i) {
    for (const Edge& edge : before_.of(i)) result.edges[next[edge.node]++] = {i, edge.together};
  }
  return result;
}

bool Precedence::follows(const Schedule& schedule, NodeIndex node, Slot slot) const {
  const auto edges = before_.of(node);
  return std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    return schedule[edge.node] < slot || (schedule[edge.node] == slot && edge.together);
  });
}

bool Precedence::precedes(const Schedule& schedule, NodeIndex node, Slot slot) const {
  const auto edges = behind_.of(node);
  return std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
    return slot < schedule[edge.node] || (slot == schedule[edge.node] && edge.together);
  });
}

ScheduleCheck::ScheduleCheck(const Precedence& precedence)
    : precedence_(precedence), graph_(precedence.graph()) {
  restart();
}

void ScheduleCheck::restart() {
  slots_.assign(graph_.nodes.size(), 0);
  states_.assign(graph_.nodes.size(), {});
  in_slot_.assign(graph_.nodes.size() + 1, {});
}

// May the reader be computed from what it reads in its kernel? Notes in what state it is then.
bool ScheduleCheck::joins(const Node& reader, const Read& read, Slot slot, State& state) const {
  if (read.producer == kOutside || !graph_.nodes[read.producer].scheduled()) return true;
  if (slots_[read.producer] != slot) return true;
  const State& source = states_[read.producer];
  if (source.after_reduce && (!reader.scalar || read.size)) return false;
  if (source.after_scan) {
    if (read.access != Access::Own) return false;
    if (reader.role == Role::Scan || reader.role == Role::Filter) return false;
  }
  if (reader.pointwise()) {
    state.after_scan |= source.after_scan;
    state.after_reduce |= source.after_reduce;
  }
  return true;
}

bool ScheduleCheck::has_room(const InSlot& used, const Node& node,
                             const std::vector<ValueId>& read) const {
  if (is_failing_draw(node) && used.failing_draws >= kMaxFailingDraws) return false;
  const std::size_t operands =
      used.results + node.statement->results.size() + used.read.size() + read.size();
  return used.nodes < kMaxKernelNodes && operands <= kMaxKernelOperands;
}

// Makes the node part of a kernel if it may be. To the operands it may add what it is the first to
// read from outside, and its results, which something outside may read.
bool ScheduleCheck::join(NodeIndex index, Slot slot, InSlot& used) {
  const Node& node = graph_.nodes[index];
  State state{node.role == Role::Scan, node.role == Role::Reduce};
  std::vector<ValueId> read_first;
  for (const Read& read : node.reads) {
    if (!joins(node, read, slot, state)) return false;
    const bool inside = read.producer != kOutside && graph_.nodes[read.producer].in_kernel() &&
                        slots_[read.producer] == slot;
    if (!inside && used.read.count(read.value) == 0) read_first.push_back(read.value);
  }
  if (!has_room(used, node, read_first)) return false;
  used.read.insert(read_first.begin(), read_first.end());
  used.results += static_cast<std::uint32_t>(node.statement->results.size());
  used.failing_draws += is_failing_draw(node);
  ++used.nodes;
  states_[index] = state;
  return true;
}

bool ScheduleCheck::place(NodeIndex index, Slot slot) {
  if (!precedence_.follows(slots_, index, slot)) return false;
  if (graph_.nodes[index].in_kernel()) {
    if (slot >= in_slot_.size()) in_slot_.resize(slot + 1);
    if (!join(index, slot, in_slot_[slot])) return false;
  }
  slots_[index] = slot;
  return true;
}

bool ScheduleCheck::legal_kernel(const Schedule& schedule, std::span<const NodeIndex> members) {
  slots_ = schedule;
  InSlot used;
  return std::all_of(members.begin(), members.end(),
                     [&](NodeIndex i) { return join(i, schedule[i], used); });
}

bool ScheduleCheck::legal(const Schedule& schedule) {
  restart();
  for (NodeIndex i = 0; i < graph_.nodes.size(); ++i) {
    if (graph_.nodes[i].scheduled() && !place(i, schedule[i])) return false;
  }
  return true;
}

bool legal(const RegionGraph& graph, const Schedule& schedule) {
  return ScheduleCheck(Precedence(graph)).legal(schedule);
}

}  // namespace fcode
