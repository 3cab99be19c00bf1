// The meaning of kernels, stated a second time: bindings one after the other, elements one by one.
#pragma once

#include <vector>

#include "reference/evaluator.hpp"
#include "vcode/kernel.hpp"

namespace reference {

/// Elements that FILTER, SPLIT or WHEN drop: a library may evaluate them or not.
enum class Dropped { Evaluated, LeftOut };

/// Runs a kernel on its operands (deepest first). `random` is the state of RAND, which the kernel
/// moves on. Throws KernelFailure; of several the one in the first binding, there at the first
/// position (of INTO before those of the space itself). REQUIRES: a verified kernel, operands of
/// its types that have the lengths it states.
std::vector<Value> run_kernel(const vcode::Kernel& kernel, const Widths& widths,
                              const std::vector<Value>& operands, Random& random,
                              Dropped dropped = Dropped::Evaluated);

}  // namespace reference
