// What conditions on lengths say.
#include "fcode-opt/shapes/shapes.hpp"
#include "vcode/comparisons.hpp"

namespace fcode {
namespace {

// Beyond this, INT arithmetic of 32 bits may have wrapped around.
constexpr std::int64_t kLargestDifference = (std::int64_t{1} << 31) - 1;

bool compares_ints(const Definition& statement) {
  return statement.kind == Statement::Kind::Op && vcode::is_comparison(statement.op) &&
         statement.written == Type::Int;
}

bool holds(Op op, std::int64_t x, std::int64_t y) {
  switch (op) {
    case Op::Less:
      return x < y;
    case Op::LessEqual:
      return x <= y;
    case Op::Greater:
      return x > y;
    case Op::GreaterEqual:
      return x >= y;
    case Op::Equal:
      return x == y;
    default:
      return x != y;
  }
}

}  // namespace

std::optional<bool> Shapes::truth(ValueId condition, int depth) {
  const Definition* made = definition(condition);
  if (made == nullptr || made->kind != Statement::Kind::Op || depth == 0) return std::nullopt;
  if (made->op == Op::Not && made->written == Type::Bool) {
    const std::optional<bool> inner = truth(made->operands[0], depth - 1);
    if (inner) return !*inner;
    return std::nullopt;
  }
  if ((made->op == Op::And || made->op == Op::Or) && made->written == Type::Bool) {
    if (!is_scalar(made->operands[0]) || !is_scalar(made->operands[1])) return std::nullopt;
    const std::optional<bool> x = truth(made->operands[0], depth - 1),
                              y = truth(made->operands[1], depth - 1);
    const bool decides = made->op == Op::Or;  // the value of one operand that settles it
    if (x == decides || y == decides) return decides;
    if (x && y) return !decides;
    return std::nullopt;
  }
  if (!compares_ints(*made)) return std::nullopt;
  const ValueId x = made->operands[0], y = made->operands[1];
  if (!is_scalar(x) || !is_scalar(y)) return std::nullopt;
  const std::optional<std::int64_t> nx = known_element(x), ny = known_element(y);
  if (nx && ny) return holds(made->op, *nx, *ny);
  const std::optional<std::int64_t> difference = equations.difference(of(x).sum, of(y).sum);
  if (!difference) return std::nullopt;
  if (*difference == 0) return holds(made->op, 0, 0);
  const bool only_equality = made->op == Op::Equal || made->op == Op::NotEqual;
  if (only_equality && std::abs(*difference) <= kLargestDifference) return holds(made->op, 1, 0);
  return std::nullopt;
}

bool Shapes::assume(ValueId condition, bool value, int depth) {
  const Definition* made = definition(condition);
  if (made == nullptr || made->kind != Statement::Kind::Op || depth == 0) return true;
  if (made->op == Op::Not && made->written == Type::Bool)
    return assume(made->operands[0], !value, depth - 1);
  const bool both = (made->op == Op::And && value) || (made->op == Op::Or && !value);
  if (both && made->written == Type::Bool) {
    return assume(made->operands[0], value, depth - 1) &&
           assume(made->operands[1], value, depth - 1);
  }
  if (!compares_ints(*made)) return true;
  const ValueId x = made->operands[0], y = made->operands[1];
  if (!is_scalar(x) || !is_scalar(y)) return true;
  const Op op = made->op;
  if ((op == Op::Equal && value) || (op == Op::NotEqual && !value)) {
    return equations.unite(of(x).sum, of(y).sum);
  }
  const bool less = (op == Op::Less && value) || (op == Op::GreaterEqual && !value);
  const bool greater = (op == Op::Greater && value) || (op == Op::LessEqual && !value);
  if (less) orders_.push_back({of(x).sum, of(y).sum});
  if (greater) orders_.push_back({of(y).sum, of(x).sum});
  return true;
}

}  // namespace fcode
