// The run-time checks of vector operations that do not look at elements: operand types and lengths.
// They follow from the operation table alone.
#pragma once

#include "cvl/value.hpp"
#include "vcode/opcodes.hpp"

namespace cvl {

/// Checks types and lengths of the operands (deepest first) of a vector operation. With `strict`
/// (option -c) elementwise operands must have equal lengths, otherwise only the deepest may not be
/// the longer one. Throws Failure (TypeMismatch, LengthMismatch).
void check_operands(const vcode::OpInfo& op, Type type, const Value* operands, bool strict);

/// Checks that every INT of the run's width can count the elements of a new descriptor: no library
/// gets as far as asking for memory for them. Throws Failure (CountOverflow).
void check_total(const Widths& widths, const Segdes& segdes);

}  // namespace cvl
