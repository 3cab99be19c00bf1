// The linked program as text (-d program).
#pragma once

#include <string>

#include "vcode/program.hpp"

namespace vinterp {

/// Every function with its instructions and their numbers.
std::string listing(const vcode::LinkedProgram& program);

}  // namespace vinterp
