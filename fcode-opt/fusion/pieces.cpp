#include "fcode-opt/fusion/pieces.hpp"

#include "ir/tools.hpp"

namespace fcode {
namespace {

// Where the index vector puts the first element of each segment, if the others follow it.
std::optional<std::int64_t> start_of(ValueId index, ValueId from, Shapes& shapes) {
  if (shapes.known_element(from) == 1 && shapes.same_length(from, index))
    return shapes.known_element(index);
  const Definition* made = shapes.definition(index);
  if (!made || !made->is(Op::Index)) return std::nullopt;
  const ValueId start = made->operands[0], step = made->operands[1], over = made->operands[2];
  const bool in_order = shapes.known_element(step) == 1 && shapes.same_segments(over, from) &&
                        shapes.same_length(over, start) && shapes.same_length(over, step);
  return in_order ? shapes.known_element(start) : std::nullopt;
}

std::optional<Piece> scattered(const Statement& statement, Shapes& shapes) {
  Piece piece;
  piece.data = statement.operands[0];
  piece.index = statement.operands[1];
  piece.before = statement.operands[2];
  piece.from = statement.operands[3];
  piece.into = statement.operands[4];
  const auto length = shapes.known_element(piece.from);
  const auto start = start_of(piece.index, piece.from, shapes);
  if (!start || !length || !shapes.same_length(piece.from, piece.into)) return std::nullopt;
  piece.start = *start;
  piece.length = *length;
  return piece;
}

std::optional<Piece> replaced(const Statement& statement, Shapes& shapes) {
  Piece piece;
  piece.before = statement.operands[0];
  piece.index = statement.operands[1];
  piece.data = statement.operands[2];
  piece.from = piece.into = statement.operands[3];
  const auto start = shapes.known_element(piece.index);
  if (!start) return std::nullopt;
  piece.start = *start;
  piece.length = 1;
  return piece;
}

}  // namespace

std::optional<Piece> piece_of(const Statement& statement, Shapes& shapes) {
  if (statement.kind != Statement::Kind::Op) return std::nullopt;
  std::optional<Piece> piece;
  if (statement.op == Op::DPermute) piece = scattered(statement, shapes);
  if (statement.op == Op::Replace) piece = replaced(statement, shapes);
  if (!piece || shapes.is_scalar(statement.results[0])) return std::nullopt;
  const auto target = shapes.known_element(piece->into);
  if (!target || *target > kLongestPieceTarget) return std::nullopt;
  piece->target = *target;
  const bool inside =
      piece->start >= 0 && piece->length >= 1 && piece->start <= piece->target - piece->length;
  return inside ? piece : std::nullopt;
}

}  // namespace fcode
