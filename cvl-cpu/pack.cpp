// PACK: the flagged elements, and how many of them each segment has.
//
// One pass makes bit masks of the flags and counts those of each tile, a second one moves the
// elements of each tile to the place that the counts before it give. The length of a new segment is
// the difference of the numbers of flags before its ends, whatever the segments look like.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/narrow.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {
namespace {

/// Words of the masks of the longest tile, and one more.
constexpr std::int64_t kMostWords = LargestTuning::move_tile / 64 + 1;

/// The vectors of one PACK with general flags.
struct Packing {
  CpuBackend& cpu;
  CompressKernel compress;
  const Vector& source;
  const std::uint8_t* flags;
  std::uint64_t* masks = nullptr;      // see masks_of()
  const Segments* segments = nullptr;  // null for a single segment
  std::byte* out = nullptr;            // null when the elements need not be moved
  bool streamed = false;               // is it written around the cache?
  std::byte* new_lengths = nullptr;    // one for each segment
  /// What a tile has of a segment that begins before it.
  struct Continued {
    std::int64_t segment = -1;  // none
    std::int64_t kept = 0;
  };
  std::vector<Continued> continued = {};  // one for each tile
  std::int64_t tile_elements = tuning.move_tile;
  std::int64_t words = tile_elements / 64 + 1;  // of the masks of a tile

  std::int64_t tile_length(std::int64_t begin) const {
    return std::min(tile_elements, source.length - begin);
  }
  /// The masks of the tile at `begin`, with one word more.
  std::uint64_t* masks_of(std::int64_t begin) const {
    return masks + begin / tile_elements * words;
  }
};

/// Where the elements of one tile go, one after the other. Kernels write more than they keep, which
/// must not reach what another tile writes, and stores around the cache should fill whole lines:
/// for both there is a stage in the L1 cache.
class TileOutput {
 public:
  /// `bytes` is what all elements together will take.
  TileOutput(const CpuBackend& cpu, std::byte* target, std::int64_t bytes, bool streamed)
      : cpu_(cpu), target_(target), left_(bytes), streamed_(streamed) {}
  ~TileOutput() { std::memcpy(target_, stage_, static_cast<std::size_t>(staged_)); }
  TileOutput(const TileOutput&) = delete;
  TileOutput& operator=(const TileOutput&) = delete;

  /// Appends the elements of a block of up to kSegmentBlock whose bits are set.
  void append(CompressKernel compress, const std::byte* from, const std::uint64_t* masks,
              std::int64_t n, std::int64_t width) {
    constexpr auto kPadding = static_cast<std::int64_t>(Heap::kPadding);
    if (!streamed_ && staged_ == 0 && left_ >= n * width + kPadding) {
      const std::int64_t bytes = compress(target_, from, masks, n) * width;
      target_ += bytes;
      left_ -= bytes;
      return;
    }
    const std::int64_t bytes = compress(stage_ + staged_, from, masks, n) * width;
    staged_ += bytes;
    left_ -= bytes;
    if (staged_ >= kFull) write_lines();
  }

 private:
  static constexpr std::int64_t kFull = kSegmentBlock * static_cast<std::int64_t>(sizeof(double));

  /// Writes the stage up to the end of the last whole line of the target.
  void write_lines() {
    const auto end =
        reinterpret_cast<std::uintptr_t>(target_) + static_cast<std::uintptr_t>(staged_);
    const std::int64_t rest = static_cast<std::int64_t>(end % 64);
    put_block(cpu_, target_, stage_, staged_ - rest, streamed_);
    target_ += staged_ - rest;
    std::memmove(stage_, stage_ + staged_ - rest, static_cast<std::size_t>(rest));
    staged_ = rest;
  }

