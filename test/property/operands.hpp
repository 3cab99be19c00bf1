// Random operands for every vector operation of the table.
#pragma once

#include <vector>

#include "property/random.hpp"
#include "property/shapes.hpp"
#include "reference/value.hpp"
#include "vcode/opcodes.hpp"

namespace property {

/// How a vector reaches the library.
enum class Layout {
  Plain,        // Inline or Dense, by its length
  Constant,     // one element stands for all
  Progression,  // INT: start and step
  Narrow,       // INT: characters, which the library may hold in a byte each
};

struct Operand {
  reference::Value value;
  Layout layout = Layout::Plain;
};

struct OperandChoice {
  vcode::Op op{};
  vcode::Type type = vcode::Type::Int;
  reference::Widths widths;
  bool compact = false;  // vectors may be in compact layouts
  bool special = false;  // FLOAT data may hold NaN, infinities, denormals, huge numbers
};

/// The types that an operation is written with; of one that names none, any.
std::vector<vcode::Type> types_of(const vcode::OpInfo& row);

/// Operands, deepest first, that fit each other and (with plain layouts) cannot fail.
std::vector<Operand> make_operands(const OperandChoice& choice, const Shape& shape, Random& random);

/// May INTs have Layout::Narrow?
bool are_characters(const reference::Ints& ints);

/// A vector in a compact layout must be longer than what fits a value's payload; returns whether
/// this one can have that layout.
bool may_be_compact(const reference::Value& value, const reference::Widths& widths);

}  // namespace property
