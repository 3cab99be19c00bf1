// Reductions.
//
// Work is divided into tiles of a fixed number of elements. The parts of a segment that lie in
// different tiles are combined in order afterwards, by one thread: there is at most one such part
// per tile. Rows (fold_tiles.hpp) go on element by element there. Neither the number of threads nor
// the way tiles are handed out can be seen in a result.

#include <algorithm>
#include <cstring>
#include <vector>

#include "cvl-cpu/fold_tiles.hpp"
#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"

namespace cvl::cpu {
namespace {

class Reduction {
 public:
  Reduction(CpuBackend& cpu, const ReduceKernels& kernels, Type type)
      : cpu_(cpu),
        kernels_(kernels),
        type_(type),
        width_(static_cast<std::int64_t>(cpu.element_bytes(type))),
        tile_length_(tuning.fold_tile_bytes / width_) {}

  /// All elements, in any form.
  void run_whole(const Vector& data, std::byte* out) {
    const std::int64_t tiles = tile_count(data.length, tile_length_);
    Element single;
    std::vector<Element> more(tiles > 1 ? static_cast<std::size_t>(tiles) : 0);
    Element* totals = tiles > 1 ? more.data() : &single;
    auto body = [&](std::int64_t tile) {
      const std::int64_t begin = tile * tile_length_;
      reduce_range(data, begin, std::min(begin + tile_length_, data.length), totals[tile]);
    };
    cpu_.scheduler().for_tiles(tiles, traffic(data), body);
    for (std::int64_t tile = 1; tile < tiles; ++tile) {
      kernels_.combine(totals[0].bytes, totals[tile].bytes, 1);
    }
    std::memcpy(out, totals[0].bytes, static_cast<std::size_t>(width_));
  }

  /// Each segment of Dense data.
  void run_segments(const Vector& data, const Segdes& segdes, std::byte* out) {
    const FoldTiles tiles(cpu_, segdes, width_);
    if (type_ != Type::Bool && are_rows(segdes)) {
      run_rows(data, tiles, out);
      return;
    }
    std::vector<Continued> continued(static_cast<std::size_t>(tiles.size()));
    auto body = [&](std::int64_t index) {
      const FoldTiles::Tile tile = tiles[index];
      Continued& part = continued[static_cast<std::size_t>(index)];
      if (tile.continues()) part.segment = tile.begun.first - 1;
      kernels_.tile(out + tile.begun.first * width_, elements<std::byte>(data), tile.begin,
                    tile.end, tile.begun.run, part.element.bytes);
    };
    cpu_.scheduler().for_tiles(tiles.size(), traffic(data), body);
    for (const Continued& part : continued) {
      if (part.segment >= 0) kernels_.combine(out + part.segment * width_, part.element.bytes, 1);
    }
    const std::int64_t begun = tiles.segments().first_from(data.length);  // empty ones follow
    cpu_.kernels().fill[type_index(data.type)](out + begun * width_, kernels_.identity,
                                               segdes.count - begun);
  }

  void run_rows(const Vector& data, const FoldTiles& tiles, std::byte* out) {
    const auto* in = elements<std::byte>(data);
    auto body = [&](std::int64_t index) {
      const FoldTiles::Tile tile = tiles[index];
      reduce_rows(kernels_, width_, out + tile.begun.first * width_, in, tile.begun.run, tile.end);
    };
    cpu_.scheduler().for_tiles(tiles.size(), traffic(data), body);
    for (std::int64_t index = 1; index < tiles.size(); ++index) {
      const FoldTiles::Tile tile = tiles[index];
      if (!tile.continues()) continue;
      const std::int64_t end = tile.begun.run.count > 0 ? tile.begun.run.start : tile.end;
      kernels_.combine(out + (tile.begun.first - 1) * width_, in + tile.begin * width_,
                       end - tile.begin);
    }
  }

 private:
  /// What a tile has of a segment that begins before it.
  struct Continued {
    std::int64_t segment = -1;  // none
    Element element;
  };

  std::int64_t traffic(const Vector& data) const { return data.length * width_; }

  /// Compact forms are expanded into a buffer that stays in the L1 cache.
  void reduce_range(const Vector& data, std::int64_t begin, std::int64_t end, Element& total) {
    alignas(64) std::byte state[kReductionStateBytes];
    kernels_.begin(state);
    if (data.form == Form::Dense) {
      kernels_.accumulate(state, elements<std::byte>(data) + begin * width_, end - begin);
    } else {
      constexpr std::int64_t kBuffer = 1024;
      alignas(64) std::byte buffer[kBuffer * sizeof(double) + Heap::kPadding];
      for (std::int64_t i = begin; i < end; i += kBuffer) {
        const std::int64_t count = std::min(kBuffer, end - i);
        cpu_.download(data, i, count, buffer);
        kernels_.accumulate(state, buffer, count);
      }
    }
    kernels_.finish(state, total.bytes);
  }

  CpuBackend& cpu_;
  const ReduceKernels& kernels_;
  Type type_;
  std::int64_t width_;
  std::int64_t tile_length_;
};

}  // namespace

void run_reduce(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  const Vector& data = operands[0].vector();
  const Segdes& segdes = operands[1].segdes();
  const ReduceKernels& kernels =
      cpu.kernels().reduce[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  if (data.is_plain() && data.length <= tuning.small_length) {
    Vector result = cpu.new_vector(type, segdes.count);
    kernels.small(mutable_elements<std::byte>(result), elements<std::byte>(data),
                  all_segments(segdes));
    results[0] = std::move(result);
    return;
  }
  if (data.form == Form::Constant && segdes.uniform && kernels.repeat != nullptr) {
    // Equal elements in equal segments: one reduction answers for all.
    Element element;
    std::memcpy(element.bytes, data.payload, sizeof element.bytes);
    kernels.repeat(element.bytes, segdes.uniform_length);
    results[0] = constant_vector(cpu, type, segdes.count, element.bytes);
    return;
  }
  Vector result = cpu.new_vector(type, segdes.count);
  auto* out = mutable_elements<std::byte>(result);
  Reduction reduction(cpu, kernels, type);
  if (data.length <= tuning.small_length) {
    kernels.small(out, elements<std::byte>(cpu.materialized(data)), all_segments(segdes));
  } else if (segdes.count == 1) {
    reduction.run_whole(data, out);
  } else {
    reduction.run_segments(cpu.materialized(data), segdes, out);
  }
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
