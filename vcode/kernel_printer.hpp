// Kernel definitions as text.
#pragma once

#include <string>

#include "vcode/kernel.hpp"

namespace vcode {

/// Appends a definition from its word KERNEL to its last binding; SPEC and END are the caller's.
/// REQUIRES: a kernel that verify_kernel() accepts.
void print_kernel_head(const Kernel& kernel, std::string& text);

}  // namespace vcode
