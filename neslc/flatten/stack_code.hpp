// Flattened programs as VCODE (reference 10.7).
#pragma once

#include <cstdint>
#include <vector>

#include "neslc/flatten/compiler.hpp"
#include "vcode/program.hpp"

namespace neslc {

/// A failing program writes its message, by WRITE alone, and EXITs: `RUNTIME ERROR: TEXT`, followed
/// by lines `LABEL ( NUMBER )`, or `ERROR: TEXT`. The scopes of instructions are those of the
/// flattened program (ir::Module::scopes).
struct StackCode {
  vcode::Program program;
  /// Of each constant, the component of the top-level values that it stands for, or -1.
  std::vector<std::int64_t> values;
};

StackCode stack_code(const FlatProgram& flat);

}  // namespace neslc
