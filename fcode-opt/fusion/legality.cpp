#include "fcode-opt/fusion/legality.hpp"

#include <algorithm>

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
      return read.access == Access::Zero && reader.scalar;
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

ScheduleCheck::ScheduleCheck(const RegionGraph& graph)
    : graph_(graph),
      states_(graph.nodes.size()),
      nodes_in_slot_(graph.nodes.size() + 1),
      operands_in_slot_(graph.nodes.size() + 1),
      failing_draws_in_slot_(graph.nodes.size() + 1) {}

bool ScheduleCheck::allowed(const Node& reader, const Read& read, Slot slot, State& state) const {
  if (read.producer == kOutside) return true;
  const Node& producer = graph_.nodes[read.producer];
  if (!producer.scheduled()) return true;
  const State& source = states_[read.producer];
  if (source.slot < slot) return true;
  if (source.slot > slot) return false;
  if (!reader.in_kernel()) return true;  // instructions come behind the kernel of their slot
  if (!fusible(graph_, reader, read)) return false;
  if (source.after_reduce && !reader.scalar) return false;
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

// Instructions come behind the kernel of their slot.
bool ScheduleCheck::in_order(const Node& node, Slot slot) const {
  return std::all_of(node.after.begin(), node.after.end(), [&](NodeIndex index) {
    const Node& first = graph_.nodes[index];
    if (!first.scheduled()) return true;
    const Slot before = states_[index].slot;
    return node.in_kernel() && !first.in_kernel() ? before < slot : before <= slot;
  });
}

bool ScheduleCheck::allowed(NodeIndex index, Slot slot, State& state) const {
  const Node& node = graph_.nodes[index];
  state = {slot, node.role == Role::Scan, node.role == Role::Reduce};
  if (!in_order(node, slot)) return false;
  for (const Read& read : node.reads) {
    if (!allowed(node, read, slot, state)) return false;
  }
  if (!node.in_kernel()) return true;
  if (slot < nodes_in_slot_.size() && is_failing_draw(node) &&
      failing_draws_in_slot_[slot] >= kMaxFailingDraws) {
    return false;
  }
  return slot < nodes_in_slot_.size() && nodes_in_slot_[slot] < kMaxKernelNodes &&
         operands_in_slot_[slot] + operands(node, slot) <= kMaxKernelOperands;
}

// What the node may add to them: what it reads from outside, and its results, which something
// outside may read.
std::uint32_t ScheduleCheck::operands(const Node& node, Slot slot) const {
  const auto inside = [&](const Read& read) {
    if (read.producer == kOutside) return false;
    const Node& producer = graph_.nodes[read.producer];
    return producer.scheduled() && producer.in_kernel() && states_[read.producer].slot == slot;
  };
  const auto read = node.reads.size() - static_cast<std::size_t>(std::count_if(
                                            node.reads.begin(), node.reads.end(), inside));
  return static_cast<std::uint32_t>(read + node.statement->results.size());
}

bool ScheduleCheck::place(NodeIndex index, Slot slot) {
  State state;
  if (!allowed(index, slot, state)) return false;
  states_[index] = state;
  const Node& node = graph_.nodes[index];
  if (node.in_kernel()) {
    ++nodes_in_slot_[slot];
    failing_draws_in_slot_[slot] += is_failing_draw(node);
    operands_in_slot_[slot] += operands(node, slot);
  }
  return true;
}

bool legal(const RegionGraph& graph, const Schedule& schedule) {
  ScheduleCheck check(graph);
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled() && !check.place(i, schedule[i])) return false;
  }
  return true;
}

}  // namespace fcode
