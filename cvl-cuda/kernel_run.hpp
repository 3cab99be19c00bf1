// What is left of a run of a kernel until its failures are known.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cvl/kernel_fault.hpp"

namespace cvl::cuda {

/// The places of a kernel that may fail. The definition is a copy: failures may be reported when
/// the program's is gone.
struct KernelSites {
  vcode::Kernel kernel;
  std::vector<KernelFault> sites;
  std::vector<std::uint32_t> site_pass;
};

struct KernelRun {
  std::shared_ptr<const KernelSites> sites;
  std::vector<std::int64_t> lengths;  // of the passes, as far as they have run
};

}  // namespace cvl::cuda
