// Does the SPEC of a kernel do to the stack what its IN and OUT say?
#pragma once

#include <string>

#include "vcode/diagnostics.hpp"
#include "vcode/effects.hpp"
#include "vcode/program.hpp"

namespace vcode {

/// Reports (KernelSpec) a SPEC whose inferred effect on the stack differs from the kernel's. One
/// whose effect could not be inferred, or that never returns, is accepted.
void check_spec(const LinkedKernel& kernel, const FunctionEffect& effect, Diagnostics& diagnostics);

/// For example "KERNEL dotp ( SEGDES FLOAT FLOAT -- FLOAT )", with a remark if it has no SPEC.
std::string kernel_effect_text(const LinkedKernel& kernel);

}  // namespace vcode
