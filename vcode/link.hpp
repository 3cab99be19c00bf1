// Program to LinkedProgram: calls looked up, conditionals turned into jumps.
#pragma once

#include <optional>

#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace vcode {

/// Links a program. Execution starts at MAIN if there is one, else at the first function; of
/// functions with the same name the last one counts, for every call and for the start.
///
/// The SPEC of a kernel becomes a function of its own behind all others, named "KERNEL name".
///
/// Errors: calls of undefined functions and runs of undefined kernels, each name once and in source
/// order, also in functions that are never reached; a second MAIN. A function that is defined twice
/// is a warning.
///
/// REQUIRES: at least one function, balanced conditionals and valid indices, as parse() delivers.
std::optional<LinkedProgram> link(Program program, Diagnostics& diagnostics);

}  // namespace vcode
