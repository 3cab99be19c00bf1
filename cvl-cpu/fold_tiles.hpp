// The tiles that segmented scans and reductions are divided into: a fixed number of elements,
// whatever the number and the lengths of the segments in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// A descriptor over many elements of `element_bytes` bytes, cut into tiles.
class FoldTiles {
 public:
  FoldTiles(CpuBackend& cpu, const Segdes& segdes, std::int64_t element_bytes)
      : segments_(cpu, segdes), tile_length_(tuning.fold_tile_bytes / element_bytes) {}

  struct Tile {
    std::int64_t begin, end;  // elements
    Segments::Begun begun;    // segments

    /// Does it begin in the middle of a segment?
    bool continues() const { return begun.run.count == 0 || begun.run.start > begin; }
  };
  const Segments& segments() const { return segments_; }
  std::int64_t tile_length() const { return tile_length_; }
  std::int64_t size() const { return tile_count(segments_.total(), tile_length_); }
  Tile operator[](std::int64_t index) const {
    const std::int64_t begin = index * tile_length_;
    const std::int64_t end = std::min(begin + tile_length_, segments_.total());
    return {begin, end, segments_.begun_in(begin, end)};
  }

 private:
  Segments segments_;
  std::int64_t tile_length_;
};

/// Elements of a tile of a pass that folds, whatever their types.
inline std::int64_t fold_tile_length(const CpuBackend& cpu) {
  return tuning.fold_tile_bytes / static_cast<std::int64_t>(cpu.widths().float_bytes);
}

/// Segments that are short and of equal length, each of which is combined from left to right.
inline bool are_rows(const Segdes& segdes) {
  return segdes.uniform && segdes.uniform_length > 0 && segdes.uniform_length <= tuning.longest_row;
}

/// Reduces what lies before `end` of the rows that begin in a tile. `out` is where the first one of
/// them goes, `in` is element 0.
inline void reduce_rows(const ReduceKernels& kernels, std::int64_t width, std::byte* out,
                        const std::byte* in, const SegmentRun& begun, std::int64_t end) {
  if (begun.count == 0) return;
  const std::int64_t length = begun.uniform_length;
  const std::int64_t whole = (end - begun.start) / length;
  const std::int64_t behind = begun.start + whole * length;
  kernels.rows(out, in + begun.start * width, whole, length);
  if (behind < end) kernels.rows(out + whole * width, in + behind * width, 1, end - behind);
}

/// One element of any type.
struct Element {
  alignas(8) std::byte bytes[8];
};

/// What a scan begins with.
inline Element start_of(const ScanKernels& kernels) {
  Element result;
  std::memcpy(result.bytes, kernels.start, sizeof result.bytes);
  return result;
}

}  // namespace cvl::cpu
