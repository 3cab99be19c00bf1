// Failures of kernels, in one wording for all vector libraries.
#pragma once

#include <cstdint>

#include "cvl/failure.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl {

/// A failure at one position. Of several, that of the first binding counts, of one binding that at
/// the first position: what evaluating one binding after the other would have met first.
struct KernelFault {
  enum class Kind : std::uint8_t { Division, Index, Segment, Assertion, Random, Length, Size };
  Kind kind = Kind::Division;
  std::uint32_t binding = 0;
  std::int64_t position = 0;
  NodeId node = kNone;     // Division, Index, Segment: the node that failed …
  vcode::Op op{};          // … its operation, if it is one
  std::uint32_t id = 0;    // array, descriptor or size
  std::int64_t value = 0;  // index, bound, length or size
  std::int64_t limit = 0;  // number of elements or segments that there are
  std::int64_t count = 0;  // positions in the pass
};

Failure failure_of(const vcode::Kernel& kernel, const KernelFault& fault);

/// The size `id` of a kernel is `needed`, but the operand or result `of` has `found`.
Failure size_mismatch(const vcode::Kernel& kernel, SizeId id, const std::string& of,
                      std::int64_t found, std::int64_t needed);

/// The descriptors of the positions and of the targets of a SCATTER have different numbers of
/// segments.
Failure segment_mismatch(const vcode::Kernel& kernel, SegdesId under, std::int64_t under_count,
                         SegdesId into, std::int64_t into_count);

}  // namespace cvl
