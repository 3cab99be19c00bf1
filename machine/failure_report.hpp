// From a failure of an operation to what the user reads: where it happened, in which function, how
// the program got there, and for lack of memory what holds it.
#pragma once

#include <cstdint>
#include <span>

#include "cvl/failure.hpp"
#include "cvl/value.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// A failure before the run, or outside of it: no place is known.
vcode::Diagnostic diagnostic_of(const cvl::Failure& failure);

/// `at`: the instruction that failed; `calls`: return places of the active calls, outermost first;
/// `stack`: bottom first; `vcode_terms` as in MachineOptions.
vcode::Diagnostic report_failure(const cvl::Failure& failure, const vcode::LinkedProgram& program,
                                 std::uint32_t at, std::span<const std::uint32_t> calls,
                                 std::span<const cvl::Value> stack, bool vcode_terms);

}  // namespace vinterp
