// What a schedule costs, in bytes moved through memory or their equivalent (fcode.md, R-P5).
#pragma once

#include <cstdint>

#include "fcode-opt/fusion/legality.hpp"

namespace fcode {

/// The length that is assumed of vectors whose length is not known.
inline constexpr std::int64_t kAssumedLength = 1024;
/// Starting a kernel: an instruction of the machine, its operands and results.
inline constexpr std::int64_t kKernelCost = 4096;
/// One pass over an index space.
inline constexpr std::int64_t kPassCost = 2048;
/// One more vector to be kept: allocation, stack traffic.
inline constexpr std::int64_t kVectorCost = 256;

/// One byte more, held at the peak, than the operations one by one hold: vectors of unknown length
/// are kept for nothing, a few numbers may be.
inline constexpr std::int64_t kHeldByteCost = 16;

/// Of the nodes before `end`, those behind it left out of account: never more than the cost of the
/// whole schedule.
std::int64_t cost(const RegionGraph& graph, const Schedule& schedule, NodeIndex end);
inline std::int64_t cost(const RegionGraph& graph, const Schedule& schedule) {
  return cost(graph, schedule, static_cast<NodeIndex>(graph.nodes.size()));
}

}  // namespace fcode
