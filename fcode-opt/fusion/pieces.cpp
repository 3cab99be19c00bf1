#include "fcode-opt/fusion/pieces.hpp"

#include "fcode-opt/ir_tools.hpp"

namespace fcode {
namespace {

// The number that all elements of a vector are, or all lengths of segments.
std::optional<std::int64_t> number(ValueId value, Shapes& shapes) {
  const std::optional<Linear> element = shapes.element(value);
  return element ? shapes.equations.number(*element) : std::nullopt;
}

// Where the index vector puts the first element of each segment, if the others follow it.
std::optional<std::int64_t> start_of(ValueId index, ValueId from, Shapes& shapes) {
  if (number(from, shapes) == 1 && shapes.same_length(from, index)) return number(index, shapes);
  const Definition* made = shapes.definition(index);
  if (!made || !made->is(Op::Index)) return std::nullopt;
  const ValueId start = made->operands[0], step = made->operands[1], over = made->operands[2];
  const bool in_order = number(step, shapes) == 1 && shapes.same_segments(over, from) &&
                        shapes.same_length(over, start) && shapes.same_length(over, step);
  return in_order ? number(start, shapes) : std::nullopt;
}

}  // namespace

std::optional<Piece> piece_of(const Statement& statement, Shapes& shapes) {
  if (statement.kind != Statement::Kind::Op || statement.op != Op::DPermute) return std::nullopt;
  const ValueId index = statement.operands[kPieceIndex], from = statement.operands[kPieceFrom],
                into = statement.operands[kPieceInto];
  if (shapes.is_scalar(statement.results[0]) || !shapes.same_length(from, into)) {
    return std::nullopt;
  }
  const auto length = number(from, shapes), target = number(into, shapes);
  const auto start = start_of(index, from, shapes);
  if (!start || !length || !target || *target > kLongestPieceTarget) return std::nullopt;
  if (*start < 0 || *length < 1 || *start > *target - *length) return std::nullopt;
  return Piece{*start, *length, *target};
}

}  // namespace fcode
