// Random kernels as program text.
#pragma once

#include <string>
#include <vector>

#include "property/random.hpp"

namespace kernel_test {

/// A file with one kernel of a few random bindings over the operands
///   d : SEG s n, e : SEG s m, a, b : VEC INT n, x : VEC FLOAT n, f : VEC BOOL n, g : VEC INT m,
///   p : VEC INT s, q : VEC INT 1
/// that uses every kind of binding now and then. Results of FLOAT sums and products are not used
/// any further. A kernel may fail: by a subscript, a division or an assertion. `serial_loops`: may
/// ITERATE have stacks and writes?
std::string random_kernel(property::Random& random, bool serial_loops);

}  // namespace kernel_test
