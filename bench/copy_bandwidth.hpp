// What the memory of this machine can do: the yardstick of all other figures.
#pragma once

#include <cstddef>

#include "cvl-cpu/cpu_backend.hpp"

namespace bench {

/// Bytes read plus bytes written per second by the best parallel copy of `bytes` bytes: the fastest
/// of repeated runs of both plain and cache-bypassing copies.
double copy_bandwidth(cvl::cpu::CpuBackend& cpu, std::size_t bytes);

}  // namespace bench
