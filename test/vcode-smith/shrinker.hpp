// Makes a failing program small.
#pragma once

#include <functional>

#include "vcode/program.hpp"

namespace smith {

/// True when the program still shows the failure. Must itself refuse programs that are not valid.
using StillFails = std::function<bool(const vcode::Program&)>;

/// Deletes functions, runs of instructions and elements of constants as long as the failure stays.
vcode::Program shrink(vcode::Program program, const StillFails& still_fails);

}  // namespace smith
