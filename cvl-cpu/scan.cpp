// Scans.
//
// One pass over memory with any number of threads: tiles are begun in order; a thread sums its
// tile, waits for the total of the tiles before, hands the sum on and scans the tile, which is
// still in its cache. (Merrill and Garland, Single-pass Parallel Prefix Scan with Decoupled
// Look-back, 2016; with few threads the look-back need not go further than one tile.) A tile in
// which a segment begins hands its sum on without waiting. A single thread leaves the first pass
// out and arrives at the same bits.

#include <vector>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/tile_link.hpp"

namespace cvl::cpu {
namespace {

class Scan {
 public:
  Scan(CpuBackend& cpu, const ScanKernels& kernels, const Segdes& segdes, const Vector& data,
       Vector& result)
      : cpu_(cpu),
        kernels_(kernels),
        width_(static_cast<std::int64_t>(cpu.element_bytes(data.type))),
        tiles_(cpu, segdes, width_),
        data_(data),
        out_(mutable_elements<std::byte>(result)),
        // Compact operands are written out where the result goes, tile by tile.
        in_(data.form == Form::Dense ? elements<std::byte>(data) : out_),
        streamed_(in_ != out_ && cpu.streams(data.length * width_)) {}

  void run() {
    const std::int64_t bytes = 2 * data_.length * width_;
    if (tiles_.size() == 1 || cpu_.scheduler().parts(bytes) == 1) {
      Element prefix = start_of(kernels_);
      for (std::int64_t i = 0; i < tiles_.size(); ++i) {
        const FoldTiles::Tile tile = tiles_[i];
        expand(tile);
        scan(tile, prefix, nullptr);
      }
      return;
    }
    std::vector<TileLink> links(static_cast<std::size_t>(tiles_.size()) + 1);
    links[0].publish(start_of(kernels_));
    auto body = [&](std::int64_t i) {
      run_linked(tiles_[i], links[static_cast<std::size_t>(i)],
                 links[static_cast<std::size_t>(i) + 1]);
    };
    cpu_.scheduler().for_tiles_in_order(tiles_.size(), bytes, body);
  }

 private:
  void run_linked(const FoldTiles::Tile& tile, const TileLink& before, TileLink& after) {
    expand(tile);
    const bool borders = tile.begun.run.count > 0;
    Element total;
    kernels_.total(in_, borders ? tile.begun.last_start : tile.begin, tile.end, total.bytes);
    if (borders) after.publish(total);
    Element prefix = tile.continues() ? before.wait() : start_of(kernels_);
    if (!borders) {
      Element next = prefix;
      kernels_.combine(next.bytes, total.bytes);
      after.publish(next);
    }
    // Elements come from the cache here, which leaves time to read what comes next.
    const std::int64_t ahead = tile.begin + cpu_.scheduler().threads() * tiles_.tile_length();
    scan(tile, prefix, ahead < data_.length ? in_ + ahead * width_ : nullptr);
  }

  void expand(const FoldTiles::Tile& tile) {
    if (data_.form == Form::Dense) return;
    cpu_.download(data_, tile.begin, tile.end - tile.begin, out_ + tile.begin * width_);
  }

  void scan(const FoldTiles::Tile& tile, Element& prefix, const std::byte* upcoming) {
    kernels_.tile(out_, in_, tile.begin, tile.end, tile.begun.run, prefix.bytes, streamed_,
                  upcoming);
  }

  CpuBackend& cpu_;
  const ScanKernels& kernels_;
  std::int64_t width_;
  FoldTiles tiles_;
  const Vector& data_;
  std::byte* out_;
  const std::byte* in_;
  bool streamed_;
};

/// The sums of equal integers are multiples of one: NESL's way to write an index vector.
Vector progression_of(const CpuBackend& cpu, const Vector& constant) {
  const std::int64_t step = cpu.widths().int_bytes == 4 ? *constant.inline_elements<std::int32_t>()
                                                        : *constant.inline_elements<std::int64_t>();
  Vector result;
  result.form = Form::Progression;
  result.length = constant.length;
  result.inline_elements<std::int64_t>()[1] = step;
  return result;
}

}  // namespace

void run_scan(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  Vector& data = operands[0].vector();
  const Segdes& segdes = operands[1].segdes();
  const ScanKernels& kernels =
      cpu.kernels().scan[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  if (data.length <= tuning.small_length) {
    alignas(64) std::byte expanded[LargestTuning::small_length * sizeof(double) + Heap::kPadding];
    const bool plain = data.is_plain();
    if (!plain) cpu.download(data, 0, data.length, expanded);
    const std::byte* in = plain ? elements<std::byte>(data) : expanded;
    Vector result = cpu.new_vector_over(type, data.length, data);
    auto* out = mutable_elements<std::byte>(result);
    kernels.small(out, in, all_segments(segdes));
    results[0] = std::move(result);
    return;
  }
  if (op == vcode::Op::AddScan && type == Type::Int && data.form == Form::Constant &&
      segdes.count == 1) {
    results[0] = progression_of(cpu, data);
    return;
  }
  Vector result = cpu.new_vector_over(type, data.length, data);
  Scan(cpu, kernels, segdes, data, result).run();
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
