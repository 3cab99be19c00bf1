// The operations that have no instruction of their own, and no last bits that all libraries agree
// on.
#pragma once

#include "vcode/opcodes.hpp"

namespace vcode {

/// Logarithm, exponential, and trigonometric and hyperbolic functions.
constexpr bool is_math_function(Op op) {
  static_assert(static_cast<int>(Op::Tanh) - static_cast<int>(Op::Log) == 11);
  return op >= Op::Log && op <= Op::Tanh && op != Op::Sqrt;
}

}  // namespace vcode
