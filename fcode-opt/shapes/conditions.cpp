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
  if (const Definition* flags = any_differ(*made)) {
    // Elements, like the lengths of segments.
    if (same_segments(flags->operands[0], flags->operands[1])) return false;
    return std::nullopt;
  }
  if (!compares_ints(*made)) return std::nullopt;
  const ValueId x = made->operands[0], y = made->operands[1];
  if (!is_scalar(x) || !is_scalar(y)) return std::nullopt;
  const std::optional<std::int64_t> nx = known_element(x), ny = known_element(y);
  if (nx && ny) return vcode::holds(made->op, *nx, *ny);
  const std::optional<std::int64_t> difference = equations.difference(of(x).sum, of(y).sum);
  if (!difference) return std::nullopt;
  if (*difference == 0) return vcode::holds(made->op, 0, 0);
  const bool only_equality = made->op == Op::Equal || made->op == Op::NotEqual;
  if (only_equality && std::abs(*difference) <= kLargestDifference)
    return vcode::holds(made->op, 1, 0);
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
  if (const Definition* flags = any_differ(*made); flags != nullptr && !value) {
    return assume_equal(flags->operands[0], flags->operands[1]);
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

/// The comparison of two vectors of INT, of as many elements, if that is whether any two differ.
const Definition* Shapes::any_differ(const Definition& made) {
  if (made.op != Op::OrReduce || made.written != Type::Bool) return nullptr;
  const ValueId flags = made.operands[0], segments = made.operands[1];
  const Definition* compared = definition(flags);
  const bool differ =
      compared != nullptr && compares_ints(*compared) && compared->op == Op::NotEqual;
  const bool of_all = differ && one_segment(segments) && fits(flags, segments) &&
                      same_length(compared->operands[0], compared->operands[1]);
  return of_all ? compared : nullptr;
}

/// Vectors of as many elements, each equal to the other's: as nested sequences have been found to
/// be of the same lengths.
bool Shapes::assume_equal(ValueId x, ValueId y) {
  const Shape of_x = of(x), of_y = of(y);
  if (of_x.content == of_y.content) return true;
  if (!of_x.uniform) {
    learn(x, of_y);
  } else if (!of_y.uniform) {
    learn(y, of_x);
  }
  return equations.unite(of_x.sum, of_y.sum);
}

/// A vector is equal to one of that shape, and so is the descriptor that has its elements as
/// lengths.
void Shapes::learn(ValueId vector, const Shape& equal) {
  const auto change = [&](ValueId value) {
    Shape shape = of(value);
    changes_.push_back({value, shape});
    shape.content = equal.content;
    shape.uniform = equal.uniform;
    shape.element = equal.element;
    define(value, std::move(shape));
  };
  const Definition* made = definition(vector);
  const bool lengths = made != nullptr && made->is(Op::Lengths);
  change(vector);
  if (lengths) change(made->operands[0]);
}

void Shapes::leave(const Mark& mark) {
  orders_.resize(mark.orders);
  for (; changes_.size() > mark.changes; changes_.pop_back()) {
    Change& last = changes_.back();
    define(last.value, std::move(last.before));
  }
}

}  // namespace fcode
