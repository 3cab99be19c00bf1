// Choosing what to fuse.
//
// The slot form of Robinson, Lippmeier and Keller ("Fusing Filters with Integer Linear
// Programming", 2014): every node gets the number of the kernel that computes it, under the
// constraints of legality.hpp and at the least price (pricing.hpp). Small regions are solved
// exactly by branch and bound; in larger ones the best of several ways down is taken (descent.hpp).
#pragma once

#include "fcode-opt/fusion/pricing.hpp"

namespace fcode {

/// Regions with at most so many scheduled nodes are solved exactly …
inline constexpr std::size_t kExactNodes = 12;
/// … unless the search takes more steps than this; then the best that was found is taken.
inline constexpr std::size_t kExactSteps = 20000;
/// Up to so many scheduled nodes one way down begins at the statements one by one.
inline constexpr std::size_t kNodesInOrder = 64;

Choice choose_schedule(const RegionGraph& graph);

/// The parts, for tests: each node as early as it may be, …
Schedule earliest_schedule(const RegionGraph& graph);
/// … as late as its readers let it, …
Schedule latest_schedule(const RegionGraph& graph);
/// … or by itself, in program order.
Schedule schedule_in_order(const RegionGraph& graph);
/// False when the search was given up.
bool search(const Pricing& pricing, Choice& choice);

}  // namespace fcode
