// The static rules of kernels (docs/fcode.md, "Rules").
#pragma once

#include "vcode/diagnostics.hpp"
#include "vcode/kernel.hpp"
#include "vcode/program.hpp"

namespace vcode {

/// Checks one kernel, parsed or made by a program: that ids and nodes are in range and in order,
/// single assignment (rule 2), sizes and spaces (1, 4), subscripts (3) and types (5). Every fault
/// is reported, once, at its place if it has one, else naming kernel and result. True if there is
/// none. Time is linear in the size of the kernel; no native recursion. What is wrong with ids and
/// names only in kernels that a program made is not looked for in a kernel that was `parsed`.
bool verify_kernel(const Kernel& kernel, Diagnostics& diagnostics, bool parsed = false);

/// Checks all kernels of a program that was parsed, that they keep to the widths that the head of
/// the file states (rule 6), and that no kernel is defined twice. True if there is no fault.
bool verify_kernels(const Program& program, Diagnostics& diagnostics);

}  // namespace vcode
