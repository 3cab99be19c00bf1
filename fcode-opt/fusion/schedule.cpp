#include "fcode-opt/fusion/schedule.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace fcode {
namespace {

// Rounds of improvement over all nodes; each round is quadratic in the size of the region.
constexpr int kRounds = 4;
// Beyond this many nodes only moves to slots of neighbours are tried.
constexpr std::size_t kManyNodes = 300;
// Places at which a kernel may be cut that are tried at once.
constexpr std::size_t kMostCuts = 16;
// So many bytes too much are not worth another kernel.
constexpr std::int64_t kLittleExcess = (kKernelCost + kPassCost) / kHeldByteCost;

Slot last_slot(const RegionGraph& graph, const Schedule& schedule) {
  Slot last = 0;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled()) last = std::max(last, schedule[i]);
  }
  return last;
}

class Search {
 public:
  Search(const Pricing& pricing, Choice& best)
      : pricing_(pricing),
        graph_(pricing.graph()),
        best_(best),
        slots_(last_slot(graph_, best.schedule) + 2),
        check_(graph_),
        current_(graph_.nodes.size(), 0) {}

  bool run() {
    visit(0);
    return steps_ < kExactSteps;
  }

 private:
  void visit(NodeIndex at) {
    while (at < graph_.nodes.size() && !graph_.nodes[at].scheduled()) ++at;
    const std::int64_t so_far = cost(graph_, current_, at);
    if (so_far >= best_.price || steps_ >= kExactSteps) return;
    ++steps_;
    if (at == graph_.nodes.size()) {
      const std::int64_t price = pricing_.price(current_, best_.price);
      if (price >= best_.price) return;
      best_.schedule = current_;
      best_.price = price;
      return;
    }
    for (Slot slot = 0; slot < slots_; ++slot) {
      if (!check_.place(at, slot)) continue;
      current_[at] = slot;
      visit(at + 1);
      check_.take_back(at);
    }
    current_[at] = 0;
  }

  const Pricing& pricing_;
  const RegionGraph& graph_;
  Choice& best_;
  Slot slots_;  // one more than the earliest schedule needs: leaving room never has to cost
  ScheduleCheck check_;
  Schedule current_;
  std::size_t steps_ = 0;
};

}  // namespace

Schedule earliest_schedule(const RegionGraph& graph) {
  ScheduleCheck check(graph);
  Schedule schedule(graph.nodes.size(), 0);
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (!graph.nodes[i].scheduled()) continue;
    for (const Read& read : graph.nodes[i].reads) {
      if (read.producer != kOutside && graph.nodes[read.producer].scheduled()) {
        schedule[i] = std::max(schedule[i], schedule[read.producer]);
      }
    }
    for (const NodeIndex after : graph.nodes[i].after) {
      schedule[i] = std::max(schedule[i], schedule[after]);
    }
    while (!check.place(i, schedule[i])) ++schedule[i];
  }
  return schedule;
}

Schedule latest_schedule(const RegionGraph& graph) {
  Schedule schedule = earliest_schedule(graph);
  std::vector<Slot> latest(graph.nodes.size(), last_slot(graph, schedule));
  for (NodeIndex i = static_cast<NodeIndex>(graph.nodes.size()); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (!node.scheduled()) continue;
    // Results of the region and everything that is not elementwise keep their place: there is
    // nothing to gain, and waiting keeps operands alive.
    const bool moves = (node.role == Role::Map || node.role == Role::Random) && !node.output;
    if (!moves) latest[i] = schedule[i];
    const Slot wanted = std::max(latest[i], schedule[i]);
    for (Slot slot = wanted; slot > schedule[i]; --slot) {
      const Slot before = std::exchange(schedule[i], slot);
      if (legal(graph, schedule)) break;
      schedule[i] = before;
    }
    for (const Read& read : node.reads) {
      if (read.producer == kOutside) continue;
      const bool inside = !node.in_kernel() || fusible(graph, node, read);
      const Slot limit = inside || schedule[i] == 0 ? schedule[i] : schedule[i] - 1;
      latest[read.producer] = std::min(latest[read.producer], limit);
    }
  }
  return schedule;
}

void improve(const Pricing& pricing, Choice& choice) {
  const RegionGraph& graph = pricing.graph();
  const std::size_t count = graph.nodes.size();
  for (int round = 0; round < kRounds; ++round) {
    bool better = false;
    for (NodeIndex i = 0; i < count; ++i) {
      if (!graph.nodes[i].in_kernel()) continue;
      const Slot here = choice.schedule[i];
      const Slot last = last_slot(graph, choice.schedule);
      const Slot from = count > kManyNodes && here > 0 ? here - 1 : 0;
      const Slot to = count > kManyNodes ? std::min(here + 1, last) : last;
      for (Slot slot = from; slot <= to; ++slot) {
        const Slot before = std::exchange(choice.schedule[i], slot);
        if (slot != before && legal(graph, choice.schedule)) {
          const std::int64_t price = pricing.price(choice.schedule, choice.price);
          if (price < choice.price) {
            choice.price = price;
            better = true;
            continue;
          }
        }
        choice.schedule[i] = before;
      }
    }
    if (!better) return;
  }
}

namespace {

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
  Choice best = choice;
  for (std::size_t k = step; k < members.size(); k += step) {
    Schedule schedule = cut(graph, choice.schedule, slot, members[k]);
    if (!legal(graph, schedule)) continue;
    const std::int64_t price = pricing.price(schedule, best.price);
    if (price < best.price) best = {std::move(schedule), price, false};
  }
  const bool pays = best.price < choice.price;
  choice = std::move(best);
  return pays;
}

}  // namespace

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

bool search(const Pricing& pricing, Choice& choice) {
  return Search(pricing, choice).run();
}

Pricing::Pricing(const RegionGraph& graph)
    : graph_(graph),
      models_{MemoryModel(graph, {{.int_bytes = 4}, false}),
              MemoryModel(graph, {{.int_bytes = 8}, false}),
              MemoryModel(graph, {{.int_bytes = 4}, true})} {}

std::int64_t Pricing::price(const Schedule& schedule, std::int64_t limit) const {
  const std::int64_t moved = cost(graph_, schedule);
  if (moved >= limit) return moved;
  return moved + kHeldByteCost * excess(schedule).bytes;
}

MemoryModel::Excess Pricing::excess(const Schedule& schedule) const {
  MemoryModel::Excess most;
  for (const MemoryModel& model : models_) {
    const MemoryModel::Excess excess = model.excess(schedule);
    if (excess.bytes > most.bytes) most = excess;
  }
  return most;
}

std::int64_t Pricing::price(const Schedule& schedule) const {
  return price(schedule, std::numeric_limits<std::int64_t>::max());
}

Choice choose_schedule(const RegionGraph& graph) {
  const Pricing pricing(graph);
  Choice best{earliest_schedule(graph), 0, false};
  best.price = pricing.price(best.schedule);
  Choice late{latest_schedule(graph), 0, false};
  late.price = pricing.price(late.schedule);
  if (late.price < best.price) best = std::move(late);
  std::size_t scheduled = 0;
  for (const Node& node : graph.nodes) scheduled += node.scheduled();
  if (scheduled <= kExactNodes) best.exact = search(pricing, best);
  if (!best.exact) {
    improve(pricing, best);
    const std::int64_t before = best.price;
    relieve(pricing, best);
    if (best.price < before) improve(pricing, best);
  }
  return best;
}

}  // namespace fcode
