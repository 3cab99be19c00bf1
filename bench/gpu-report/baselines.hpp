// The vendor's primitives for comparison.
#pragma once

#include <cuda_runtime_api.h>

#include "bench/gpu-report/meter.hpp"

namespace gpu_report {

/// Throws cvl::Failure when there is no memory.
std::function<void()> make_baseline(Baseline which, std::int64_t length,
                                    const std::vector<std::int64_t>& offsets, cudaStream_t stream);

}  // namespace gpu_report
