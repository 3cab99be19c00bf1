// Machine code in place of some steps of a program.
//
// Steps that native_code.hpp can make loops of are put together, as many at a time as the others
// allow, which may be computed earlier or later for that. What nobody outside of such a group reads
// stays in registers. The steps of a group follow its code: they compute what is left of a block
// that has no whole number of groups of elements, and blocks in which an operation fails.
#pragma once

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// Counts a run of the pass, and makes code when so much has been computed that it pays. To be
/// called when the pass has been bound and all targets have been added.
void renew_native_steps(const BoundPass& pass, BoundProgram& program);

}  // namespace cvl::cpu
