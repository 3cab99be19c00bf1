// Choosing what to fuse.
//
// The slot form of Robinson, Lippmeier and Keller ("Fusing Filters with Integer Linear
// Programming", 2014): every node gets the number of the kernel that computes it, under the
// constraints of legality.hpp and at a low price (pricing.hpp): the best that is found from several
// schedules on, by steps that make them cheaper (local_search.hpp).
#pragma once

#include "fcode-opt/fusion/pricing.hpp"

namespace fcode {

/// Up to so many scheduled nodes one way down begins at the statements one by one.
inline constexpr std::size_t kNodesInOrder = 64;

/// `similar`: what was chosen for a graph of as many nodes that differs from this one in few
/// things; the way begins there, if there is one.
Choice choose_schedule(const RegionGraph& graph, const Schedule& similar = {});

/// The parts, for tests: each node as early as it may be, and not before the slot that it has, …
Schedule earliest_schedule(const Precedence& precedence, Schedule from = {});
/// … as late as its readers let it, …
Schedule latest_schedule(const Precedence& precedence);
/// … or by itself, in program order.
Schedule schedule_in_order(const RegionGraph& graph);

}  // namespace fcode
