// Which segment a position lies in.
//
// Threads that visit runs of positions find the segment of the first one and then go from segment
// to segment. The segments of a tile are found once for the whole block, by searches of two warps,
// and their starts are kept in shared memory (SegmentWindow).
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/warp.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// The last of the segments low ... high - 1 that starts(segment) at or before `position`.
/// REQUIRES: the first one does. Steps double, so that what is near is found soon.
template <class Starts>
KERNEL_FN std::int64_t last_started(std::int64_t low, std::int64_t high, std::int64_t position,
                                    const Starts& starts) {
  std::int64_t step = 1;
  while (low + step < high && starts(low + step) <= position) {
    low += step;
    step *= 2;
  }
  if (low + step < high) high = low + step;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (starts(middle) <= position) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The segments that the positions of a tile lie in.
template <int kPositions>
struct SegmentWindow {
  std::int64_t first, last;            // the segments of the first position and of the last one
  std::int64_t begin;                  // the first position
  std::int64_t first_start, last_end;  // of the first segment, and of the last one
  int count;  // of segments; 0: not known, for all have one length, or very many are empty
  std::uint16_t starts[kPositions];  // counted from `begin`; of the first segment 0
  static_assert(kPositions <= 65535);

  /// By all threads, for the tile of positions [from, end); then, after a barrier, fill().
  KERNEL_FN void find(const Segments& segments, std::int64_t from, std::int64_t end, int thread) {
    if (thread == 0) {
      begin = from;
      count = 0;
    }
    if (segments.uniform) return;
    if (in_warp(thread, 0)) {
      const std::int64_t found = segment_of(segments, from);
      if (leads_warp()) first = found;
    }
    if (in_warp(thread, 1)) {
      const std::int64_t found = segment_of(segments, end - 1);
      if (leads_warp()) last = found;
    }
  }
  template <int kThreads>
  KERNEL_FN void fill(const Segments& segments, int thread) {
    if (segments.uniform || last - first >= kPositions) return;
    const auto here = static_cast<int>(last - first) + 1;
    if (thread == 0) count = here;
    for_segments<kThreads>(segments, first, here, thread,
                           [&](int k, std::int64_t start, std::int64_t end) {
                             starts[k] = k == 0 ? 0 : static_cast<std::uint16_t>(start - begin);
                             if (k == 0) first_start = start;
                             if (k + 1 == here) last_end = end;
                           });
  }

 private:
  /// The last segment that starts at or before the position; empty ones start before others.
  static KERNEL_FN std::int64_t segment_of(const Segments& segments, std::int64_t position) {
#if defined(CVL_CUDA_WARPS)
    return count_of_warp(
               segments.count,
               [&](std::int64_t segment) { return segments.start(segment) <= position; }) -
           1;
#else
    return last_started(0, segments.count, position,
                        [&](std::int64_t segment) { return segments.start(segment); });
#endif
  }
};

/// The segment that was found last: positions [start, end).
struct SegmentCursor {
  std::int64_t segment = 0, start = 0, end = 0;

  /// Goes to the segment that `position` lies in, which takes a number of steps that is logarithmic
  /// in how many segments lie between, empty ones included, when positions grow from call to call.
  /// REQUIRES: 0 <= position < segments.total.
  KERNEL_FN void move(const Segments& segments, std::int64_t position) {
    if (position >= start && position < end) return;
    segment = segments.uniform
                  ? number_of_uniform(segments, position)
                  : last_started(position >= start ? segment : 0, segments.count, position,
                                 [&](std::int64_t each) { return segments.start(each); });
    start = segments.start(segment);
    end = segments.start(segment + 1);
  }

  /// The same for a position of a tile with this window.
  template <class Window>
  KERNEL_FN void move(const Segments& segments, const Window& window, std::int64_t position) {
    if (window.count == 0) return move(segments, position);
    take(window, static_cast<int>(last_started(0, window.count, position - window.begin,
                                               [&](std::int64_t k) { return window.starts[k]; })));
  }
  /// The same from the position before.
  template <class Window>
  KERNEL_FN void step(const Segments& segments, const Window& window, std::int64_t position) {
    if (position < end) return;
    if (segments.uniform) {
      ++segment;
      start = end;
      end += segments.uniform_length;
    } else if (window.count != 0) {
      auto k = static_cast<int>(segment - window.first) + 1;
      while (k + 1 < window.count && window.starts[k + 1] <= position - window.begin) ++k;
      take(window, k);
    } else {
      move(segments, position);
    }
  }

 private:
  template <class Window>
  KERNEL_FN void take(const Window& window, int k) {
    segment = window.first + k;
    start = k == 0 ? window.first_start : window.begin + window.starts[k];
    end = k + 1 == window.count ? window.last_end : window.begin + window.starts[k + 1];
  }
  static KERNEL_FN std::int64_t number_of_uniform(const Segments& segments, std::int64_t position) {
    // Devices divide 32-bit numbers several times faster than 64-bit ones.
    if (segments.total <= 0xFFFFFFFF) {
      return static_cast<std::uint32_t>(position) /
             static_cast<std::uint32_t>(segments.uniform_length);
    }
    return position / segments.uniform_length;
  }
};

/// The number of the segment that any position lies in.
KERNEL_FN inline std::int64_t segment_at(const Segments& segments, std::int64_t position) {
  SegmentCursor cursor;
  cursor.move(segments, position);
  return cursor.segment;
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
