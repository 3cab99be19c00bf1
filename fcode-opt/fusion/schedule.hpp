// Choosing what to fuse.
//
// The slot form of Robinson, Lippmeier and Keller ("Fusing Filters with Integer Linear
// Programming", 2014): every node gets the number of the kernel that computes it, under the
// constraints of legality.hpp and at the least price: what it costs (cost.hpp) and what it holds
// more than the operations one by one (memory.hpp). Small regions are solved exactly by branch and
// bound; larger ones start from two greedy schedules and are improved node by node.
#pragma once

#include <array>

#include "fcode-opt/fusion/cost.hpp"
#include "fcode-opt/fusion/memory.hpp"

namespace fcode {

/// Regions with at most so many scheduled nodes are solved exactly …
inline constexpr std::size_t kExactNodes = 12;
/// … unless the search takes more steps than this; then the best found so far is improved.
inline constexpr std::size_t kExactSteps = 20000;

struct Choice {
  Schedule schedule;
  std::int64_t price = 0;
  bool exact = false;  // there is no cheaper one
};

/// A region and what is to be known of it for the price of a schedule.
class Pricing {
 public:
  explicit Pricing(const RegionGraph& graph);
  const RegionGraph& graph() const { return graph_; }
  /// Above `limit` it may be any number above `limit`.
  std::int64_t price(const Schedule& schedule, std::int64_t limit) const;
  std::int64_t price(const Schedule& schedule) const;
  /// The greatest for all that a run may decide.
  MemoryModel::Excess excess(const Schedule& schedule) const;

 private:
  const RegionGraph& graph_;
  std::array<MemoryModel, 3> models_;
};

Choice choose_schedule(const RegionGraph& graph);

/// The parts, for tests: each node as early as it may be, …
Schedule earliest_schedule(const RegionGraph& graph);
/// … as late as its readers let it, …
Schedule latest_schedule(const RegionGraph& graph);
/// … and steps from one schedule to better ones, a node at a time.
void improve(const Pricing& pricing, Choice& choice);
/// Cuts kernels in two where too much is held, as long as that pays.
void relieve(const Pricing& pricing, Choice& choice);
/// False when the search was given up.
bool search(const Pricing& pricing, Choice& choice);

}  // namespace fcode
