// Scan kernels. An unsegmented scan is the scan of a single segment.

#include "cvl-cpu/kernels/flag_scan.hpp"
#include "cvl-cpu/kernels/fold_rows.hpp"
#include "cvl-cpu/kernels/scan_blocks.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class Op, class T, class I>
void scan_small(void* out, const void* in, const SegmentRun& segments) {
  auto* r = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  const auto* lengths = static_cast<const I*>(segments.lengths);
  std::int64_t i = segments.start;
  for (std::int64_t k = 0; k < segments.count; ++k) {
    const std::int64_t end = i + (lengths != nullptr ? lengths[k] : segments.uniform_length);
    T sum = ops::fold_start<Op, T>();
    T result = Op::template identity<T>();
    for (; i < end; ++i) {
      sum = Op::apply(sum, x[i]);
      r[i] = result;
      result = sum;
    }
  }
}

/// The scan of a tile, block by block.
template <class Op, class T>
class TileWriter {
 public:
  static constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;

  CVL_FN TileWriter(T* out, const T* in, std::int64_t begin, T prefix, bool streamed,
                    const T* upcoming)
      : out_(out),
        in_(in),
        ahead_(upcoming != nullptr ? address(upcoming) - address(in + begin) : 0),
        streamed_(streamed),
        scan_(prefix) {}

  /// Blocks from `begin` on up to `end` without borders.
  CVL_FN void plain(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kLanes) put(i, scan_.exclusive(take(i)));
  }
  CVL_FN void block(std::int64_t i, LaneSet heads) { put(i, scan_.exclusive(take(i), heads)); }
  CVL_FN T next_prefix() const { return scan_.next_prefix(); }

 private:
  static CVL_FN std::uintptr_t address(const T* x) { return reinterpret_cast<std::uintptr_t>(x); }
  CVL_FN ScanBlock<T> take(std::int64_t i) const {
    // What lies ahead of the last elements is no part of the vector.
    __builtin_prefetch(reinterpret_cast<const void*>(address(in_ + i) + ahead_), 0, 2);
    return load(in_ + i);
  }
  CVL_FN void put(std::int64_t i, const ScanBlock<T>& block) { store(out_ + i, block, streamed_); }

  T* out_;
  const T* in_;
  std::uintptr_t ahead_;  // bytes
  bool streamed_;
  TileScan<Op, T> scan_;
};

template <class Op, class T, class I>
void scan_tile(void* out, const void* in, std::int64_t begin, std::int64_t end,
               const SegmentRun& segments, void* prefix, bool streamed, const void* upcoming) {
  constexpr std::int64_t kLanes = TileScan<Op, T>::kLanes;
  auto& open = *static_cast<T*>(prefix);
  TileWriter<Op, T> writer(static_cast<T*>(out), static_cast<const T*>(in), begin, open, streamed,
                           static_cast<const T*>(upcoming));
  ChunkHeads marks;
  SegmentCursor<I> cursor(segments);
  std::int64_t chunk = begin;
  while (chunk < end) {
    const std::int64_t border = cursor.position;
    const std::int64_t plain = border >= end ? end : chunk + (border - chunk) / kChunk * kChunk;
    writer.plain(chunk, plain);
    chunk = plain;
    if (chunk >= end) break;
    const std::int64_t chunk_end = chunk + kChunk < end ? chunk + kChunk : end;
    const std::int64_t before = cursor.next;
    marks.mark(cursor, chunk, chunk_end);
    const bool few = ChunkHeads::few<kLanes>(cursor.next - before);
    for (std::int64_t i = chunk; i < chunk_end; i += kLanes) {
      const LaneSet heads = marks.template heads<kLanes>(i - chunk);
      if (few && heads == 0) {
        writer.plain(i, i + kLanes);
      } else {
        writer.block(i, heads);
      }
    }
    chunk = chunk_end;
  }
  open = writer.next_prefix();
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

/// left = left op right
template <class Op, class T>
void combine_one(void* left, const void* right) {
  auto* l = static_cast<T*>(left);
  *l = Op::apply(*l, *static_cast<const T*>(right));
}

}  // namespace

void add_scan_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() {
    for_scans<I, F>(kernels, []<class Op, class T>(ScanKernels& entry) {
      entry.small = scan_small<Op, T, I>;
      entry.tile = scan_tile<Op, T, I>;
      entry.total = scan_total<Op, T>;
      entry.combine = combine_one<Op, T>;
      const T start = ops::fold_start<Op, T>();
      std::memcpy(entry.start, &start, sizeof start);
    });
  });
}

}  // namespace cvl::cpu::CVL_ISA
