// Every vector operation of the table in plain sequential loops.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/value.hpp"
#include "vcode/opcodes.hpp"

namespace reference {

/// The state of RAND between operations.
struct Random {
  std::uint64_t key;
  std::uint64_t drawn = 0;

  Random();
  explicit Random(std::uint64_t seed);
};

/// Checks the operands (deepest first) and runs the operation. With `strict` (option -c) operands
/// of an elementwise operation must have equal lengths. Throws Failure.
std::vector<Value> evaluate(vcode::Op op, Type written, const Widths& widths, Random& random,
                            const std::vector<Value>& operands, bool strict = false);

// The families behind evaluate(); operands have passed the checks.
Value elementwise(vcode::Op op, const Widths& widths, const std::vector<Value>& operands);
Value scan(vcode::Op op, const Widths& widths, const Value& data, const Segdes& segdes);
Value reduce(vcode::Op op, const Widths& widths, const Value& data, const Segdes& segdes);
Value combine(vcode::Op op, const Widths& widths, const std::vector<Value>& operands);
Value rank(const Value& data, const Segdes& segdes, bool descending);
Value sort(const Value& data, const Segdes& segdes, bool descending);
Value move_elements(vcode::Op op, const std::vector<Value>& operands);

}  // namespace reference
