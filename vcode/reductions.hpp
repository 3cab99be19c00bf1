// What reductions combine with.
#pragma once

#include <optional>

#include "vcode/opcodes.hpp"

namespace vcode {

/// The elementwise operation; nothing for the greatest and the least, which there is none for.
constexpr std::optional<Op> elementwise_of(Op reduction) {
  switch (reduction) {
    case Op::AddReduce:
      return Op::Add;
    case Op::MultiplyReduce:
      return Op::Multiply;
    case Op::AndReduce:
      return Op::And;
    case Op::OrReduce:
      return Op::Or;
    case Op::XorReduce:
      return Op::Xor;
    default:
      return std::nullopt;
  }
}

}  // namespace vcode
