// Segment descriptors as the operations of this library see them.
//
// Work is always divided by elements, never by segments, so that one huge segment and a million
// tiny ones balance alike. A range of elements finds its segments with one search in a sparse index
// and walks them in blocks whose starts are summed up from the lengths into tables in the L1 cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

/// The starts of segments 0, kIndexStep, 2 kIndexStep ... Made when first asked for and then kept
/// in the descriptor. REQUIRES: the descriptor is not uniform.
const std::int64_t* segment_index(CpuBackend& cpu, const Segdes& segdes);

/// The descriptor of these lengths, none of which is negative and whose sum is `total`.
Segdes segdes_from_lengths(CpuBackend& cpu, Vector lengths, std::int64_t total);

/// The last of `count` segments that starts at or before `position`: for an element, its segment
/// (empty segments are skipped). REQUIRES: count > 0, starts[0] <= position.
std::int64_t segment_containing(const std::int64_t* starts, std::int64_t count,
                                std::int64_t position);

/// Buffers have room for a block of so many elements or segments.
inline constexpr std::int64_t kSegmentBlock = LargestTuning::segment_block;

/// Room for the starts of `most` segments and the end of the last one; see Segments::starts().
template <std::int64_t most>
using StartsBuffer = std::int64_t[most + kIndexStep];

/// Elements [begin, end) and the segments [first, first + count) that they lie in.
struct SegmentBlock {
  std::int64_t begin, end;
  std::int64_t first, count;
  const std::int64_t* starts;  // of those segments, and the end of the last one
};

/// A descriptor that can be searched. Valid as long as the descriptor.
class Segments {
 public:
  Segments(CpuBackend& cpu, const Segdes& segdes);

  std::int64_t count() const { return count_; }
  std::int64_t total() const { return total_; }
  /// Are they as long, segment by segment? Lengths from different sources are compared. False if
  /// only one of the descriptors says that all are equal.
  bool are_those_of(const Segments& other) const;
  /// REQUIRES: segment <= count()
  std::int64_t start(std::int64_t segment) const;
  /// REQUIRES: segment < count()
  std::int64_t length(std::int64_t segment) const;

  struct Place {
    std::int64_t segment;
    std::int64_t start, end;
  };
  /// Those of segments from `first` on, as INTs; null where all are equal. REQUIRES: first <=
  /// count()
  const std::byte* lengths(std::int64_t first) const {
    return lengths_ == nullptr ? nullptr : lengths_ + first * width_;
  }
  /// The segment of an element. REQUIRES: 0 <= position < total()
  Place place_of(std::int64_t position) const;

  /// The next segment with elements. REQUIRES: place.end < total()
  Place behind(const Place& place) const {
    std::int64_t segment = place.segment + 1;
    std::int64_t elements = length(segment);
    while (elements == 0) elements = length(++segment);
    return {segment, place.end, place.end + elements};
  }

  /// The first segment that starts at or behind `position`, up to total(); count() if there is
  /// none.
  std::int64_t first_from(std::int64_t position) const {
    return position == 0 ? 0 : place_of(position - 1).segment + 1;
  }

  /// The segments that begin in a range of elements, and where the last of them does.
  struct Begun {
    std::int64_t first;  // number of the first one
    SegmentRun run;
    std::int64_t last_start;
  };
  /// REQUIRES: begin < end
  Begun begun_in(std::int64_t begin, std::int64_t end) const;

  /// All segments.
  SegmentRun all() const { return {lengths_, uniform_length_, 0, count_}; }

  /// The starts of segments first ... first+count (count+1 numbers), somewhere in `buffer`, which
  /// is a StartsBuffer.
  const std::int64_t* starts(std::int64_t first, std::int64_t count, std::int64_t* buffer) const;

  /// Calls visit(SegmentBlock) for consecutive blocks that cover the elements [begin, end). Empty
  /// segments may or may not be part of a block.
  template <class Visit>
  void for_blocks(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    if (begin < end) for_blocks(place_of(begin), begin, end, visit);
  }
  /// The same, given the segment of the first element. REQUIRES: begin < end
  template <class Visit>
  void for_blocks(const Place& place, std::int64_t begin, std::int64_t end,
                  const Visit& visit) const {
    StartsBuffer<kSegmentBlock> buffer;
    std::int64_t segment = place.segment;
    Window window = window_from(place, expected_segments(end - begin), buffer);
    while (begin < end) {
      const std::int64_t goal = std::min(begin + tuning.segment_block, end);
      if (window.end() < goal && segment > window.first) {
        window = window_at(segment, tuning.segment_block, buffer);
      }
      const std::int64_t* starts = window.starts + (segment - window.first);
      const std::int64_t left = window.count - (segment - window.first);
      if (starts[left] <= goal) {
        if (begin < starts[left]) visit({begin, starts[left], segment, left, starts});
        begin = starts[left];
        segment += left;
      } else {
        const std::int64_t count = segment_containing(starts, left, goal - 1) + 1;
        visit({begin, goal, segment, count, starts});
        begin = goal;
        segment += starts[count] == goal ? count : count - 1;
      }
    }
  }

 private:
  /// Some segments whose starts have been computed.
  struct Window {
    std::int64_t first, count;
    const std::int64_t* starts;
    std::int64_t end() const { return starts[count]; }
  };
  Window window_at(std::int64_t first, std::int64_t most, std::int64_t* buffer) const {
    const std::int64_t count = std::min(most, count_ - first);
    return {first, count, starts(first, count, buffer)};
  }
  Window window_from(const Place& place, std::int64_t most, std::int64_t* buffer) const {
    const std::int64_t count = std::min(most, count_ - place.segment);
    if (lengths_ == nullptr) return window_at(place.segment, most, buffer);
    cpu_.kernels().starts(buffer, lengths_ + place.segment * width_, count, place.start);
    return {place.segment, count, buffer};
  }
  /// How many starts to compute for a range of elements: enough, if the segments are of about the
  /// same length, but not many times what is needed when a single block is asked for.
  std::int64_t expected_segments(std::int64_t elements) const {
    const double mean = static_cast<double>(count_) / static_cast<double>(total_);
    const double expected = 8 + 1.5 * mean * static_cast<double>(elements);
    return static_cast<std::int64_t>(std::min(expected, static_cast<double>(tuning.segment_block)));
  }

  const CpuBackend& cpu_;
  const std::byte* lengths_;   // null when uniform
  const std::int64_t* index_;  // likewise
  std::int64_t width_;         // of a length
  std::int64_t uniform_length_;
  std::int64_t count_, total_;
};

/// All segments of a descriptor that need not be searched.
SegmentRun all_segments(const Segdes& segdes);

}  // namespace cvl::cpu
