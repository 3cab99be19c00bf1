// Placing columns: building short sequences out of vectors (fcode.md, O-13).
//
// A scatter that puts each segment as one piece into a segment of a few elements can be turned
// round: an element of the target is one of the piece, or what was there before. So can replacing
// one element of each such segment. These maps need no pass of their own. Of long segments a
// scatter is better, which copies whole pieces, and REPLACE, which writes into its operand.
#pragma once

#include <cstdint>
#include <optional>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// Longer target segments are left to the operations.
inline constexpr std::int64_t kLongestPieceTarget = 8;

/// Elements [start, start + length) of each target segment of `target` elements.
struct Piece {
  std::int64_t start = 0, length = 0, target = 0;
  ValueId data = 0;    // the elements of all pieces
  ValueId index = 0;   // where they go: known, but part of the operation
  ValueId before = 0;  // what is elsewhere, as long as the target
  ValueId into = 0;    // the descriptor of the target
  ValueId from = 0;    // that of the data; of REPLACE, which has none, `into` once more
};

/// What a DPERMUTE or REPLACE copies; nothing for other statements and where it is not known.
std::optional<Piece> piece_of(const Statement& statement, Shapes& shapes);

}  // namespace fcode
