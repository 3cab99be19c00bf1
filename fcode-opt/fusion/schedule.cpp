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
    if (const NodeIndex after = graph.nodes[i].after; after != kOutside) {
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
    const bool moves = node.role == Role::Map && !node.output;
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

bool search(const Pricing& pricing, Choice& choice) {
  return Search(pricing, choice).run();
}

Pricing::Pricing(const RegionGraph& graph) : graph_(graph), narrow_(graph, 4), wide_(graph, 8) {}

std::int64_t Pricing::price(const Schedule& schedule, std::int64_t limit) const {
  const std::int64_t moved = cost(graph_, schedule);
  if (moved >= limit) return moved;
  return moved + kHeldByteCost * std::max(narrow_.excess(schedule), wide_.excess(schedule));
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
  if (!best.exact) improve(pricing, best);
  return best;
}

}  // namespace fcode
