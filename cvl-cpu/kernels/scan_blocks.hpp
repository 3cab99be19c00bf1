// Scans block by block, with or without segment borders inside the block.
//
// THE ORDER OF COMBINATION, which fixes the bits of FLOAT results. It depends on the number of
// elements and on the segmentation only. Fused kernels must follow it too.
//
//  1. At most tuning.small_length elements: from left to right, beginning with fold_start.
//  2. Otherwise elements are cut into tiles (tuning.fold_tile_bytes), and tiles into blocks of 64
//     bytes, counted from the beginning of the vector. Within a block, inclusive sums of each
//     segment are formed in log2(lanes) steps: lane i takes in lane i - d on its left for
//     d = 1, 2, 4 ... if no segment begins in between (Hillis and Steele, Data Parallel Algorithms,
//     CACM 1986).
//  3. A carry goes from block to block of the tile: carry = carry op last lane, or the last lane
//     alone if a segment begins in the block. A prefix goes from tile to tile in the same way.
//     An element's result is prefix op (carry op its left neighbour's sum in the block), where
//     carry and prefix are left out behind the first border.
//
// Operators that are exactly associative (all but FLOAT + and *) start the carry from the prefix,
// which saves an operation and changes nothing.
//
// Segment borders are marked in one byte per element, which are then gathered to bits. Adding up a
// length and setting a byte is all that a segment costs, and an empty segment sets one that is set
// anyhow, so that there is neither a branch per segment nor one per element.
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

/// Inclusive sums of a block with borders before some lanes. `joined` is the set of the other lanes
/// and becomes that of all lanes before the first border.
template <class Op, int kDistance = 1, class B>
CVL_FN B segment_sums(const B& x, const B& start, LaneSet& joined) {
  if constexpr (kDistance == B::kLanes) {
    return x;
  } else {
    const B next = select(joined, combine<Op>(shift_up<kDistance>(x, start), x), x);
    joined &= joined << kDistance | lanes_below(kDistance);
    keep_in_register(joined);
    return segment_sums<Op, 2 * kDistance>(next, start, joined);
  }
}

/// Has the operator a cheaper form where no operand is NaN?
template <class Op, class T>
constexpr bool kMindsNaN = ops::is_float<T> &&
                           (std::is_same_v<Op, ops::Max> || std::is_same_v<Op, ops::Min>);

/// The scan of one tile, fed with its blocks from left to right. That of BOOL is in flag_scan.hpp.
template <class Op, class T>
class TileScan {
 public:
  using B = ScanBlock<T>;
  static constexpr int kLanes = B::kLanes;

  CVL_FN explicit TileScan(T prefix)
      : start_(broadcast(ops::fold_start<Op, T>())),
        identity_(broadcast(Op::template identity<T>())),
        prefix_(broadcast(kAssociative<Op, T> ? ops::fold_start<Op, T>() : prefix)),
        carry_(broadcast(kAssociative<Op, T> ? prefix : ops::fold_start<Op, T>())) {
    look_at_carry();
  }

  /// Exclusive results of a block without borders.
  CVL_FN B exclusive(const B& x) {
    return with_operator(
        x, [&]<class Form>(Form) __attribute__((always_inline)) {
          const B sums = block_sums<Form>(x, start_);
          const B result = with_prefix(combine<Form>(carry_, shift_up<1>(sums, start_)));
          carry_ = combine<Form>(carry_, broadcast_last(sums));
          return result;
        });
  }

  /// Exclusive results of a block in which segments begin at `heads`.
  CVL_FN B exclusive(const B& x, LaneSet heads) {
    return with_operator(
        x, [&]<class Form>(Form) __attribute__((always_inline)) {
          LaneSet joined = joined_lanes(heads);
          const B sums = segment_sums<Form>(begun<Op, T>(x, start_), start_, joined);
          const B left = shift_up<1>(sums, start_);
          const B result = select(joined << 1 | 1, with_prefix(combine<Form>(carry_, left)), left);
          close<Form>(sums, joined);
          return select(heads, identity_, result);
        });
  }

  /// Inclusive results of a block without borders; no prefix.
  CVL_FN B inclusive(const B& x) {
    return with_operator(
        x, [&]<class Form>(Form) __attribute__((always_inline)) {
          const B sums = block_sums<Form>(x, start_);
          const B result = combine<Form>(carry_, sums);
          carry_ = combine<Form>(carry_, broadcast_last(sums));
          return result;
        });
  }

  /// Inclusive results of a block in which segments begin at `heads`; no prefix.
  CVL_FN B inclusive(const B& x, LaneSet heads) {
    return with_operator(
        x, [&]<class Form>(Form) __attribute__((always_inline)) {
          LaneSet joined = joined_lanes(heads);
          const B sums = segment_sums<Form>(begun<Op, T>(x, start_), start_, joined);
          const B result = select(joined, combine<Form>(carry_, sums), sums);
          carry_ = broadcast_last(result);
          return result;
        });
  }

  /// Takes in a block without borders, or what is combined already, without any results.
  CVL_FN void skip(const B& x) {
    with_operator(
        x, [&]<class Form>(Form) __attribute__((always_inline)) {
          carry_ = combine<Form>(carry_, broadcast_last(block_sums<Form>(x, start_)));
          return x;
        });
  }
  CVL_FN void take(T total) {
    carry_ = combine<Op>(carry_, broadcast(total));
    look_at_carry();
  }

