// Reduction kernels for ranges that segments begin in.
//
// A chunk is scanned inclusively into a buffer in the L1 cache, and the total of each segment is
// then picked up in front of the next segment's first element. The work per element is that of a
// segmented scan and the work per segment two loads and a store, whatever the lengths. Chunks in
// which no segment begins are reduced by the plain kernel. The order of combination is that of
// scan_blocks.hpp for the former and of reduce.cpp for the latter, with a tile's part of a segment
// added to what earlier tiles have.

#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/reduce_blocks.hpp"
#include "cvl-cpu/kernels/scan_blocks.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class Op, class T>
void reduce_tile(void* results, const void* in, std::int64_t begin, std::int64_t end,
                 const SegmentStarts& starts, std::int64_t first, std::int64_t last,
                 void* continued) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  constexpr T kIdentity = Op::template identity<T>();
  auto* r = static_cast<T*>(results);
  const auto* x = static_cast<const T*>(in);
  TileScan<Op, T> scan(ops::fold_start<Op, T>());
  ChunkHeads marks;
  // Inclusive sums of a chunk; in front of them, the total of the segment that is open there.
  alignas(64) T buffer[kLanes + kChunk];
  T* const sums = buffer + kLanes;
  T open = ops::fold_start<Op, T>();  // total so far of the segment that is open
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
    sums[-1] = open;
    const std::int64_t chunk_first = next;
    next = marks.mark(starts, next, last, chunk, chunk_end);
    for (std::int64_t i = 0; i < chunk_end - chunk; i += kLanes) {
      store(sums + i, scan.inclusive(load(x + chunk + i), marks.template heads<kLanes>(i)), false);
    }
    marks.clear();
    open = sums[chunk_end - chunk - 1];
    std::int64_t k = chunk_first;
    std::int64_t previous;  // start of segment k - 1
    if (k == first) {
      previous = starts[k];
      if (previous > begin) *static_cast<T*>(continued) = sums[previous - 1 - chunk];
      ++k;
    } else {
      previous = starts[k - 1];
    }
    for (; k < next; ++k) {
      const std::int64_t start = starts[k];
      const T total = sums[start - 1 - chunk];
      r[k - 1] = start > previous ? total : kIdentity;
      previous = start;
    }
    chunk = chunk_end;
  }
  *(first < last ? r + last - 1 : static_cast<T*>(continued)) = open;
}

}  // namespace

void add_segmented_reduce_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_reductions<I, F>(
        kernels, []<class Op, class T>(ReduceKernels& entry) { entry.tile = reduce_tile<Op, T>; });
  });
}

}  // namespace cvl::cpu::CVL_ISA
