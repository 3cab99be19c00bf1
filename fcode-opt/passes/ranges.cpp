#include "fcode-opt/passes/ranges.hpp"

#include <cstdint>

namespace fcode {

bool Ranges::never(ValueId flags, int depth) const {
  const Definition* made = shapes_.definition(flags);
  if (!made || made->kind != Statement::Kind::Op || made->operands.empty() || depth == 0) {
    return false;
  }
  const ValueId x = names_(made->operands.front()), y = names_(made->operands.back());
  switch (made->op) {
    case Op::Or:
      return made->written == Type::Bool && never(x, depth - 1) && never(y, depth - 1);
    case Op::Less:
      return made->written == Type::Int && never_less(x, y, false, depth);
    case Op::LessEqual:
      return made->written == Type::Int && never_less(x, y, true, depth);
    case Op::Greater:
      return made->written == Type::Int && never_less(y, x, false, depth);
    case Op::GreaterEqual:
      return made->written == Type::Int && never_less(y, x, true, depth);
    default:
      return false;
  }
}

// Arithmetic on INT may have wrapped around. Numbers that fit are right all the same, and so is a
// number that differs from the greatest position by one: it is the length.
bool Ranges::never_less(ValueId x, ValueId y, bool or_equal, int depth) const {
  const std::optional<Range> of_x = range(x, depth), of_y = range(y, depth);
  if (!of_x || !of_y) return false;
  const auto least = shapes_.equations.number(of_x->least);
  const auto greatest = shapes_.equations.number(of_y->greatest);
  if (least && greatest) {
    const bool exact = *least == static_cast<std::int32_t>(*least) &&
                       *greatest == static_cast<std::int32_t>(*greatest);
    return exact && (or_equal ? *least > *greatest : *least >= *greatest);
  }
  return shapes_.equations.difference(of_x->least, of_y->greatest) == 1;
}

std::optional<Ranges::Range> Ranges::range(ValueId vector, int depth) const {
  if (const std::optional<Linear> element = shapes_.element(vector))
    return Range{*element, *element};
  const Definition* made = shapes_.definition(vector);
  if (!made || made->kind != Statement::Kind::Op || made->result != 0 || depth == 0) {
    return std::nullopt;
  }
  switch (made->op) {
    case Op::Index: {
      const ValueId start = names_(made->operands[0]), step = names_(made->operands[1]);
      const std::optional<Linear> length = shapes_.element(names_(made->operands[2]));
      if (!length || shapes_.known_element(start) != 0 || shapes_.known_element(step) != 1) {
        return std::nullopt;
      }
      return Range{Linear::number(0), *length - Linear::number(1)};
    }
    case Op::Pack:
    case Op::Permute:
    case Op::BPermute:
      return range(names_(made->operands[0]), depth - 1);
    default:
      return std::nullopt;
  }
}

}  // namespace fcode
