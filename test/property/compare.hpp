// When a result counts as right.
#pragma once

#include <string>
#include <vector>

#include "reference/value.hpp"
#include "vcode/opcodes.hpp"

namespace property {

/// Compares a result with that of the reference. INT, BOOL and moved data must be equal (FLOAT to
/// the bit, except for the payload of NaN); sums and products may be evaluated in any order;
/// functions of the math library may be off by a few units in the last place. Returns a description
/// of the first difference, empty if there is none.
std::string difference(vcode::Op op, const reference::Widths& widths,
                       const std::vector<reference::Value>& operands,
                       const reference::Value& expected, const reference::Value& found);

/// Equal to the bit, but for NaNs: any of them equals any other.
bool identical(const reference::Value& a, const reference::Value& b);

}  // namespace property
