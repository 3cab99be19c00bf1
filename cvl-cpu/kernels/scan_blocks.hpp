// Scans block by block, with or without segment borders inside the block.
//
// THE ORDER OF COMBINATION, which fixes the bits of FLOAT results. It depends on the number of
// elements and on the segmentation only. Fused kernels must follow it too.
//
//  1. At most kSmallLength elements: from left to right, beginning with fold_start.
//  2. Otherwise elements are cut into tiles (kFoldTileBytes), and tiles into blocks of 64 bytes,
//     counted from the beginning of the vector. Within a block, inclusive sums of each segment are
//     formed in log2(lanes) steps: lane i takes in lane i - d on its left for d = 1, 2, 4 ... if
//     no segment begins in between (Hillis and Steele, Data Parallel Algorithms, CACM 1986).
//  3. A carry goes from block to block of the tile: carry = carry op last lane, or the last lane
//     alone if a segment begins in the block. A prefix goes from tile to tile in the same way.
//     An element's result is prefix op (carry op its left neighbour's sum in the block), where
//     carry and prefix are left out behind the first border.
//
// Operators that are exactly associative (all but FLOAT + and *) start the carry from the prefix,
// which saves an operation and changes nothing.
//
// Segment borders come as one byte per element, nonzero where a segment begins. Setting such a byte
// is all that a segment costs, and an empty segment sets one that is set anyhow, so that there is
// neither a branch per segment nor one per element.
#pragma once

#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/lanes.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// Elements whose borders are marked at a time; the marks stay in the L1 cache.
constexpr std::int64_t kChunk = 1024;

/// fold_start op x: differs from x only by turning -0.0 into 0.0 before a FLOAT sum.
template <class Op, class T, class B>
CVL_FN B begun(const B& x, const B& start) {
  if constexpr (ops::is_float<T> && std::is_same_v<Op, ops::Add>) {
    return combine<Op>(start, x);
  } else {
    return x;
  }
}

/// Inclusive sums of a block without borders.
template <class Op, int kDistance = 1, class B>
CVL_FN B block_sums(const B& x, const B& start) {
  if constexpr (kDistance == B::kLanes) {
    return x;
  } else {
    return block_sums<Op, 2 * kDistance>(combine<Op>(shift_up<kDistance>(x, start), x), start);
  }
}

/// Inclusive sums of a block with borders before the lanes `begun`, which becomes the set of all
/// lanes at or behind a border.
template <class Op, int kDistance = 1, class B>
CVL_FN B segment_sums(const B& x, const B& start, LaneSet& begun) {
  if constexpr (kDistance == B::kLanes) {
    return x;
  } else {
    const B next = select(begun, x, combine<Op>(shift_up<kDistance>(x, start), x));
    begun |= begun << kDistance;
    keep_in_register(begun);
    return segment_sums<Op, 2 * kDistance>(next, start, begun);
  }
}

/// The scan of one tile, fed with its blocks from left to right.
template <class Op, class T>
class TileScan {
 public:
  using B = ScanBlock<T>;
  static constexpr int kLanes = B::kLanes;

  CVL_FN explicit TileScan(T prefix)
      : start_(broadcast(ops::fold_start<Op, T>())),
        identity_(broadcast(Op::template identity<T>())),
        prefix_(broadcast(kAssociative<Op, T> ? ops::fold_start<Op, T>() : prefix)),
        carry_(broadcast(kAssociative<Op, T> ? prefix : ops::fold_start<Op, T>())) {}

  /// Exclusive results of a block without borders.
  CVL_FN B exclusive(const B& x) {
    const B sums = block_sums<Op>(x, start_);
    const B result = with_prefix(combine<Op>(carry_, shift_up<1>(sums, start_)));
    carry_ = combine<Op>(carry_, broadcast_last(sums));
    return result;
  }

