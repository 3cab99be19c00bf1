// Where the results of kernels are written.
//
// Which sink writes a result, when, and into whose storage is decided in several places: twins
// share a vector, results take over operands, moves run behind the blocks. So whoever is about to
// write asks here, once a tile, in release builds too. A mistake in those decisions ends in an
// internal error that says what was to be written, never in a write to memory of something else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

/// The address of element 0 of `result`, elements [begin, end) of which are about to be written.
/// Throws an internal error unless there is storage for them.
std::byte* checked_storage(const CpuBackend& cpu, Vector& result, std::int64_t begin,
                           std::int64_t end);

}  // namespace cvl::cpu
