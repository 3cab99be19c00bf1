// The VCODE that a kernel replaces.
#pragma once

#include <vector>

#include "fcode-opt/fusion/assumptions.hpp"
#include "fcode-opt/fusion/kernel_writer.hpp"

namespace fcode {

/// Makes the function the SPEC of a kernel of the module, which takes and gives the same.
void set_spec(Function spec, Module& module, vcode::Kernel& kernel);

/// Fills kernel.spec from the statements of the members and of the generators that they read.
/// A descriptor of one segment that the kernel needs for its length only is made anew from what the
/// kernel takes; a value that cannot be had so becomes one more operand (which the kernel does not
/// read). The SPEC is what runs where the assumptions do not hold, so it relies on what is proved.
void write_spec(const RegionGraph& graph, const std::vector<NodeIndex>& members,
                const Assumptions& assumptions, const Function& function, Module& module,
                Shapes& shapes, WrittenKernel& written);

}  // namespace fcode
