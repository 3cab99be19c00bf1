// Makes a failing program small.
#pragma once

#include <functional>

#include "vcode-smith/test_program.hpp"

namespace smith {

/// True when the program still shows the failure. Must itself refuse programs that are not valid.
using StillFails = std::function<bool(const TestProgram&)>;

/// Makes what is read smaller, and deletes functions, runs of instructions and elements of
/// constants as long as the failure stays.
TestProgram shrink(TestProgram program, const StillFails& still_fails);

}  // namespace smith
