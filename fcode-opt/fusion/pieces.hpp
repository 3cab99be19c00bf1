// Scatters of columns: building short sequences out of vectors (fcode.md, O-13).
//
// A scatter that puts each segment as one piece into a segment of a few elements can be turned
// round: an element of the target is one of the piece, or the default. Such a map needs no pass of
// its own. Of long segments a scatter is better: it copies whole pieces.
#pragma once

#include <cstdint>
#include <optional>

#include "fcode-opt/ir.hpp"
#include "fcode-opt/shapes/shapes.hpp"

namespace fcode {

/// Longer target segments are left to scatters.
inline constexpr std::int64_t kLongestPieceTarget = 8;

/// Elements [start, start + length) of each target segment of `target` elements.
struct Piece {
  std::int64_t start = 0, length = 0, target = 0;
};

/// The operands of a DPERMUTE.
inline constexpr std::size_t kPieceData = 0, kPieceIndex = 1, kPieceDefault = 2, kPieceFrom = 3,
                             kPieceInto = 4;

/// What a DPERMUTE copies; nothing for other statements and where it is not known.
std::optional<Piece> piece_of(const Statement& statement, Shapes& shapes);

}  // namespace fcode
