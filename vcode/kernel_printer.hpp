// Kernel definitions as text.
#pragma once

#include <string>

#include "vcode/kernel.hpp"

namespace vcode {

/// Appends a definition from its word KERNEL to its last binding, `sealed` (kernel_seal.hpp) or
/// not; SPEC, which a sealed definition has, and END are the caller's. REQUIRES: a kernel that
/// verify_kernel() accepts.
void print_kernel_head(const Kernel& kernel, bool sealed, std::string& text);

}  // namespace vcode
