// COPY, POP and CPOP on what stands for the values of a stack.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "vcode/instruction.hpp"

namespace vcode {

/// Moves entries as the instruction moves values. REQUIRES: it is one of the three, and the stack
/// has as many entries as it names, a + b.
template <typename Entry>
void move_entries(const Instruction& instruction, std::vector<Entry>& stack) {
  const auto count = static_cast<std::ptrdiff_t>(instruction.a);
  const auto start = static_cast<std::ptrdiff_t>(instruction.b);
  const auto first = stack.end() - start - count;
  const auto last = first + count;
  if (instruction.op == Op::CPop) {
    std::rotate(first, last, stack.end());
  } else if (instruction.op == Op::Pop) {
    stack.erase(first, last);
  } else {
    const std::vector<Entry> copied(first, last);
    stack.insert(stack.end(), copied.begin(), copied.end());
  }
}

}  // namespace vcode
