// Reduction kernels for ranges that segments begin in.
//
// A chunk is scanned inclusively into a buffer in the L1 cache, and the total of each segment is
// then picked up in front of the next segment's first element. The work per element is that of a
// scan and the work per segment two loads and a store, whatever the lengths. Chunks in which no
// segment begins are reduced by the plain kernel. Where combining can be undone exactly (sums of
// INT), the scan need not know the borders: a segment's total is the difference of two sums.
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

namespace cvl::cpu::CVL_ISA {
namespace {

/// Totals of the segments before segments from ... to-1, which begin in a chunk. The sum before
/// position p of the chunk is at totals[p], the identity at totals[-1]: an empty segment reads that
/// without a branch.
template <class T>
CVL_FN void pick_totals(T* results, const T* totals, const SegmentStarts starts, std::int64_t from,
                        std::int64_t to, std::int64_t chunk) {
  if (starts.offsets != nullptr) {
    const std::int64_t* offsets = starts.offsets;
    for (std::int64_t k = from; k < to; ++k) {
      const std::int64_t empty = -static_cast<std::int64_t>(offsets[k] == offsets[k - 1]);
      results[k - 1] = totals[(offsets[k] - chunk) | empty];
    }
  } else {
    std::int64_t position = from * starts.uniform_length - chunk;
    for (std::int64_t k = from; k < to; ++k, position += starts.uniform_length) {
      results[k - 1] = totals[position];
    }
  }
}

/// May totals be computed as differences?
template <class Op, class T>
constexpr bool kInvertible = std::is_same_v<Op, ops::Add>&& std::is_integral_v<T>;

/// The same from sums that go on across segments: `before` is that at the start of the open one.
/// Returns the first segment that begins at or behind `end`, or `last`.
template <class T>
CVL_FN std::int64_t pick_differences(T* results, const T* totals, const SegmentStarts starts,
                                     std::int64_t from, std::int64_t last, std::int64_t chunk,
                                     std::int64_t end, T& before) {
  std::int64_t k = from;
  const auto pick = [&](std::int64_t position) __attribute__((always_inline)) {
    const T total = totals[position - chunk];
    results[k - 1] = ops::Subtract::apply(total, before);
    before = total;
  };
  if (starts.offsets != nullptr) {
    const std::int64_t* offsets = starts.offsets;
    for (; k < last && offsets[k] < end; ++k) pick(offsets[k]);
  } else {
    for (std::int64_t position = k * starts.uniform_length; k < last && position < end;
         ++k, position += starts.uniform_length) {
      pick(position);
    }
  }
  return k;
}

/// Writes the sums that matter of a chunk with few borders: blocks with borders, the lane before
/// them, and the last lane of all. Blocks without borders are added up lane by lane.
template <class Op, class T>
CVL_FN void sum_few(TileScan<Op, T>& scan, const T* x, const ChunkHeads& marks, std::int64_t n,
                    T* sums) {
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
      sums[i - 1] = scan.total();
      store(sums + i, scan.inclusive(elements, heads), false);
    }
  }
  scan.skip(lanes);
  if (n % kLanes == 0) sums[n - 1] = scan.total();
}

template <class Op, class T>
void reduce_tile(void* results, const void* in, std::int64_t begin, std::int64_t end,
                 const SegmentStarts& starts, std::int64_t first, std::int64_t last,
                 void* continued) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  auto* r = static_cast<T*>(results);
  const auto* x = static_cast<const T*>(in);
  TileScan<Op, T> scan(ops::fold_start<Op, T>());
  ChunkHeads marks;
  // Inclusive sums of a chunk; before them, the total of the segment that is open there, and the
  // identity.
  alignas(64) T buffer[kLanes + kChunk];
  T* const sums = buffer + kLanes;
  T* const totals = sums - 1;
  totals[-1] = Op::template identity<T>();
  T open = ops::fold_start<Op, T>();  // total so far of the segment that is open, or of all
  T before = open;                    // total at the start of the open segment, if of all
  std::int64_t next = first;          // segment to begin next
  std::int64_t chunk = begin;
  while (chunk < end) {
    const std::int64_t border = next < last ? starts[next] : end;
    const std::int64_t plain = border == end ? end : chunk + (border - chunk) / kChunk * kChunk;
    if (plain > chunk) {
      Accumulators<Op, T> sum;
      sum.add(x + chunk, plain - chunk);
      scan.take(sum.total());
      open = scan.total();
      chunk = plain;
      if (chunk >= end) break;
    }
    const std::int64_t chunk_end = chunk + kChunk < end ? chunk + kChunk : end;
    totals[0] = open;
    if constexpr (kInvertible<Op, T>) {
      for (std::int64_t i = 0; i < chunk_end - chunk; i += kLanes) {
        store(sums + i, scan.inclusive(load(x + chunk + i)), false);
      }
      if (next == first) {
        before = totals[starts[next++] - chunk];
        *static_cast<T*>(continued) = before;
      }
      next = pick_differences(r, totals, starts, next, last, chunk, chunk_end, before);
    } else {
      std::int64_t from = next;
      next = marks.mark(starts, next, last, chunk, chunk_end);
      if (ChunkHeads::few<kLanes>(next - from)) {
        sum_few(scan, x + chunk, marks, chunk_end - chunk, sums);
      } else {
        for (std::int64_t i = 0; i < chunk_end - chunk; i += kLanes) {
          const LaneSet heads = marks.template heads<kLanes>(i);
          store(sums + i, scan.inclusive(load(x + chunk + i), heads), false);
        }
      }
      marks.clear();
      if (from == first) *static_cast<T*>(continued) = totals[starts[from++] - chunk];
      pick_totals(r, totals, starts, from, next, chunk);
    }
    open = sums[chunk_end - chunk - 1];
    chunk = chunk_end;
  }
  T* const rest = first < last ? r + last - 1 : static_cast<T*>(continued);
  *rest = kInvertible<Op, T> ? ops::Subtract::apply(open, before) : open;
}

template <class Op>
void reduce_flags_tile(void* results, const void* in, std::int64_t begin, std::int64_t end,
                       const SegmentStarts& starts, std::int64_t first, std::int64_t last,
                       void* continued) {
  const FlagFold<Op> fold(static_cast<const Bool*>(in), begin, end);
  auto* r = static_cast<Bool*>(results);
  std::int64_t from = first < last ? starts[first] : end;
  *static_cast<Bool*>(continued) = fold.total(begin, from);
  if (starts.offsets != nullptr) {
    const std::int64_t* offsets = starts.offsets;
    for (std::int64_t k = first; k < last; ++k) {
      r[k] = fold.total(offsets[k], offsets[k + 1] < end ? offsets[k + 1] : end);
    }
  } else {
    for (std::int64_t k = first; k < last; ++k, from += starts.uniform_length) {
      const std::int64_t to = from + starts.uniform_length;
      r[k] = fold.total(from, to < end ? to : end);
    }
  }
}

}  // namespace

void add_segmented_reduce_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_reductions<I, F>(kernels, []<class Op, class T>(ReduceKernels& entry) {
      if constexpr (std::is_same_v<T, Bool>) {
        entry.tile = reduce_flags_tile<Op>;
      } else {
        entry.tile = reduce_tile<Op, T>;
      }
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
