#include "fcode-opt/passes/algebra.hpp"

#include <algorithm>
#include <bit>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"

namespace fcode {

bool Algebra::finish() {
  names_.apply(function_.body);
  return changed_;
}

void Algebra::region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) {
  for (std::size_t i = begin; i < end; ++i) {
    const Statement& statement = block.statements[i];
    if (statement.kind != Statement::Kind::Op) continue;
    if (statement.op == Op::Unpair) {
      unpair(shapes, statement);
      continue;
    }
    if (statement.results.size() != 1) continue;
    const ValueId same = equivalent(shapes, statement);
    if (same == kNoValue) continue;
    names_.set(statement.results[0], same);
    changed_ = true;
  }
}

void Algebra::unpair(Shapes& shapes, const Statement& statement) {
  const Definition* pair = shapes.definition(names_(statement.operands[0]));
  if (!pair || !pair->is(Op::Pair)) return;
  for (std::size_t i = 0; i < 2; ++i) {
    if (names_.has(statement.results[i])) continue;
    names_.set(statement.results[i], pair->operands[i]);
    changed_ = true;
  }
}

/// A value that the only result is equal to, or none.
ValueId Algebra::equivalent(Shapes& shapes, const Statement& statement) {
  if (names_.has(statement.results[0])) return kNoValue;
  ValueList operands(statement.operands.begin(), statement.operands.end());
  for (ValueId& operand : operands) operand = names_(operand);
  switch (statement.op) {
    case Op::Not:
      return inverse(shapes, operands[0], Op::Not);
    case Op::IntToBool:
      return inverse(shapes, operands[0], Op::BoolToInt);
    case Op::Select:
      return select(shapes, operands);
    case Op::Add:
    case Op::Or:
    case Op::Xor:
      return neutral_on_either_side(shapes, statement, operands, 0);
    case Op::Multiply:
      return neutral_on_either_side(shapes, statement, operands, 1);
    case Op::And:
      return neutral_on_either_side(shapes, statement, operands,
                                    statement.written == Type::Bool ? 1 : -1);
    case Op::Subtract: {
      const ValueId added = difference(shapes, statement, operands);
      return added != kNoValue ? added : neutral_second(shapes, statement, operands, 0);
    }
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return neutral_second(shapes, statement, operands, 0);
    case Op::Divide:
      return neutral_second(shapes, statement, operands, 1);
    default:
      return kNoValue;
  }
}

ValueId Algebra::inverse(Shapes& shapes, ValueId operand, Op op) {
  const Definition* inner = shapes.definition(operand);
  return inner && inner->is(op) ? inner->operands[0] : kNoValue;
}

// (x + y) - x and (x + y) - y of INT, which wraps around both ways.
ValueId Algebra::difference(Shapes& shapes, const Statement& statement,
                            const ValueList& operands) const {
  const Definition* sum = shapes.definition(operands[0]);
  if (statement.written != Type::Int || !sum || !sum->is(Op::Add)) return kNoValue;
  const ValueId x = names_(sum->operands[0]), y = names_(sum->operands[1]);
  if (!shapes.same_length(x, y) || !shapes.same_length(x, operands[1])) return kNoValue;
  if (x == operands[1]) return y;
  return y == operands[1] ? x : kNoValue;
}

// Both the same, or flags that are all the same.
ValueId Algebra::select(Shapes& shapes, const ValueList& operands) {
  ValueId same = kNoValue;
  if (operands[1] == operands[2]) same = operands[1];
  if (const auto flag = constant_flag(shapes, operands[0])) same = operands[*flag ? 1 : 2];
  if (same == kNoValue || !shapes.same_length(operands[1], operands[0]) ||
      !shapes.same_length(operands[2], operands[0])) {
    return kNoValue;
  }
  return same;
}

ValueId Algebra::neutral_on_either_side(Shapes& shapes, const Statement& statement,
                                        const ValueList& operands, std::int64_t neutral) {
  const ValueId left = neutral_second(shapes, statement, operands, neutral);
  if (left != kNoValue) return left;
  const ValueList exchanged{operands[1], operands[0]};
  return neutral_second(shapes, statement, exchanged, neutral);
}

// The first operand, if all elements of the second are neutral.
ValueId Algebra::neutral_second(Shapes& shapes, const Statement& statement,
                                const ValueList& operands, std::int64_t neutral) {
  if (!shapes.same_length(operands[0], operands[1])) return kNoValue;
  return is_all(shapes, statement, operands[1], neutral) ? operands[0] : kNoValue;
}

bool Algebra::is_all(Shapes& shapes, const Statement& statement, ValueId value,
                     std::int64_t number) {
  const auto type = vcode::operand_type(vcode::info(statement.op).operands[1], statement.written);
  if (type == Type::Int) return shapes.known_element(value) == number;
  const vcode::Constant* constant = distributed(shapes, value);
  if (!constant || constant->type != type) return false;
  if (type == Type::Bool) {
    return std::all_of(constant->bools().begin(), constant->bools().end(),
                       [&](std::uint8_t flag) { return flag == number; });
  }
  // Of reals only x * 1, x / 1 and x - 0 give back every x; not x + 0, for -0.0 + 0.0 is 0.0.
  if (statement.op == Op::Add) return false;
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(number));
  return std::all_of(constant->floats().begin(), constant->floats().end(),
                     [&](double x) { return std::bit_cast<std::uint64_t>(x) == bits; });
}

std::optional<bool> Algebra::constant_flag(Shapes& shapes, ValueId value) {
  const vcode::Constant* constant = distributed(shapes, value);
  if (!constant || constant->type != Type::Bool || constant->size() == 0) return std::nullopt;
  const auto& flags = constant->bools();
  if (std::any_of(flags.begin(), flags.end(),
                  [&](std::uint8_t flag) { return flag != flags[0]; })) {
    return std::nullopt;
  }
  return flags[0] != 0;
}

/// The constant that the value consists of, whole or distributed.
const vcode::Constant* Algebra::distributed(Shapes& shapes, ValueId value) {
  const Definition* found = shapes.definition(value);
  while (found && found->is(Op::Distribute)) found = shapes.definition(found->operands[0]);
  return found && found->is_const() ? &module_.constants[found->index] : nullptr;
}

bool simplify_algebra(Module& module, KnownWalks& walks) {
  return rewrite_regions<Algebra>(module, walks);
}

}  // namespace fcode
