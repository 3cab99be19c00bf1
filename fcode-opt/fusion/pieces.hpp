// Scatters that are turned round: their result is made when it is read.
//
// Placing columns: building short sequences out of vectors (fcode.md, O-13). A scatter that puts
// each segment as one piece into a segment of a few elements can be turned round: an element of the
// target is one of the piece, or what was there before. So can replacing one element of each such
// segment. These maps need no pass of their own. Of long segments a scatter is better, which copies
// whole pieces, and REPLACE, which writes into its operand.
//
// Joining vectors, as `[0] ++ take(v, #v - 1)`, `rotate` and code for nested sequences do
// (neslc/flatten/fetched_elements.hpp): an element of the joined vector is one of the first, or
// else one of the second, and is read where it is. If one of these is a slice of a longer vector,
// it is read there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

/// A result that is never made: its elements are read where they lie.
struct View {
  enum class Kind : std::uint8_t {
    Join,   // the second of two scatters, which have put `first` in front and `second` behind it;
            // there is nothing else
    Half,   // the first of them, whose result only the second one reads
    Slice,  // elements of a vector in order, which only joins read
  };
  Kind kind = Kind::Join;
  ValueId first = 0, second = 0;  // of a Join
};

/// By statement: whether its result is a view. It is made if anything reads it but by elements.
/// `outside_uses[v]`: how often v is read by others than these statements.
std::vector<std::optional<View>> find_views(std::span<const Statement> statements, Shapes& shapes,
                                            const std::vector<std::uint32_t>& outside_uses);

}  // namespace fcode