  const CpuBackend& cpu_;
  std::byte* target_;
  std::int64_t left_;  // bytes to come
  bool streamed_;
  std::int64_t staged_ = 0;  // bytes
  alignas(64) std::byte stage_[2 * kFull + Heap::kPadding];
};

/// Lengths of the new segments, as far as they lie in a tile.
void count_in_tile(Packing& job, std::int64_t begin, std::int64_t n, std::uint64_t* masks) {
  const std::int64_t words = tile_count(n, 64);
  std::int64_t before[kMostWords];
  masks[words] = 0;  // a segment may begin behind the last element
  job.cpu.kernels().masks_before(before, masks, words + 1);
  const Segments::Begun begun = job.segments->begun_in(begin, begin + n);
  const auto width = static_cast<std::int64_t>(job.cpu.element_bytes(Type::Int));
  const std::int64_t kept = job.cpu.kernels().count_in_segments(
      job.new_lengths + begun.first * width, begun.run, begin, begin + n, masks, before);
  if (kept > 0)
    job.continued[static_cast<std::size_t>(begin / job.tile_elements)] = {begun.first - 1, kept};
}

/// Completes the lengths of segments that lie in several tiles and of the empty ones at the end.
template <class I>
void complete_lengths(const Packing& job) {
  auto* lengths = reinterpret_cast<I*>(job.new_lengths);
  for (const Packing::Continued& part : job.continued) {
    if (part.segment >= 0) lengths[part.segment] += static_cast<I>(part.kept);
  }
  const std::int64_t begun = job.segments->first_from(job.source.length);
  std::fill(lengths + begun, lengths + job.segments->count(), I{0});
}

/// Does all of a tile, of which `kept` elements stay and go to position `base` on.
void pack_tile(Packing& job, std::int64_t begin, std::int64_t base, std::int64_t kept) {
  std::uint64_t* masks = job.masks_of(begin);
  const std::int64_t n = job.tile_length(begin);
  if (job.segments != nullptr) count_in_tile(job, begin, n, masks);
  if (job.out == nullptr) return;
  const Window source(job.cpu, job.source);
  TileOutput output(job.cpu, job.out + base * source.width(), kept * source.width(), job.streamed);
  for (std::int64_t i = 0; i < n; i += tuning.segment_block) {
    alignas(64) std::uint64_t buffer[kSegmentBlock];
    const std::int64_t count = std::min(tuning.segment_block, n - i);
    output.append(job.compress, source.at(begin + i, count, buffer), masks + i / 64, count,
                  source.width());
  }
}

/// Makes the masks. How many elements stay, and for several tiles also how many before each.
std::int64_t count_kept(const Packing& job, std::vector<std::int64_t>& before) {
  const std::int64_t tiles = tile_count(job.source.length, job.tile_elements);
  const auto count = [&](std::int64_t begin) {
    return job.cpu.kernels().flag_masks(job.masks_of(begin), job.flags + begin,
                                        job.tile_length(begin));
  };
  if (tiles == 1) return count(0);
  before.resize(static_cast<std::size_t>(tiles) + 1);
  auto tile = [&](std::int64_t index) {
    before[static_cast<std::size_t>(index)] = count(index * job.tile_elements);
  };
  job.cpu.scheduler().for_tiles(tiles, job.source.length, tile);
  std::int64_t total = 0;
  for (std::int64_t& below : before) total += std::exchange(below, total);
  return total;
}

/// The packed vector, and the new starts if job has a place for them.
Vector move_kept(Packing& job, const std::vector<std::int64_t>& before, std::int64_t kept) {
  const bool constant = job.source.form == Form::Constant;
  Vector result = constant ? constant_vector(job.cpu, job.source.type, kept, job.source.payload)
                           : job.cpu.new_vector(job.source.type, kept);
  if (constant && job.segments == nullptr) return result;
  if (!constant) job.out = mutable_elements<std::byte>(result);
  const std::int64_t tiles = tile_count(job.source.length, job.tile_elements);
  if (tiles == 1) {
    pack_tile(job, 0, 0, kept);
    return result;
  }
  auto tile = [&](std::int64_t index) {
    const auto t = static_cast<std::size_t>(index);
    pack_tile(job, index * job.tile_elements, before[t], before[t + 1] - before[t]);
  };
  const std::int64_t width = static_cast<std::int64_t>(job.cpu.element_bytes(job.source.type));
  const std::int64_t bytes = (job.source.length + kept) * width;
  job.streamed = job.cpu.streams(kept * width);
  job.cpu.scheduler().for_tiles(tiles, bytes, tile);
  return result;
}

}  // namespace

void run_pack(CpuBackend& cpu, vcode::Op, Type type, Value* operands, Value* results) {
  pack(cpu, cpu.kernels().compress[type_index(type)], operands, results);
}

void pack(CpuBackend& cpu, CompressKernel compress, Value* operands, Value* results) {
  Vector& source = operands[0].vector();
  const Vector& flags = operands[1].vector();
  Segdes& segdes = operands[2].segdes();
  if (flags.form == Form::Constant && flags.inline_elements<std::uint8_t>()[0] != 0) {
    results[0] = std::move(operands[0]);
    results[1] = std::move(operands[2]);
    return;
  }
  if (flags.length == 0 || flags.form == Form::Constant) {
    results[0] = cpu.new_vector(source.type, 0);
    results[1] = Segdes::regular(segdes.count, 0);
    return;
  }
  std::vector<std::int64_t> before;
  Packing job{cpu, compress, source, elements<std::uint8_t>(flags)};
  std::uint64_t few_masks[kMostWords];
  Ref<Buffer> many_masks;
  job.masks = few_masks;
  if (const std::int64_t tiles = tile_count(source.length, job.tile_elements); tiles > 1) {
    many_masks =
        cpu.heap().allocate(static_cast<std::size_t>(tiles * job.words) * sizeof(std::uint64_t));
    job.masks = many_masks->as<std::uint64_t>();
  }
  const std::int64_t kept = count_kept(job, before);
  if (kept == source.length) {
    results[0] = std::move(operands[0]);
    results[1] = std::move(operands[2]);
    return;
  }
  if (segdes.count == 1) {
    results[0] = move_kept(job, before, kept);
    results[1] = Segdes::single(kept);
    return;
  }
  const Segments segments(cpu, segdes);
  Vector lengths = cpu.new_vector(Type::Int, segdes.count);
  job.segments = &segments;
  job.new_lengths = mutable_elements<std::byte>(lengths);
  job.continued.resize(static_cast<std::size_t>(tile_count(source.length, job.tile_elements)));
  results[0] = move_kept(job, before, kept);
  cpu.element_bytes(Type::Int) == 4 ? complete_lengths<std::int32_t>(job)
                                    : complete_lengths<std::int64_t>(job);
  results[1] = segdes_from_lengths(cpu, std::move(lengths), kept);
}

}  // namespace cvl::cpu
