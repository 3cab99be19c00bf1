// Reduction kernels for ranges that segments begin in.
//
// A chunk is scanned inclusively into a buffer in the L1 cache, and the total of each segment is
// then picked up in front of the next segment's first element (segment_totals.hpp). The work per
// element is that of a scan and the work per segment an addition and a few stores, whatever the
// lengths. Chunks in which no segment begins are reduced by the plain kernel. Where combining can
// be undone exactly (sums of INT), the scan need not know the borders: a segment's total is the
// difference of two sums.
//
// Order of combination: that of scan_blocks.hpp in chunks with many borders; in chunks with few,
// blocks without borders are first added up lane by lane; in chunks with none, that of reduce.cpp.
// What a tile has of a segment is combined with what earlier tiles have, from left to right.
//
// BOOL segments are words of bits, which cost less than a scan: see flag_folds.hpp.

#include "cvl-cpu/kernels/flag_folds.hpp"
#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/reduce_blocks.hpp"
#include "cvl-cpu/kernels/scan_blocks.hpp"
#include "cvl-cpu/kernels/segment_totals.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// Sums of a chunk with few borders: blocks without them are added up lane by lane.
template <class Op, class T, class Totals>
CVL_FN void sum_few(TileScan<Op, T>& scan, const T* x, const ChunkHeads& marks, std::int64_t n,
                    Totals& totals) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  auto lanes = scan.start();
  for (std::int64_t i = 0; i < n; i += kLanes) {
    const LaneSet heads = marks.template heads<kLanes>(i);
    const auto elements = load(x + i);
    // The last block may be incomplete; a scan keeps what lies behind the data out.
    if (heads == 0 && i + kLanes <= n) {
      lanes = combine<Op>(lanes, elements);
    } else {
      scan.skip(lanes);
      lanes = scan.start();
      totals.skip(scan.carry());
      totals.put(i, heads, scan.inclusive(elements, heads));
    }
  }
  if (n % kLanes == 0) {
    scan.skip(lanes);
    totals.skip(scan.carry());
  }
}

template <class Op, class T, class I>
void reduce_tile(void* results, const void* in, std::int64_t begin, std::int64_t end,
                 const SegmentRun& segments, void* continued) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  const auto* x = static_cast<const T*>(in);
  const T start = ops::fold_start<Op, T>();
  TileScan<Op, T> scan(start);
  using Totals = TotalsTaker<Op, T, I>;
  typename Totals::Buffer buffer;
  Totals totals(static_cast<T*>(results), static_cast<T*>(continued), start, buffer);
  ChunkHeads marks;
  SegmentCursor<I> cursor(segments);
  std::int64_t chunk = begin;
  while (chunk < end) {
    const std::int64_t border = cursor.position;
    const std::int64_t plain = border >= end ? end : chunk + (border - chunk) / kChunk * kChunk;
    if (plain > chunk) {
      Accumulators<Op, T> sum;
      sum.add(x + chunk, plain - chunk);
      scan.take(sum.total());
      totals.skip(scan.carry());
      chunk = plain;
      if (chunk >= end) break;
    }
    const std::int64_t n = chunk + kChunk < end ? kChunk : end - chunk;
    const SegmentCursor<I> from = cursor;
    marks.mark(cursor, chunk, chunk + n);
    if constexpr (kInvertible<Op, T>) {
      for (std::int64_t i = 0; i < n; i += kLanes) {
        prefetch_ahead(x + chunk + i);
        totals.put(i, marks.template heads<kLanes>(i), scan.inclusive(load(x + chunk + i)));
      }
    } else if (ChunkHeads::few<kLanes>(cursor.next - from.next)) {
      sum_few(scan, x + chunk, marks, n, totals);
    } else {
      for (std::int64_t i = 0; i < n; i += kLanes) {
        prefetch_ahead(x + chunk + i);
        const LaneSet heads = marks.template heads<kLanes>(i);
        totals.put(i, heads, scan.inclusive(load(x + chunk + i), heads));
      }
    }
    totals.end_chunk(from, cursor, chunk);
    chunk += n;
  }
  totals.finish((end - 1) % kLanes);
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
