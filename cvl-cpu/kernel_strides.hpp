// Indices that are equally far apart within each segment, as the multiples of a number are. Where
// one value is sent to such places no index is computed per element, and the targets are written
// range by range, each by one thread and in its cache. The least and greatest of such indices are
// those at the ends of segments.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// An index: start + position within the segment * stride, which are the same in a whole segment.
struct StridedIndex {
  SegdesId segdes = kNone;  // whose segments; kNone: the positions of the pass are one
  NodeId start = kNone, stride = kNone;
};

/// The index node in this form, if it has it.
std::optional<StridedIndex> find_strided_index(const PlanPass& pass, NodeId index);

/// The extremes of all such numbers. Nothing if there are none, or if one of them does not fit the
/// INT of the run.
struct Extremes {
  std::int64_t least, greatest;
};
std::optional<Extremes> find_extremes(BoundPass& pass, const StridedIndex& index);

/// start, start + stride, ... REQUIRES: stride > 0, count > 0
struct StridedPlaces {
  std::int64_t start, stride, count;
};

/// The places of all segments that have elements. Nothing if one of them is not in [0, limit), or
/// if the segments are so short or so many that this is no faster than computing indices. The
/// elements of the targets have `element_bytes` bytes.
std::optional<std::vector<StridedPlaces>> find_strided_places(BoundPass& pass,
                                                              const StridedIndex& index,
                                                              std::int64_t limit,
                                                              std::int64_t element_bytes);

/// Writes an element to all places, on all threads. REQUIRES: the target has storage for them.
void fill_places(CpuBackend& cpu, Vector& target, const std::byte* element,
                 const std::vector<StridedPlaces>& places);

}  // namespace cvl::cpu
