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

struct StackCodeOptions {
  /// The program prints its own error messages. Otherwise a failing program leaves the number of
  /// the failure on top of the stack, above the text of `error`.
  bool standalone = false;
};

struct StackCode {
  vcode::Program program;
  /// For each instruction of each function, the scope (ir::Module::scopes) of its span.
  std::vector<std::vector<std::uint32_t>> scopes;
};

StackCode generate(const ir::Module& module, StackCodeOptions options);

}  // namespace neslc
