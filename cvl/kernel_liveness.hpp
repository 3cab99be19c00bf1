// Which bindings of a kernel are worth running.
#pragma once

#include <vector>

#include "vcode/kernel.hpp"

namespace cvl {

/// What the results of a kernel, its checks and its sizes depend on.
struct KernelLiveness {
  std::vector<bool> bindings, arrays, segdes;
  /// Arrays that must lie in memory because they are results or are read otherwise than by a
  /// binding over the same space at its own index.
  std::vector<bool> stored;
};

/// `canonical` maps sizes to their representatives.
KernelLiveness kernel_liveness(const vcode::Kernel& kernel,
                               const std::vector<vcode::SizeId>& canonical);

}  // namespace cvl
