#include "fcode-opt/fusion/descent.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {
namespace {

// Rounds of moving single nodes; each is quadratic in the size of the region.
constexpr int kRounds = 4;
// Places at which a kernel may be cut that are tried at once.
constexpr std::size_t kMostCuts = 16;
// So many bytes too much are not worth another kernel.
constexpr std::int64_t kLittleExcess = (kKernelCost + kPassCost) / kHeldByteCost;

// Takes the schedule if it is legal and cheaper.
bool take(const Pricing& pricing, Choice& choice, Schedule schedule) {
  if (!legal(pricing.graph(), schedule)) return false;
  const std::int64_t price = pricing.price(schedule, choice.price);
  if (price >= choice.price) return false;
  choice.schedule = std::move(schedule);
  choice.price = price;
  return true;
}

// ---- single nodes ----

// To kernels that are at most so many slots away.
void move_nodes(const Pricing& pricing, Choice& choice, Slot distance) {
  const RegionGraph& graph = pricing.graph();
  for (int round = 0; round < kRounds; ++round) {
    bool better = false;
    for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
      if (!graph.nodes[i].in_kernel()) continue;
      const Slot here = choice.schedule[i];
      const Slot last = last_slot(graph, choice.schedule);
      const Slot to = last - here > distance ? here + distance : last;
      for (Slot slot = here - std::min(here, distance); slot <= to; ++slot) {
        if (slot == choice.schedule[i]) continue;
        Schedule schedule = choice.schedule;
        schedule[i] = slot;
        better |= take(pricing, choice, std::move(schedule));
      }
    }
    if (!better) return;
  }
}

// ---- nodes with those in their way ----

// The schedule with a node in another slot: what it reads comes no later, and what comes out of
// place by that gets the next slot that it may have. Nothing if slots behind `limit` were needed.
std::optional<Schedule> moved_together(const RegionGraph& graph, Schedule schedule, NodeIndex node,
                                       Slot slot, Slot limit) {
  std::vector<bool> moves(node + 1);
  moves[node] = true;
  for (NodeIndex i = node + 1; i-- > 0;) {
    if (!moves[i]) continue;
    schedule[i] = slot;
    const auto pull = [&](NodeIndex before) {
      if (schedule[before] > slot) moves[before] = true;
    };
    for (const Read& read : graph.nodes[i].reads) {
      if (read.producer != kOutside) pull(read.producer);
    }
    for (const NodeIndex before : graph.nodes[i].after) pull(before);
  }
  ScheduleCheck check(graph);
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].scheduled()) continue;
    while (!check.place(i, schedule[i])) {
      if (++schedule[i] > limit) return std::nullopt;
    }
  }
  return schedule;
}

void move_together(const Pricing& pricing, Choice& choice) {
  const RegionGraph& graph = pricing.graph();
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].scheduled()) continue;
    const Slot last = last_slot(graph, choice.schedule);
    for (Slot slot = 0; slot <= last; ++slot) {
      if (slot == choice.schedule[i]) continue;
      auto schedule = moved_together(graph, choice.schedule, i, slot, last + 2);
      if (schedule) take(pricing, choice, std::move(*schedule));
    }
  }
}

// ---- whole kernels ----

Schedule joined(const RegionGraph& graph, const Schedule& schedule, Slot from, Slot to) {
  Schedule result = schedule;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].in_kernel() && schedule[i] == from) result[i] = to;
  }
  return result;
}

void leave_out_empty_slots(const RegionGraph& graph, Schedule& schedule) {
  std::vector<Slot> number(last_slot(graph, schedule) + 1);
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled()) number[schedule[i]] = 1;
  }
  Slot next = 0;
  for (Slot& slot : number) slot = slot != 0 ? next++ : next;
  for (Slot& slot : schedule) slot = number[std::min<std::size_t>(slot, number.size() - 1)];
}

// Kernels that are at most so many slots from each other. True if any were joined.
bool join_kernels(const Pricing& pricing, Choice& choice, Slot distance) {
  const RegionGraph& graph = pricing.graph();
  const std::int64_t before = choice.price;
  const Slot last = last_slot(graph, choice.schedule);
  for (Slot second = 1; second <= last; ++second) {
    for (Slot first = second - std::min(distance, second); first < second; ++first) {
      if (take(pricing, choice, joined(graph, choice.schedule, second, first))) continue;
      take(pricing, choice, joined(graph, choice.schedule, first, second));
    }
  }
  leave_out_empty_slots(graph, choice.schedule);
  return choice.price < before;
}

// Members of the kernel in the slot, in program order.
std::vector<NodeIndex> kernel_in(const RegionGraph& graph, const Schedule& schedule, Slot slot) {
  std::vector<NodeIndex> members;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].in_kernel() && schedule[i] == slot) members.push_back(i);
  }
  return members;
}

// The kernel in the slot without its nodes from `first` on, which get a slot of their own behind
// it, in front of the slot's instructions.
Schedule cut(const RegionGraph& graph, const Schedule& schedule, Slot slot, NodeIndex first) {
  Schedule result = schedule;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    const bool stays = graph.nodes[i].in_kernel() && i < first;
    if (schedule[i] > slot || (schedule[i] == slot && !stays)) ++result[i];
  }
  return result;
}

// The best cut through the kernel of a slot. False if there is none that pays.
bool cut_slot(const Pricing& pricing, Choice& choice, Slot slot) {
  const RegionGraph& graph = pricing.graph();
  const std::vector<NodeIndex> members = kernel_in(graph, choice.schedule, slot);
  const std::size_t step = members.size() / kMostCuts + 1;
  const Schedule whole = choice.schedule;
  bool pays = false;
  for (std::size_t k = step; k < members.size(); k += step) {
    pays |= take(pricing, choice, cut(graph, whole, slot, members[k]));
  }
  return pays;
}

// Cuts kernels in two where too much is held, as long as that pays.
void relieve(const Pricing& pricing, Choice& choice) {
  const std::size_t most = pricing.graph().nodes.size();
  for (std::size_t round = 0; round < most; ++round) {
    const MemoryModel::Excess excess = pricing.excess(choice.schedule);
    if (excess.bytes < kLittleExcess) return;
    // What is held there may have come into being earlier.
    bool better = false;
    for (Slot slot = excess.slot + 1; slot-- > 0 && !better;) {
      better = cut_slot(pricing, choice, slot);
    }
    if (!better) return;
  }
}

}  // namespace

void descend(const Pricing& pricing, Choice& choice) {
  const std::size_t nodes = pricing.graph().scheduled_nodes();
  const Slot distance = nodes > kManyNodes ? 1 : static_cast<Slot>(nodes);
  for (std::int64_t before = choice.price + 1; choice.price < before;) {
    before = choice.price;
    move_nodes(pricing, choice, distance);
    relieve(pricing, choice);
    join_kernels(pricing, choice, distance);
    if (choice.price == before && nodes <= kNodesMovedTogether) move_together(pricing, choice);
  }
}

void join_neighbours(const Pricing& pricing, Choice& choice) {
  while (join_kernels(pricing, choice, 1)) {
  }
}

}  // namespace fcode
