// Reports of the optimizer as text.
#pragma once

#include <string>

#include "fcode-opt/optimizer.hpp"
#include "vcode/source.hpp"

namespace fcode {

/// Sizes of the program before and after, and what each pass has done.
std::string statistics_text(const OptimizerReport& report);

/// What became kernels, what did not and why, by function of the source program and line.
std::string fusion_text(const OptimizerReport& report, const vcode::Source& source);

/// What is held at once, what is written over what, and why not, by function and line.
std::string memory_text(const OptimizerReport& report, const vcode::Source& source);

}  // namespace fcode
