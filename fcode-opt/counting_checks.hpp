// Checks that count.
#pragma once

#include "fcode-opt/ir.hpp"

namespace fcode {

/// Compiled programs check a vector by counting its bad elements and comparing the count c with 0
/// and with the number n of all. Where assertions with one message, taken together, hold exactly
/// when c = 0, they become one assertion on the flags, which needs no counting and can be part of
/// any kernel that runs over them.
bool simplify_counting_checks(Module& module, Function& function);

}  // namespace fcode
