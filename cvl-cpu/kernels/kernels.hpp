// Kernels: the inner loops, as plain functions over plain pointers.
//
// The sources of this folder are compiled once per instruction set (isa.hpp), each time inside a
// namespace of that name, and reached only through the table below. They include nothing that could
// leave out-of-line code compiled for a better processor where others would call it: no standard
// library templates, only scalar_ops.hpp and intrinsics.
//
// Common rules. Lengths are counts of elements, never negative. Pointers are aligned to their
// element. Up to Heap::kPadding bytes after the last element of a vector may be read and written
// (what is there is undefined), unless a function says otherwise. `out` may be exactly equal to an
// input of the same element size, but must not overlap one otherwise.
#pragma once

#include <cstdint>

#include "cvl-cpu/isa.hpp"
#include "cvl/value.hpp"
#include "vcode/opcodes.hpp"

namespace cvl::cpu {

/// out[i] = op(a[i], b[i], c[i]); unused operands are null. True when the operation failed for some
/// element (results are then undefined; find_failure() in elementwise.cpp says where).
using ElementwiseKernel = bool (*)(void* out, const void* a, const void* b, const void* c,
                                   std::int64_t n);
/// Copies with stores that go around the cache; for results that will not be read soon.
using StreamKernel = void (*)(void* out, const void* in, std::int64_t bytes);
/// out[i] = *element
using FillKernel = void (*)(void* out, const void* element, std::int64_t n);
/// out[i] = start + (first + i) * step, wrapped to INT
using ProgressionKernel = void (*)(void* out, std::int64_t start, std::int64_t step,
                                   std::int64_t first, std::int64_t n);

/// What a pass over segment lengths finds; the sum is taken modulo 2^64.
struct LengthSummary {
  std::uint64_t sum;
  std::int64_t least, greatest;
};
/// REQUIRES: n > 0
using SummarizeLengthsKernel = LengthSummary (*)(const void* lengths, std::int64_t n);
/// out[i] = first_start + sum of the lengths before i
using StartsKernel = void (*)(std::int64_t* out, const void* lengths, std::int64_t n,
                              std::int64_t first_start);
// Expansion: the elements [begin, end) lie in the segments that begin at starts[0 ... count-1], the
// last of which ends at starts[count]. `out` holds end-begin elements and 64 more bytes that may be
// overwritten.
/// out[i] = values[segment of element begin + i]
using ExpandKernel = void (*)(void* out, const void* values, const std::int64_t* starts,
                              std::int64_t count, std::int64_t begin, std::int64_t end);
/// out[i] = first[segment] + position in the segment * step[segment], wrapped to INT
using ExpandProgressionsKernel = void (*)(void* out, const void* first, const void* steps,
                                          const std::int64_t* starts, std::int64_t count,
                                          std::int64_t begin, std::int64_t end);
/// Start and length, according to `targets`, of the segment of each element.
using ExpandSegmentsKernel = void (*)(std::int64_t* start_of, std::int64_t* length_of,
                                      const std::int64_t* starts, const std::int64_t* targets,
                                      std::int64_t count, std::int64_t begin, std::int64_t end);

/// The kernels for one instruction set and one choice of widths, indexed by operation or type.
struct Kernels {
  ElementwiseKernel elementwise[vcode::kOpCount][vcode::kDataTypes] = {};
  StreamKernel stream = nullptr;
  FillKernel fill[vcode::kDataTypes] = {};
  ProgressionKernel progression = nullptr;
  SummarizeLengthsKernel summarize_lengths = nullptr;
  StartsKernel starts = nullptr;
  ExpandKernel expand[vcode::kDataTypes] = {};
  ExpandProgressionsKernel expand_progressions = nullptr;
  ExpandSegmentsKernel expand_segments = nullptr;
};

Kernels make_kernels(Isa isa, Widths widths);

// Each kernel file defines one of these per instruction set.
#define CVL_DECLARE_KERNELS(isa)                         \
  namespace isa {                                        \
  void add_elementwise_kernels(Kernels&, Widths widths); \
  void add_expand_kernels(Kernels&, Widths widths);      \
  }
CVL_DECLARE_KERNELS(baseline)
CVL_DECLARE_KERNELS(v3)
CVL_DECLARE_KERNELS(v4)
#undef CVL_DECLARE_KERNELS

}  // namespace cvl::cpu
