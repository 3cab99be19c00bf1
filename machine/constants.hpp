// The constants of a program as values of the run.
#pragma once

#include <vector>

#include "cvl/backend.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace vinterp {

/// Uploads every constant, equal vectors once, in the order of LinkedProgram::constants. An integer
/// that does not fit the run's INT is an error at its place in the text. When anything fails the
/// result is incomplete and `diagnostics` has errors.
std::vector<cvl::Value> load_constants(const vcode::LinkedProgram& program, cvl::Backend& backend,
                                       vcode::Diagnostics& diagnostics);

}  // namespace vinterp
