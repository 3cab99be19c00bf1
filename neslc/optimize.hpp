// The optimizer on compiled programs: what it makes is traced back to the NESL program.
#pragma once

#include <vector>

#include "cvl/value.hpp"
#include "fcode-opt/optimizer.hpp"
#include "neslc/stack_code.hpp"

namespace neslc {

/// The optimized program, with the places that its instructions come from. Above level 2 it may
/// contain kernels: then it is FCODE. It fits only top-level values of the lengths that
/// `components` have, which are numbered as in StackCode::values. `options.given` and
/// `options.stop` are set here; `report` may be null.
StackCode optimize(const StackCode& code, fcode::OptimizerOptions options,
                   const std::vector<cvl::Value>& components,
                   fcode::OptimizerReport* report = nullptr);

}  // namespace neslc