  /// Exclusive results of a block in which segments begin at `heads`.
  CVL_FN B exclusive(const B& x, LaneSet heads) {
    LaneSet reached = heads;
    const B sums = segment_sums<Op>(begun<Op, T>(x, start_), start_, reached);
    const B left = shift_up<1>(sums, start_);
    const B result = select(reached << 1, left, with_prefix(combine<Op>(carry_, left)));
    close(sums, reached);
    return select(heads, identity_, result);
  }

  /// Inclusive results of a block without borders; no prefix.
  CVL_FN B inclusive(const B& x) {
    const B sums = block_sums<Op>(x, start_);
    const B result = combine<Op>(carry_, sums);
    carry_ = combine<Op>(carry_, broadcast_last(sums));
    return result;
  }

  /// Inclusive results of a block in which segments begin at `heads`; no prefix.
  CVL_FN B inclusive(const B& x, LaneSet heads) {
    LaneSet reached = heads;
    const B sums = segment_sums<Op>(begun<Op, T>(x, start_), start_, reached);
    const B result = select(reached, sums, combine<Op>(carry_, sums));
    close(sums, reached);
    return result;
  }

  /// Takes in a block without borders, or what is combined already, without any results.
  CVL_FN void skip(const B& x) {
    carry_ = combine<Op>(carry_, broadcast_last(block_sums<Op>(x, start_)));
  }
  CVL_FN void take(T total) { carry_ = combine<Op>(carry_, broadcast(total)); }

  /// Total of the segment that is open after the last block, within this tile.
  CVL_FN T total() const { return last_lane(carry_); }
  /// The prefix of the next tile.
  CVL_FN T next_prefix() const { return last_lane(with_prefix(carry_)); }
  CVL_FN const B& start() const { return start_; }

 private:
  CVL_FN B with_prefix(const B& x) const {
    if constexpr (kAssociative<Op, T>) {
      return x;
    } else {
      return combine<Op>(prefix_, x);
    }
  }
  /// Moves carry and prefix behind a block.
  CVL_FN void close(const B& sums, LaneSet reached) {
    const LaneSet any = LaneSet{0} - ((reached >> (kLanes - 1)) & 1);
    const B last = broadcast_last(sums);
    carry_ = select(any, last, combine<Op>(carry_, last));
    if constexpr (!kAssociative<Op, T>) prefix_ = select(any, start_, prefix_);
  }

  B start_, identity_, prefix_, carry_;
};

/// Marks of the segments that begin in one chunk.
class ChunkHeads {
 public:
  CVL_FN ChunkHeads() { clear(); }
  CVL_FN void clear() {
    for (std::int64_t i = 0; i < kChunk; i += kBlockBytes) clear_lanes(marks_ + i);
  }

  /// Marks the segments from `first` on that begin before `end`, and returns the first that does
  /// not, or `last`. The chunk begins at `begin`. Takes the starts by value: they could not stay in
  /// registers otherwise, because bytes may alias anything.
  CVL_FN std::int64_t mark(SegmentStarts starts, std::int64_t first, std::int64_t last,
                           std::int64_t begin, std::int64_t end) {
    std::int64_t k = first;
    if (starts.offsets != nullptr) {
      const std::int64_t* offsets = starts.offsets;
      for (; k < last && offsets[k] < end; ++k) marks_[offsets[k] - begin] = 1;
    } else {
      std::int64_t position = k * starts.uniform_length;
      for (; position < end; ++k, position += starts.uniform_length) marks_[position - begin] = 1;
    }
    return k;
  }

  /// Are there so few borders that it pays to branch on each block? Not seen in any result.
  template <int kLanes>
  static CVL_FN bool few(std::int64_t borders) {
    return borders <= kChunk / kLanes / 8;
  }

  template <int kLanes>
  CVL_FN LaneSet heads(std::int64_t position) const {
    return gather_bits<kLanes>(marks_ + position);
  }

 private:
  alignas(64) std::uint8_t marks_[kChunk];
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
