// Reduction kernels for ranges that segments begin in.
//
// What a tile has of a segment is a piece. Pieces of kLongPiece elements and more are reduced each
// by itself, as reduce.cpp does it, and so is a shorter one that stands alone between two of them.
// Others are scanned together: a chunk is scanned inclusively into a buffer in the L1 cache, and
// the total of each segment is then picked up in front of the next segment's first element
// (segment_totals.hpp). The work per element is that of a scan and the work per segment an addition
// and a few stores, however short they are. Where combining can be undone exactly (sums of INT),
// the scan need not know the borders: a segment's total is the difference of two sums.
//
// Short segments of equal length are rows, which have kernels of their own (reduce_rows.cpp).
//
// THE ORDER OF COMBINATION depends on the lengths of segments only. In a piece by itself it is that
// of reduce.cpp, from the piece's own beginning. In others it is that of scan_blocks.hpp, blocks
// being counted from the end of the last long piece or the beginning of the tile; what is left of
// one behind the last chunk of 1024 elements is reduced as a piece by itself is. The pieces of a
// segment are combined from left to right. Fused kernels must follow this.
//
// BOOL segments are words of bits, which cost less than a scan: see flag_folds.hpp.

#include "cvl-cpu/kernels/flag_folds.hpp"
#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/reduce_blocks.hpp"
#include "cvl-cpu/kernels/scan_blocks.hpp"
#include "cvl-cpu/kernels/segment_totals.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// The total of a piece by itself.
template <class Op, class T>
CVL_FN T whole(const T* x, std::int64_t n) {
  Accumulators<Op, T> sum;
  sum.add(x, n);
  return sum.total();
}

/// The totals of short pieces, which are all elements [begin, end): of one that began earlier, and
/// of the segments that begin here.
template <class Op, class T, class I>
CVL_FN void reduce_short(T* results, const T* x, std::int64_t begin, std::int64_t end,
                         const SegmentRun& segments, T* continued, ChunkHeads& marks) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  const T start = ops::fold_start<Op, T>();
  TileScan<Op, T> scan(start);
  using Totals = TotalsTaker<Op, T, I>;
  typename Totals::Buffer buffer;
  Totals totals(results, continued, start, buffer);
  SegmentCursor<I> cursor(segments);
  for (std::int64_t chunk = begin; chunk < end; chunk += kChunk) {
    if (cursor.position >= end) {
      scan.take(whole<Op>(x + chunk, end - chunk));
      totals.skip(scan.carry());
      break;
    }
    const std::int64_t n = chunk + kChunk < end ? kChunk : end - chunk;
    const SegmentCursor<I> from = cursor;
    marks.mark(cursor, chunk, chunk + n);
    if constexpr (kInvertible<Op, T>) {
      for (std::int64_t i = 0; i < n; i += kLanes) {
        prefetch_ahead(x + chunk + i);
        totals.put(i, marks.template heads<kLanes>(i), scan.inclusive(load(x + chunk + i)));
      }
    } else {
      for (std::int64_t i = 0; i < n; i += kLanes) {
        prefetch_ahead(x + chunk + i);
        const LaneSet heads = marks.template heads<kLanes>(i);
        totals.put(i, heads, scan.inclusive(load(x + chunk + i), heads));
      }
    }
    totals.end_chunk(from, cursor, chunk);
  }
  if (begin < end) totals.finish((end - begin - 1) % kLanes);
  // Empty segments at the end mark nothing.
  for (std::int64_t k = cursor.next; k < segments.count; ++k) {
    results[k] = Op::template identity<T>();
  }
}

/// The pieces of a tile from left to right.
template <class I>
class PieceCursor {
 public:
  CVL_FN PieceCursor(const SegmentRun& run, std::int64_t end)
      : lengths_(static_cast<const I*>(run.lengths)),
        uniform_length_(run.uniform_length),
        count_(run.count),
        end_(end),
        position_(run.start < end ? run.start : end) {}

