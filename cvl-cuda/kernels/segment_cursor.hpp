// Which segment a position lies in, for code that looks at one position after the other.
#pragma once

#include <cstdint>

#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// The segment that was found last: positions [start, end).
struct SegmentCursor {
  std::int64_t segment = 0, start = 0, end = 0;

  /// Goes to the segment that `position` lies in, which takes a number of steps that is logarithmic
  /// in how many segments lie between, empty ones included, when positions grow from call to call.
  /// REQUIRES: 0 <= position < segments.total.
  KERNEL_FN void move(const Segments& segments, std::int64_t position) {
    if (position >= start && position < end) return;
    segment = segments.uniform ? number_of_uniform(segments, position) : find(segments, position);
    start = segments.start(segment);
    end = segments.start(segment + 1);
  }

 private:
  static KERNEL_FN std::int64_t number_of_uniform(const Segments& segments, std::int64_t position) {
    // Devices divide 32-bit numbers several times faster than 64-bit ones.
    if (segments.total <= 0xFFFFFFFF) {
      return static_cast<std::uint32_t>(position) /
             static_cast<std::uint32_t>(segments.uniform_length);
    }
    return position / segments.uniform_length;
  }
  /// The last segment that starts at or before the position; empty ones start before others.
  KERNEL_FN std::int64_t find(const Segments& segments, std::int64_t position) const {
    std::int64_t low = position >= start ? segment : 0;  // starts at or before the position
    std::int64_t step = 1;
    while (low + step < segments.count && segments.start(low + step) <= position) {
      low += step;
      step *= 2;
    }
    std::int64_t high = low + step < segments.count ? low + step : segments.count;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      if (segments.start(middle) <= position) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }
};

/// The number of the segment that any position lies in.
KERNEL_FN inline std::int64_t segment_at(const Segments& segments, std::int64_t position) {
  SegmentCursor cursor;
  cursor.move(segments, position);
  return cursor.segment;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
