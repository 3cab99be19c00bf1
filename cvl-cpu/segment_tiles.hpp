// Work on segmented data, divided by elements: tiles of a fixed number of elements, whatever the
// number and the lengths of the segments in them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// The starts of a descriptor over at most kSmallLength elements, without touching the heap.
class SmallStarts {
 public:
  /// REQUIRES: suits(segdes).
  SmallStarts(CpuBackend& cpu, const Segdes& segdes);

  static bool suits(const Segdes& segdes) {
    return segdes.total <= kSmallLength && (segdes.uniform || segdes.count <= kSmallLength);
  }
  const SegmentStarts& starts() const { return starts_; }

 private:
  std::array<std::int64_t, kSmallLength + 1> offsets_;  // filled for general descriptors only
  SegmentStarts starts_;
};

/// A descriptor over many elements, cut into tiles.
class SegmentTiles {
 public:
  SegmentTiles(CpuBackend& cpu, const Segdes& segdes, std::int64_t tile_length)
      : starts_(make_starts(cpu, segdes)),
        count_(segdes.count),
        total_(segdes.total),
        tile_length_(tile_length) {}

  /// The starts of any descriptor.
  static SegmentStarts make_starts(CpuBackend& cpu, const Segdes& segdes) {
    return {segdes.uniform ? nullptr : segment_offsets(cpu, segdes), segdes.uniform_length};
  }

  struct Tile {
    std::int64_t begin, end;   // elements
    std::int64_t first, last;  // segments that begin in it: first ... last - 1
  };
  std::int64_t size() const { return tile_count(total_, tile_length_); }
  Tile operator[](std::int64_t index) const {
    const std::int64_t begin = index * tile_length_;
    const std::int64_t end = std::min(begin + tile_length_, total_);
    return {begin, end, first_at(begin), first_at(end)};
  }
  const SegmentStarts& starts() const { return starts_; }
  /// The first segment that begins at or behind a position, or the number of segments.
  std::int64_t first_at(std::int64_t position) const;

 private:
  SegmentStarts starts_;
  std::int64_t count_, total_, tile_length_;
};

/// One element of any type.
struct Element {
  alignas(8) std::byte bytes[8];
};

}  // namespace cvl::cpu