  std::int64_t segment() const { return segment_; }    // of the next piece, counted in the tile
  std::int64_t position() const { return position_; }  // where it begins
  bool at_end() const { return segment_ == count_; }
  CVL_FN std::int64_t own_length(std::int64_t segment) const {
    return lengths_ != nullptr ? lengths_[segment] : uniform_length_;
  }
  /// Only the last segment may go on behind the tile.
  CVL_FN std::int64_t length() const {
    const std::int64_t own = own_length(segment_);
    const std::int64_t left = end_ - position_;
    return own < left ? own : left;
  }
  CVL_FN void advance(std::int64_t length) {
    position_ += length;
    ++segment_;
  }
  /// Moves to the next long piece, or to the end.
  CVL_FN void skip_short() {
    if (lengths_ == nullptr && uniform_length_ < kLongPiece) {
      position_ = end_;
      segment_ = count_;
      return;
    }
    constexpr std::int64_t kTogether = 16;
    using Unsigned = std::make_unsigned_t<I>;
    while (lengths_ != nullptr && segment_ + kTogether < count_) {
      const I* own = lengths_ + segment_;
      Unsigned longest = 0, sum = 0;  // which does not wrap if all are short
#pragma omp simd reduction(max : longest) reduction(+ : sum)
      for (std::int64_t i = 0; i < kTogether; ++i) {
        const auto length = static_cast<Unsigned>(own[i]);
        longest = longest < length ? length : longest;
        sum += length;
      }
      if (longest >= kLongPiece) break;
      position_ += static_cast<std::int64_t>(sum);
      segment_ += kTogether;
    }
    while (!at_end() && length() < kLongPiece) advance(length());
  }
  /// The segments from `first` on, which begins at `start`, that lie before the next piece.
  CVL_FN SegmentRun since(std::int64_t first, std::int64_t start) const {
    return {lengths_ != nullptr ? lengths_ + first : nullptr, uniform_length_, start,
            segment_ - first};
  }

 private:
  const I* lengths_;  // null: all equal
  std::int64_t uniform_length_, count_, end_;
  std::int64_t segment_ = 0;
  std::int64_t position_;
};

template <class Op, class T, class I>
void reduce_tile(void* results, const void* in, std::int64_t begin, std::int64_t end,
                 const SegmentRun& segments, void* continued) {
  const auto* x = static_cast<const T*>(in);
  auto* r = static_cast<T*>(results);
  T nobodys;
  T* open = static_cast<T*>(continued);  // of the piece at `from`, if that began earlier
  ChunkHeads marks;
  PieceCursor<I> cursor(segments, end);
  std::int64_t from = begin;
  if (cursor.position() - from >= kLongPiece) {
    *open = whole<Op>(x + from, cursor.position() - from);
    open = &nobodys;
    from = cursor.position();
  }
  while (true) {
    const std::int64_t first = cursor.segment(), start = cursor.position();
    cursor.skip_short();
    const std::int64_t to = cursor.position();
    std::int64_t only = first;  // with elements, if there is one alone
    while (only < cursor.segment() && cursor.own_length(only) == 0) ++only;
    const bool continues = from < start;
    const bool alone =
        continues ? start == to : only < cursor.segment() && cursor.own_length(only) >= to - from;
    if (alone) {
      for (std::int64_t k = first; k < cursor.segment(); ++k) r[k] = Op::template identity<T>();
      *(continues ? open : r + only) = whole<Op>(x + from, to - from);
    } else if (from < to || first < cursor.segment()) {
      reduce_short<Op, T, I>(r + first, x, from, to, cursor.since(first, start), open, marks);
    }
    if (cursor.at_end()) break;
    const std::int64_t n = cursor.length();
    r[cursor.segment()] = whole<Op>(x + cursor.position(), n);
    cursor.advance(n);
    open = &nobodys;
    from = cursor.position();
  }
}

template <class Op, class I>
void reduce_flags_tile(void* results, const void* in, std::int64_t begin, std::int64_t end,
                       const SegmentRun& segments, void* continued) {
  const FlagFold<Op> fold(static_cast<const Bool*>(in), begin, end);
  auto* r = static_cast<Bool*>(results);
  const auto* lengths = static_cast<const I*>(segments.lengths);
  std::int64_t from = segments.start < end ? segments.start : end;
  *static_cast<Bool*>(continued) = fold.total(begin, from);
  for (std::int64_t k = 0; k < segments.count; ++k) {
    const std::int64_t to = from + (lengths != nullptr ? lengths[k] : segments.uniform_length);
    r[k] = fold.total(from, to < end ? to : end);
    from = to;
  }
}

}  // namespace

void add_segmented_reduce_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_reductions<I, F>(kernels, []<class Op, class T>(ReduceKernels& entry) {
      if constexpr (std::is_same_v<T, Bool>) {
        entry.tile = reduce_flags_tile<Op, I>;
      } else {
        entry.tile = reduce_tile<Op, T, I>;
      }
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
