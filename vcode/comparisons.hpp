// The operations that compare two numbers.
#pragma once

#include <cstdint>

#include "vcode/opcodes.hpp"

namespace vcode {

/// <, <=, >, >=, = or /=.
constexpr bool is_comparison(Op op) {
  static_assert(static_cast<int>(Op::NotEqual) - static_cast<int>(Op::Less) == 5);
  return op >= Op::Less && op <= Op::NotEqual;
}

/// Of INTs.
constexpr bool holds(Op comparison, std::int64_t x, std::int64_t y) {
  switch (comparison) {
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

/// The comparison that holds where this one does not, of INTs and of FLOATs that are not NaN.
constexpr Op opposite_of(Op comparison) {
  switch (comparison) {
    case Op::Less:
      return Op::GreaterEqual;
    case Op::LessEqual:
      return Op::Greater;
    case Op::Greater:
      return Op::LessEqual;
    case Op::GreaterEqual:
      return Op::Less;
    case Op::Equal:
      return Op::NotEqual;
    default:
      return Op::Equal;
  }
}

/// The comparison with its operands exchanged: y mirrored(op) x is x op y.
constexpr Op mirrored(Op comparison) {
  switch (comparison) {
    case Op::Less:
      return Op::Greater;
    case Op::LessEqual:
      return Op::GreaterEqual;
    case Op::Greater:
      return Op::Less;
    case Op::GreaterEqual:
      return Op::LessEqual;
    default:
      return comparison;
  }
}

}  // namespace vcode
