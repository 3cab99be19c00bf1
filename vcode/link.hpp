// Program to LinkedProgram: calls looked up, conditionals turned into jumps.
#pragma once

#include <optional>

#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace vcode {

/// Links a program. Execution starts at MAIN if there is one, else at the first function; of
/// functions with the same name the last one counts, for every call and for the start.
///
/// Errors: calls of undefined functions, each name once and in source order, also in functions that
/// are never reached; a second MAIN. A function that is defined twice is a warning.
///
/// REQUIRES: at least one function, balanced conditionals and valid indices, as parse() delivers.
std::optional<LinkedProgram> link(Program program, Diagnostics& diagnostics);

}  // namespace vcode
