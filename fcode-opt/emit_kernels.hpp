// The kernels of a program for GPUs, ahead of time (--emit).
#pragma once

#include <string>
#include <vector>

#include "vcode/program.hpp"

namespace fcode {

/// All kernels as CUDA C++, to be read. INT and FLOAT have the widths that the file demands, else
/// those that vinterp has without options.
std::string cuda_text(const vcode::Program& program);

struct EmittedKernels {
  std::vector<std::string> notes;  // about kernels that have no machine code
  std::string error;               // empty: everything else was written
};
/// Writes the machine code of all kernels for a compute capability (such as 90) into a folder where
/// vinterp finds it.
EmittedKernels ship_kernels(const vcode::Program& program, int capability,
                            const std::string& folder);

}  // namespace fcode
