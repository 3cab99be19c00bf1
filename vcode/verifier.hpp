// Checks a linked program before it runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vcode/diagnostics.hpp"
#include "vcode/effects.hpp"
#include "vcode/program.hpp"

namespace vcode {

struct VerifyOptions {
  /// A warning for each reachable function that can only be checked at run time, if nothing else
  /// is wrong.
  bool warn_guarded = false;
};

/// What could be inferred of each function, in the order of LinkedProgram::functions.
struct Verification {
  std::vector<FunctionEffect> effects;
  /// Functions of which something could not be inferred. They are accepted: the machine checks
  /// every instruction again when it runs.
  std::vector<bool> guarded;
  /// Functions that a run can enter.
  std::vector<bool> reachable;
  /// Stack entries that were looked at: about what the verification cost.
  std::int64_t work = 0;
};

/// Infers what every function does to the stack, through conditionals, calls and recursion.
///
/// Errors are reported for instructions that must fail when they are executed, and for conditionals
/// whose branches leave different stacks, but only in functions that a run can reach; an arm that
/// a constant condition rules out, or that ends in EXIT, does not count. Time and memory grow about
/// linearly with the program; no native recursion. Where the work would exceed its bound the rest
/// is left to the checks at run time.
Verification verify(const LinkedProgram& program, Diagnostics& diagnostics,
                    const VerifyOptions& options = {});

/// The effects of all functions, one on a line, as `--check` prints them.
std::string print(const Verification& verification, const LinkedProgram& program);

}  // namespace vcode
