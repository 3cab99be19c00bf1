// What vector libraries say when an operation fails on some element, in one wording for all of
// them. Positions count from 0.
#pragma once

#include <cstdint>

#include "cvl/failure.hpp"
#include "vcode/opcodes.hpp"

namespace cvl {

/// `position` is the first element of the divisor that is 0, out of `length`.
Failure division_by_zero(vcode::Op op, std::int64_t position, std::int64_t length);

/// RAND of an element below 1.
Failure random_range(std::int64_t position, std::int64_t bound, std::int64_t length);

/// Element `position` of the index vector is not an index of its segment.
Failure index_out_of_range(vcode::Op op, std::int64_t position, std::int64_t index,
                           std::int64_t segment, std::int64_t segment_length);

/// Element `position` of `count` segment lengths is negative.
Failure negative_length(std::int64_t position, std::int64_t length, std::int64_t count);

/// The sum of segment lengths does not fit 64 bits.
Failure total_overflow();

}  // namespace cvl
