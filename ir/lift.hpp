// VCODE to single assignment.
#pragma once

#include <cstdint>
#include <span>

#include "ir/module.hpp"
#include "vcode/program.hpp"

namespace ir {

/// Puts every function into single assignment by running its stack code over names instead of
/// values: COPY, POP and CPOP vanish, the arms of a conditional give names to what they leave
/// differently. An arm that a constant condition rules out, and code behind EXIT, are dropped.
///
/// How many entries a function takes and leaves is inferred as the verifier does it (verifier.hpp),
/// through conditionals and mutual recursion. A function for which that is not possible stays as it
/// is, with all that it calls (Function::opaque), and Module::remarks says why.
///
/// `given`: the constants that stand for what the run is given (Statement::Kind::Given).
Module lift(const vcode::LinkedProgram& program, std::span<const std::uint32_t> given = {});

}  // namespace ir
