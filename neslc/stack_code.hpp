// The intermediate form as VCODE: where variables lie on the stack (reference 10.7).
//
// The last use of a variable moves it, other uses copy it; constants are made where they are used.
// A pure operation that is used once is made where its result is needed, so that the operands of
// an expression come to the stack in their order.
#pragma once

#include <cstdint>
#include <vector>

#include "neslc/ir.hpp"

namespace neslc {

struct StackCode {
  vcode::Program program;
  /// Of each constant, the component of the top-level values that it stands for, or -1.
  std::vector<std::int64_t> values;
  /// For each instruction of each function, the scope (ir::Module::scopes) of its span.
  std::vector<std::vector<std::uint32_t>> scopes;
  std::vector<std::vector<std::uint32_t>> kernel_scopes{};  // the same of the SPECs of kernels
};

/// A failing program writes its message, by WRITE alone, and EXITs: `RUNTIME ERROR: TEXT`, followed
/// by lines `LABEL ( NUMBER )`, or `ERROR: TEXT`.
StackCode generate(const ir::Module& module);

}  // namespace neslc
