// What a schedule costs, in bytes moved through memory or their equivalent (fcode.md, R-P5).
#pragma once

#include <cstdint>

#include "fcode-opt/fusion/kernel_passes.hpp"

namespace fcode {

/// The length that is assumed of vectors whose length is not known.
inline constexpr std::int64_t kAssumedLength = 1024;
/// Starting a kernel: an instruction of the machine, its operands and results.
inline constexpr std::int64_t kKernelCost = 4096;
/// One pass over an index space: a launch on a device.
inline constexpr std::int64_t kPassCost = 8192;
/// One more vector to be kept: allocation, stack traffic.
inline constexpr std::int64_t kVectorCost = 256;
/// What a pass moves counts so many times if no two parts of it can be run at once.
inline constexpr std::int64_t kInOrderFactor = 2;

/// One byte more, held at the peak, than the operations one by one hold: vectors of unknown length
/// are kept for nothing, a few numbers may be.
inline constexpr std::int64_t kHeldByteCost = 16;

std::int64_t cost(const RegionGraph& graph, std::span<const Step> steps);

/// What each kernel of a schedule costs, so that a schedule that differs from it in a few nodes is
/// priced by the kernels that differ. The sum is that of cost(): what one kernel costs depends on
/// its nodes alone.
class KernelCosts {
 public:
  KernelCosts(const RegionGraph& graph, const Schedule& start);
  std::int64_t of(const Schedule& schedule);
  std::int64_t total() const { return total_; }
  /// Schedules are compared with this one from now on.
  void start_from(const Schedule& schedule);

 private:
  void find_changed(const Schedule& schedule);
  std::int64_t kernel(const Schedule& schedule, std::span<const NodeIndex> members);

  const RegionGraph& graph_;
  KernelPasses passes_;
  Schedule start_;
  std::vector<std::int64_t> by_slot_;  // of the kernels of start_
  std::int64_t total_ = 0;
  Steps steps_;                                  // of one kernel
  std::vector<bool> changed_;                    // by slot
  std::vector<std::vector<NodeIndex>> members_;  // of changed slots
};

}  // namespace fcode
