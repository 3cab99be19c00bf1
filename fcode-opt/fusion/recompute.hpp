// Cheap vectors that are made again instead of kept.
//
// What is reduced and then compared with its reduction is read in two passes:
//
//   distance = |x - c|                     for each center c of each point x
//   least = MIN_REDUCE(distance)
//   nearest = (distance = DIST(least))
//
// Between them `distance` would have to be stored, for all pairs. The second pass computes it
// again, and nothing longer than points and centers is held (Briggs, Cooper and Torczon,
// "Rematerialization", PLDI 1992, do so for registers).
//
// What reads no vector at all, such as the places of a column of a matrix, is made by each pass
// that wants it, whatever keeps these apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// Gives readers that depend on a reduction of a vector, or of anything if the vector is made of
/// positions and numbers, a copy of what makes its elements: some operations, none of them slow, on
/// at most one vector that is as long and whose elements take no more room. Vectors that must exist
/// for another reason stay. The statements [begin, end) of the block have been passed by the walk,
/// and none is a barrier; `end` moves behind what is added. `uses`: count_uses() of the function,
/// without what was added by this.
void recompute(Function& function, const std::vector<std::uint32_t>& uses, Shapes& shapes,
               Block& block, std::size_t begin, std::size_t& end);

}  // namespace fcode
