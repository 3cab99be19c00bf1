// What a schedule costs, in bytes moved through memory or their equivalent (fcode.md, R-P5).
#pragma once

#include <cstdint>
#include <span>

#include "fcode-opt/fusion/steps.hpp"

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

}  // namespace fcode
