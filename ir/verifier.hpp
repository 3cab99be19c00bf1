// Is a module well formed?
#pragma once

#include <string>

#include "ir/module.hpp"

namespace ir {

/// The first thing that is wrong with the module, or nothing. Every value is assigned once and used
/// only where it is seen; numbers and known types of operands and results fit; a block diverges if
/// and only if its last statement does; the entry takes nothing; kernels keep to their rules.
std::string find_fault(const Module& module);

}  // namespace ir
