// Linked instructions in the form that the machine runs. What the operation table says about an
// operation and the type behind its word is looked up once before the run and shared by all
// instructions of that kind: a long program takes 12 bytes an instruction.
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
  CallAgain,  // of the function that ends with it, by itself: nothing is left to return to
  Run,        // of a kernel
  Return,
  Branch,
  Jump,
  Nothing,
  Exit,
  StartTimer,
  StopTimer,
  Seed,
};

/// An operation with the type behind its word, and what its operands must be.
struct TypedOp {
  vcode::Op op{};
  vcode::Type type{};
  std::uint8_t operands = 0;
  std::uint8_t results = 0;
  std::uint8_t rule_count = 0;
  std::uint8_t accepted[vcode::kMaxOperands] = {};  // bit t: a value of type t may be there
  const vcode::LengthRule* rules = nullptr;         // what the lengths must satisfy, or should
};

struct Decoded {
  Action action{};
  std::uint8_t operands = 0;   // of its operation
  std::uint16_t op = 0;        // index into DecodedProgram::ops
  std::uint32_t a = 0, b = 0;  // as in vcode::Instruction
};

struct DecodedProgram {
  std::vector<Decoded> code;
  std::vector<TypedOp> ops;
};

/// With `strict` (-c) the type written after LENGTH must be that of its operand.
DecodedProgram decode(const vcode::LinkedProgram& program, bool strict);

/// Are the operands (deepest first) of the right types?
inline bool types_fit(const TypedOp& op, const cvl::Value* operands) {
  for (unsigned i = 0; i < op.operands; ++i) {
    if (((op.accepted[i] >> static_cast<unsigned>(operands[i].type())) & 1u) == 0) return false;
  }
  return true;
}

/// Do the lengths fit? Elementwise operands of different lengths do not, though some are allowed:
/// cvl::check_operands decides about those. REQUIRES: types_fit().
inline bool lengths_fit(const TypedOp& op, const cvl::Value* operands) {
  const auto length = [operands](vcode::LengthTerm term) {
    const cvl::Value& value = operands[term.operand];
    if (term.described) return value.segdes().total;
    return value.is_vector() ? value.vector().length : value.segdes().count;
  };
  for (unsigned i = 0; i < op.rule_count; ++i) {
    if (length(op.rules[i].left) != length(op.rules[i].right)) return false;
  }
  return true;
}

}  // namespace vinterp
