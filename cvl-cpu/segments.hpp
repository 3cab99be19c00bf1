// Segment descriptors as the operations of this library see them.
//
// Work is always divided by elements, never by segments, so that one huge segment and a million
// tiny ones balance alike. A range of elements finds its segments with one search and walks them in
// blocks that are small enough for tables in the L1 cache.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

/// The starts of the segments and, at the end, the number of elements: count+1 numbers. Made when
/// first asked for and then kept in the descriptor. REQUIRES: the descriptor is not uniform.
const std::int64_t* segment_offsets(CpuBackend& cpu, const Segdes& segdes);

/// The descriptor of `count` segments with these starts and total (count+1 numbers).
Segdes segdes_from_offsets(CpuBackend& cpu, Ref<Buffer> offsets, std::int64_t count);

/// The last of `count` segments that starts at or before `position`: for an element, its segment
/// (empty segments are skipped). REQUIRES: count > 0, 0 <= position.
std::int64_t segment_containing(const std::int64_t* offsets, std::int64_t count,
                                std::int64_t position);

/// At most this many elements and segments make a block.
inline constexpr std::int64_t kSegmentBlock = 512;

/// Elements [begin, end) and the segments [first, first + count) that they lie in.
struct SegmentBlock {
  std::int64_t begin, end;
  std::int64_t first, count;
};

/// Starts of segments, whether they are stored or follow from a uniform length. Valid as long as
/// the descriptor.
class Segments {
 public:
  Segments(CpuBackend& cpu, const Segdes& segdes)
      : offsets_(segdes.uniform ? nullptr : segment_offsets(cpu, segdes)),
        uniform_length_(segdes.uniform_length),
        count_(segdes.count),
        total_(segdes.total) {}

  std::int64_t count() const { return count_; }
  std::int64_t total() const { return total_; }
  /// REQUIRES: segment <= count()
  std::int64_t start(std::int64_t segment) const {
    return offsets_ != nullptr ? offsets_[segment] : segment * uniform_length_;
  }
  std::int64_t length(std::int64_t segment) const { return start(segment + 1) - start(segment); }

  /// See segment_containing().
  std::int64_t containing(std::int64_t position) const {
    if (offsets_ != nullptr) return segment_containing(offsets_, count_, position);
    return uniform_length_ == 0 ? count_ - 1 : std::min(position / uniform_length_, count_ - 1);
  }

  /// The first segment that starts at or behind `position`; count() if there is none.
  std::int64_t first_from(std::int64_t position) const {
    return position == 0 ? 0 : containing(position - 1) + 1;
  }

  /// The starts of segments first ... first+count (count+1 numbers): the stored ones, or `buffer`
  /// filled with them.
  const std::int64_t* starts(std::int64_t first, std::int64_t count, std::int64_t* buffer) const {
    if (offsets_ != nullptr) return offsets_ + first;
    for (std::int64_t k = 0; k <= count; ++k) buffer[k] = (first + k) * uniform_length_;
    return buffer;
  }

  /// Calls visit(SegmentBlock) for consecutive blocks that cover the elements [begin, end). Empty
  /// segments may or may not be part of a block.
  template <class Visit>
  void for_blocks(std::int64_t begin, std::int64_t end, const Visit& visit) const {
    if (begin >= end) return;
    std::int64_t segment = containing(begin);
    while (begin < end) {
      SegmentBlock block = block_at(begin, std::min(begin + kSegmentBlock, end), segment);
      if (block.begin < block.end) visit(block);
      begin = block.end;
      segment += begin == start(segment + block.count) ? block.count : block.count - 1;
    }
  }

 private:
  /// The block that begins with element `begin` of segment `first`.
  SegmentBlock block_at(std::int64_t begin, std::int64_t end, std::int64_t first) const {
    if (offsets_ == nullptr) {
      return {begin, end, first, (end - 1) / uniform_length_ - first + 1};
    }
    const std::int64_t most = std::min(kSegmentBlock, count_ - first);
    const std::int64_t covered = offsets_[first + most];
    if (covered <= end) return {begin, covered, first, most};
    return {begin, end, first, segment_containing(offsets_ + first, most, end - 1) + 1};
  }

  const std::int64_t* offsets_;
  std::int64_t uniform_length_;
  std::int64_t count_, total_;
};

}  // namespace cvl::cpu
