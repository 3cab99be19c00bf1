// Choosing what to fuse.
//
// The slot form of Robinson, Lippmeier and Keller ("Fusing Filters with Integer Linear
// Programming", 2014): every node gets the number of the kernel that computes it, under the
// constraints of legality.hpp and at the least cost (cost.hpp). Small regions are solved exactly by
// branch and bound; larger ones start from two greedy schedules and are improved node by node.
#pragma once

#include "fcode-opt/fusion/cost.hpp"

namespace fcode {

/// Regions with at most so many scheduled nodes are solved exactly …
inline constexpr std::size_t kExactNodes = 12;
/// … unless the search takes more steps than this; then the best found so far is improved.
inline constexpr std::size_t kExactSteps = 20000;

struct Choice {
  Schedule schedule;
  std::int64_t cost = 0;
  bool exact = false;  // there is no cheaper one
};

Choice choose_schedule(const RegionGraph& graph);

/// The parts, for tests: each node as early as it may be, …
Schedule earliest_schedule(const RegionGraph& graph);
/// … as late as its readers let it, …
Schedule latest_schedule(const RegionGraph& graph);
/// … and steps from one schedule to better ones, a node at a time.
void improve(const RegionGraph& graph, Choice& choice);
/// False when the search was given up.
bool search(const RegionGraph& graph, Choice& choice);

}  // namespace fcode