  /// Total of the segment that is open after the last block, within this tile.
  CVL_FN T total() const { return last_lane(carry_); }
  /// The prefix of the next tile.
  CVL_FN T next_prefix() const { return last_lane(with_prefix(carry_)); }
  CVL_FN const B& carry() const { return carry_; }  // the same in all lanes
  CVL_FN const B& start() const { return start_; }

 private:
  /// Calls step(Op{}), or step(OfNumbers<Op>{}) where that gives the same.
  template <class Step>
  CVL_FN B with_operator(const B& x, Step step) {
    if constexpr (kMindsNaN<Op, T>) {
      if (!carry_is_nan_ && !has_nan(x)) return step(OfNumbers<Op>{});
      const B result = step(Op{});
      look_at_carry();
      return result;
    } else {
      return step(Op{});
    }
  }
  CVL_FN void look_at_carry() {
    if constexpr (kMindsNaN<Op, T>) carry_is_nan_ = has_nan(carry_);
  }
  CVL_FN B with_prefix(const B& x) const {
    if constexpr (kAssociative<Op, T>) {
      return x;
    } else {
      return combine<Op>(prefix_, x);
    }
  }
  static CVL_FN LaneSet joined_lanes(LaneSet heads) {
    LaneSet joined = ~heads;
    keep_in_register(joined);
    return joined;
  }
  /// Moves carry and prefix behind a block.
  template <class Form>
  CVL_FN void close(const B& sums, LaneSet joined) {
    const LaneSet all = LaneSet{0} - ((joined >> (kLanes - 1)) & 1);
    const B last = broadcast_last(sums);
    carry_ = select(all, combine<Form>(carry_, last), last);
    if constexpr (!kAssociative<Op, T>) prefix_ = select(all, prefix_, start_);
  }

  B start_, identity_, prefix_, carry_;
  bool carry_is_nan_ = false;
};

/// A walk over the segments that begin in a tile, with lengths of type I.
template <class I>
struct SegmentCursor {
  const I* lengths;  // null: all equal
  std::int64_t uniform_length;
  std::int64_t count;
  std::int64_t next = 0;  // segment
  std::int64_t position;  // where it begins; behind the last one, where that ends

  CVL_FN explicit SegmentCursor(const SegmentRun& run)
      : lengths(static_cast<const I*>(run.lengths)),
        uniform_length(run.uniform_length),
        count(run.count),
        position(run.start) {}
};

/// Marks of the segments that begin in one chunk.
class ChunkHeads {
 public:
  CVL_FN ChunkHeads() { clear(); }

  /// Marks the segments from the cursor on that begin before `end`, and moves it behind them. The
  /// chunk begins at `begin`. The segment behind the last one of a tile begins behind the tile, so
  /// that the number of segments need not be looked at.
  template <class I>
  CVL_FN void mark(SegmentCursor<I>& cursor, std::int64_t begin, std::int64_t end) {
    // Copies in registers: bytes may alias anything.
    std::int64_t position = cursor.position - begin;
    const std::int64_t limit = end - begin;
    if (cursor.lengths != nullptr) {
      const I* const first = cursor.lengths + cursor.next;
      const I* const last = cursor.lengths + cursor.count;
      const I* length = first;
      // Four at a time while all four begin in the chunk: the sum of lengths is what takes time.
      for (; length + 4 <= last; length += 4) {
        const std::int64_t two = std::int64_t{length[0]} + length[1];
        const std::int64_t four = two + length[2] + length[3];
        if (position + four >= limit) break;
        marks_[position] = 1;
        marks_[position + length[0]] = 1;
        marks_[position + two] = 1;
        marks_[position + two + length[2]] = 1;
        position += four;
      }
      for (; position < limit; position += *length++) marks_[position] = 1;
      cursor.next += length - first;
    } else {
      for (; position < limit; position += cursor.uniform_length, ++cursor.next) {
        marks_[position] = 1;
      }
    }
    cursor.position = position + begin;
    for (std::int64_t w = 0; 64 * w < limit; ++w) {
      words_[w] = gather_bits<64>(marks_ + 64 * w);
      clear_lanes(marks_ + 64 * w);
    }
  }

  /// Are there so few borders that it pays to branch on each block? Not seen in any result.
  template <int kLanes>
  static CVL_FN bool few(std::int64_t borders) {
    return borders <= kChunk / kLanes / 8;
  }

  /// The borders among kLanes elements of the chunk. REQUIRES: position is a multiple of kLanes.
  template <int kLanes>
  CVL_FN LaneSet heads(std::int64_t position) const {
    const LaneSet word = words_[position / 64];
    return kLanes == 64 ? word : (word >> (position % 64)) & lanes_below(kLanes % 64);
  }

 private:
  static constexpr std::int64_t kWords = kChunk / 64;

  CVL_FN void clear() {
    for (std::int64_t w = 0; w < kWords; ++w) clear_lanes(marks_ + 64 * w);
  }

  alignas(64) std::uint8_t marks_[kChunk];
  LaneSet words_[kWords];
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
