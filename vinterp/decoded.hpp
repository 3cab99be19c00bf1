// Linked instructions in the form that the machine runs: all that the operation table says about
// an instruction, looked up once before the run.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cvl/value.hpp"
#include "vcode/opcodes.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// What the machine does with an instruction.
enum class Action : std::uint8_t {
  Vector,  // run by the vector library
  Io,
  Copy,
  Pop,
  MoveToTop,
  Pair,
  Unpair,
  Push,
  Call,
  Run,  // of a kernel
  Return,
  Branch,
  Jump,
  Nothing,
  Exit,
  StartTimer,
  StopTimer,
  Seed,
};

struct Decoded {
  Action action{};
  vcode::Op op{};
  vcode::Type type{};
  std::uint8_t operands = 0;
  std::uint8_t results = 0;
  std::uint8_t rule_count = 0;
  std::uint8_t accepted[vcode::kMaxOperands] = {};  // bit t: a value of type t may be there
  std::uint32_t a = 0, b = 0;                       // as in vcode::Instruction
  const vcode::LengthRule* rules = nullptr;         // what the lengths must satisfy, or should
};

/// With `strict` (-c) the type written after LENGTH must be that of its operand.
std::vector<Decoded> decode(const vcode::LinkedProgram& program, bool strict);

/// Are the operands (deepest first) of the right types?
inline bool types_fit(const Decoded& step, const cvl::Value* operands) {
  for (unsigned i = 0; i < step.operands; ++i) {
    if (((step.accepted[i] >> static_cast<unsigned>(operands[i].type())) & 1u) == 0) return false;
  }
  return true;
}

/// Do the lengths fit? Elementwise operands of different lengths do not, though some are allowed:
/// cvl::check_operands decides about those. REQUIRES: types_fit().
inline bool lengths_fit(const Decoded& step, const cvl::Value* operands) {
  const auto length = [operands](vcode::LengthTerm term) {
    const cvl::Value& value = operands[term.operand];
    if (term.described) return value.segdes().total;
    return value.is_vector() ? value.vector().length : value.segdes().count;
  };
  for (unsigned i = 0; i < step.rule_count; ++i) {
    if (length(step.rules[i].left) != length(step.rules[i].right)) return false;
  }
  return true;
}

}  // namespace vinterp
