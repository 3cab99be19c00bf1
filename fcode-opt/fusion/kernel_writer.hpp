// A kernel for chosen nodes of a region.
#pragma once

#include <vector>

#include "fcode-opt/fusion/graph.hpp"
#include "vcode/kernel.hpp"

namespace fcode {

struct WrittenKernel {
  vcode::Kernel kernel;  // without name and SPEC
  ValueList operands;    // of its IN
  ValueList results;     // of its OUT
};

/// `members`: the nodes of one slot that are computed by a kernel, in program order. `wanted[v]`:
/// value v is read by others. `checked`: operands that the kernel takes for their lengths, so that
/// it runs only if these fit.
WrittenKernel write_kernel(const RegionGraph& graph, const std::vector<NodeIndex>& members,
                           const std::vector<bool>& wanted, const ValueList& checked,
                           const Function& function, const Module& module, Shapes& shapes);

}  // namespace fcode
