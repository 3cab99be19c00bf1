// From one schedule to cheaper ones, step by step.
#pragma once

#include "fcode-opt/fusion/pricing.hpp"

namespace fcode {

/// In regions of up to so many scheduled nodes these go to any other kernel.
inline constexpr std::size_t kSmallRegion = 30;
/// Kernels that are joined are at most so many slots away from each other, …
inline constexpr Slot kMostDistance = 4;
/// … and nodes of larger regions go to the kernels of so many others that have to do with them.
inline constexpr std::size_t kMostRelated = 12;

/// Changes the choice as long as that makes it cheaper: nodes go to the kernels of nodes that they
/// have to do with, maps also with those that are made for them, kernels are joined, and cut where
/// too much is held. What a change saves is worked out from the kernels that it changes.
void descend(const Pricing& pricing, Choice& choice);

/// For small regions, after descend(): nodes also go to other kernels together with those in their
/// way.
void descend_further(const Pricing& pricing, Choice& choice);

/// Joins each kernel with the next one where that makes the choice cheaper, in large regions
/// whatever is held then: the way from single statements, in their order, to kernels.
void join_neighbours(const Pricing& pricing, Choice& choice);

}  // namespace fcode
