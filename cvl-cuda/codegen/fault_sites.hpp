// The places of a kernel that may fail, numbered.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "cvl/kernel_fault.hpp"

namespace cvl::cuda::codegen {

class FaultSites {
 public:
  explicit FaultSites(const KernelPlan& plan);

  /// The rank of a binding among those that may fail.
  int rank(std::uint32_t binding) const { return ranks_.at(binding); }
  /// The site of a node that traps, or of a sink that may fail, of a pass.
  int of_node(std::uint32_t pass, NodeId node) const { return nodes_.at({pass, node}); }
  int of_sink(std::uint32_t pass, std::uint32_t sink) const { return sinks_.at({pass, sink}); }

  int ranks() const { return static_cast<int>(ranks_.size()); }
  const std::vector<KernelFault>& sites() const { return sites_; }
  const std::vector<std::uint32_t>& passes() const { return passes_; }

 private:
  int add(std::uint32_t pass, const KernelFault& fault);

  std::vector<KernelFault> sites_;
  std::vector<std::uint32_t> passes_;
  std::map<std::uint32_t, int> ranks_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> nodes_, sinks_;
};

}  // namespace cvl::cuda::codegen
