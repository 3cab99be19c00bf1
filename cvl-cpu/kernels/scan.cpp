// Scan kernels. An unsegmented scan is the scan of a single segment.

#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/scan_blocks.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class Op, class T>
void scan_small(void* out, const void* in, const SegmentStarts& starts, std::int64_t count) {
  auto* r = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  for (std::int64_t k = 0; k < count; ++k) {
    T sum = ops::fold_start<Op, T>();
    T result = Op::template identity<T>();
    for (std::int64_t i = starts[k]; i < starts[k + 1]; ++i) {
      sum = Op::apply(sum, x[i]);
      r[i] = result;
      result = sum;
    }
  }
}

template <class Op, class T>
void scan_tile(void* out, const void* in, std::int64_t begin, std::int64_t end,
               const SegmentStarts& starts, std::int64_t first, std::int64_t last, void* prefix,
               bool streamed) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  auto* r = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  TileScan<Op, T> scan(*static_cast<T*>(prefix));
  ChunkHeads marks;
  std::int64_t next = first;  // segment to begin next
  std::int64_t chunk = begin;
  while (chunk < end) {
    const std::int64_t border = next < last ? starts[next] : end;
    const std::int64_t plain = border == end ? end : chunk + (border - chunk) / kChunk * kChunk;
    for (; chunk < plain; chunk += kLanes) {
      store(r + chunk, scan.exclusive(load(x + chunk)), streamed);
    }
    if (chunk >= end) break;
    const std::int64_t chunk_end = chunk + kChunk < end ? chunk + kChunk : end;
    const std::int64_t before = next;
    next = marks.mark(starts, next, last, chunk, chunk_end);
    const bool few = ChunkHeads::few<kLanes>(next - before);
    for (std::int64_t i = chunk; i < chunk_end; i += kLanes) {
      const LaneSet heads = marks.template heads<kLanes>(i - chunk);
      const auto elements = load(x + i);
      if (few && heads == 0) {
        store(r + i, scan.exclusive(elements), streamed);
      } else {
        store(r + i, scan.exclusive(elements, heads), streamed);
      }
    }
    marks.clear();
    chunk = chunk_end;
  }
  *static_cast<T*>(prefix) = scan.next_prefix();
  end_streaming(streamed);
}

template <class Op, class T>
void scan_total(const void* in, std::int64_t begin, std::int64_t end, void* total) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  const auto* x = static_cast<const T*>(in);
  TileScan<Op, T> scan(ops::fold_start<Op, T>());
  const std::int64_t offset = begin % kLanes;
  std::int64_t i = begin - offset;
  if (offset > 0) {
    scan.skip(select(lanes_below(static_cast<int>(offset)), scan.start(), load(x + i)));
    i += kLanes;
  }
  for (; i < end; i += kLanes) scan.skip(load(x + i));
  *static_cast<T*>(total) = scan.total();
}

}  // namespace

void add_scan_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_scans<I, F>(kernels, []<class Op, class T>(ScanKernels& entry) {
      entry.small = scan_small<Op, T>;
      entry.tile = scan_tile<Op, T>;
      entry.total = scan_total<Op, T>;
      entry.combine = combine_one<Op, T>;
      const T start = ops::fold_start<Op, T>();
      std::memcpy(entry.start, &start, sizeof start);
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
