#include "fcode-opt/fusion/schedule.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/cost.hpp"
#include "fcode-opt/fusion/local_search.hpp"

namespace fcode {

Schedule earliest_schedule(const Precedence& precedence, Schedule schedule) {
  const RegionGraph& graph = precedence.graph();
  ScheduleCheck check(precedence);
  schedule.resize(graph.nodes.size());
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

Schedule latest_schedule(const Precedence& precedence) {
  const RegionGraph& graph = precedence.graph();
  ScheduleCheck check(precedence);
  Schedule schedule = earliest_schedule(precedence);
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
      if (precedence.fits(schedule, i, slot) && check.legal(schedule)) break;
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

Schedule schedule_in_order(const RegionGraph& graph) {
  Schedule schedule(graph.nodes.size(), 0);
  Slot next = 0;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].scheduled()) schedule[i] = next++;
  }
  return schedule;
}

Choice choose_schedule(const RegionGraph& graph, const Schedule& similar) {
  const Pricing pricing(graph);
  const std::size_t nodes = graph.scheduled_nodes();
  const auto priced = [&](Schedule schedule) {
    const std::int64_t price = pricing.price(schedule);
    return Choice{std::move(schedule), price};
  };
  const Precedence& precedence = pricing.precedence();
  Choice best = priced(earliest_schedule(precedence, similar));
  if (similar.empty()) {
    const auto cheaper = [](const Choice& a, const Choice& b) { return a.price < b.price; };
    best = std::min(best, priced(latest_schedule(precedence)), cheaper);
    if (nodes <= kNodesInOrder) {
      Choice joined = priced(schedule_in_order(graph));
      join_neighbours(pricing, joined);
      if (nodes <= kSmallRegion) {
        for (Choice* choice : {&best, &joined}) descend(pricing, *choice);
      }
      best = std::min(best, joined, cheaper);
    }
  }
  if (nodes > kSmallRegion) {
    descend(pricing, best);
  } else {
    descend_further(pricing, best);
  }
  return best;
}

}  // namespace fcode
