// Steps from one schedule to cheaper ones, for regions that are too large to be solved exactly.
#pragma once

#include "fcode-opt/fusion/pricing.hpp"

namespace fcode {

/// Beyond so many scheduled nodes only kernels that are neighbours exchange nodes and are joined.
inline constexpr std::size_t kManyNodes = 300;
/// Up to so many scheduled nodes are moved together with those that are in their way, too.
inline constexpr std::size_t kNodesMovedTogether = 40;

/// Changes the choice as long as that makes it cheaper: nodes go to other kernels, kernels are
/// joined, and cut where too much is held.
void descend(const Pricing& pricing, Choice& choice);

/// Joins each kernel with the next one where that makes the choice cheaper: the way from single
/// statements, in their order, to kernels.
void join_neighbours(const Pricing& pricing, Choice& choice);

}  // namespace fcode
