// PACK: the flagged elements, and how many of them each segment has.
//
// One pass counts the flags of each tile, a second one moves the elements of each tile to the place
// that the counts before it give. The length of a new segment is the difference of the numbers of
// flags before its ends, whatever the segments look like.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {
namespace {

constexpr std::int64_t kTile = 32 * kSegmentBlock;
constexpr std::int64_t kBlockWords = kSegmentBlock / 64;

/// The vectors of one PACK with general flags.
struct Job {
  CpuBackend& cpu;
  const Vector& source;
  const std::uint8_t* flags;
  const Segments* segments;          // null for a single segment
  std::byte* out = nullptr;          // null when the elements need not be moved
  std::byte* new_lengths = nullptr;  // one for each segment
  /// What a tile has of a segment that begins before it.
  struct Continued {
    std::int64_t segment = -1;  // none
    std::int64_t kept = 0;
  };
  std::vector<Continued> continued = {};  // one for each tile

  std::int64_t tile_length(std::int64_t begin) const {
    return std::min(kTile, source.length - begin);
  }
};

/// Moves the elements of a block. `room` is the number of elements that may still be written.
std::int64_t move_block(const Job& job, const Window& source, std::int64_t begin, std::int64_t n,
                        const std::uint64_t* masks, std::int64_t place, std::int64_t room) {
  std::int64_t kept = 0;
  for (std::int64_t w = 0; w < tile_count(n, 64); ++w) kept += __builtin_popcountll(masks[w]);
  if (kept == 0) return 0;
  alignas(64) std::uint64_t source_buffer[kSegmentBlock];
  const std::byte* from = source.at(begin, n, source_buffer);
  const CompressKernel compress = job.cpu.kernels().compress[type_index(job.source.type)];
  std::byte* target = job.out + place * source.width();
  if ((room - kept) * source.width() >= static_cast<std::int64_t>(Heap::kPadding)) {
    compress(target, from, masks, n);
    return kept;
  }
  alignas(64) std::byte staged[kSegmentBlock * sizeof(double) + Heap::kPadding];
  compress(staged, from, masks, n);
  std::memcpy(target, staged, static_cast<std::size_t>(kept * source.width()));
  return kept;
}

/// Lengths of the new segments, as far as they lie in a tile.
void count_in_tile(Job& job, std::int64_t begin, std::int64_t n, std::uint64_t* masks) {
  const std::int64_t words = tile_count(n, 64);
  std::int64_t before[kTile / 64 + 1];
  masks[words] = 0;  // a segment may begin behind the last element
  job.cpu.kernels().masks_before(before, masks, words + 1);
  const Segments::Begun begun = job.segments->begun_in(begin, begin + n);
  const auto width = static_cast<std::int64_t>(job.cpu.element_bytes(Type::Int));
  const std::int64_t kept = job.cpu.kernels().count_in_segments(
      job.new_lengths + begun.first * width, begun.run, begin, begin + n, masks, before);
  if (kept > 0) job.continued[static_cast<std::size_t>(begin / kTile)] = {begun.first - 1, kept};
}

/// Completes the lengths of segments that lie in several tiles and of the empty ones at the end.
template <class I>
void complete_lengths(const Job& job) {
  auto* lengths = reinterpret_cast<I*>(job.new_lengths);
  for (const Job::Continued& part : job.continued) {
    if (part.segment >= 0) lengths[part.segment] += static_cast<I>(part.kept);
  }
  const std::int64_t begun = job.segments->first_from(job.source.length);
  std::fill(lengths + begun, lengths + job.segments->count(), I{0});
}

/// Does all of a tile, of which `kept` elements stay and go to position `base` on.
void pack_tile(Job& job, std::int64_t begin, std::int64_t base, std::int64_t kept) {
  std::uint64_t masks[kTile / 64 + 1];
  const std::int64_t n = job.tile_length(begin);
  job.cpu.kernels().flag_masks(masks, job.flags + begin, n);
  if (job.segments != nullptr) count_in_tile(job, begin, n, masks);
  if (job.out == nullptr) return;
  const Window source(job.cpu, job.source);
  std::int64_t place = base;
  for (std::int64_t i = 0; i < n; i += kSegmentBlock) {
    place += move_block(job, source, begin + i, std::min(kSegmentBlock, n - i),
                        masks + i / kSegmentBlock * kBlockWords, place, base + kept - place);
  }
}

/// How many elements stay, and for several tiles also how many before each.
std::int64_t count_kept(const Job& job, std::vector<std::int64_t>& before) {
  const std::int64_t tiles = tile_count(job.source.length, kTile);
  if (tiles == 1) return job.cpu.kernels().count_flags(job.flags, job.source.length);
  before.resize(static_cast<std::size_t>(tiles) + 1);
  auto tile = [&](std::int64_t index) {
    before[static_cast<std::size_t>(index)] =
        job.cpu.kernels().count_flags(job.flags + index * kTile, job.tile_length(index * kTile));
  };
  job.cpu.scheduler().for_tiles(tiles, job.source.length, tile);
  std::int64_t total = 0;
  for (std::int64_t& count : before) total += std::exchange(count, total);
  return total;
}

/// The packed vector, and the new starts if job has a place for them.
Vector move_kept(Job& job, const std::vector<std::int64_t>& before, std::int64_t kept) {
  const bool constant = job.source.form == Form::Constant;
  Vector result = constant ? constant_vector(job.cpu, job.source.type, kept, job.source.payload)
                           : job.cpu.new_vector(job.source.type, kept);
  if (constant && job.segments == nullptr) return result;
  if (!constant) job.out = mutable_elements<std::byte>(result);
  const std::int64_t tiles = tile_count(job.source.length, kTile);
  if (tiles == 1) {
    pack_tile(job, 0, 0, kept);
    return result;
  }
  auto tile = [&](std::int64_t index) {
    const auto t = static_cast<std::size_t>(index);
    pack_tile(job, index * kTile, before[t], before[t + 1] - before[t]);
  };
  const std::int64_t width = static_cast<std::int64_t>(job.cpu.element_bytes(job.source.type));
  job.cpu.scheduler().for_tiles(tiles, job.source.length + (job.source.length + kept) * width,
                                tile);
  return result;
}

}  // namespace

void run_pack(CpuBackend& cpu, vcode::Op, Type type, Value* operands, Value* results) {
  Vector& source = operands[0].vector();
  const Vector& flags = operands[1].vector();
  Segdes& segdes = operands[2].segdes();
  if (flags.form == Form::Constant && flags.inline_elements<std::uint8_t>()[0] != 0) {
    results[0] = std::move(operands[0]);
    results[1] = std::move(operands[2]);
    return;
  }
  if (flags.length == 0 || flags.form == Form::Constant) {
    results[0] = cpu.new_vector(type, 0);
    results[1] = Segdes::regular(segdes.count, 0);
    return;
  }
  std::vector<std::int64_t> before;
  Job job{cpu, source, elements<std::uint8_t>(flags), nullptr};
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
  job.continued.resize(static_cast<std::size_t>(tile_count(source.length, kTile)));
  results[0] = move_kept(job, before, kept);
  cpu.element_bytes(Type::Int) == 4 ? complete_lengths<std::int32_t>(job)
                                    : complete_lengths<std::int64_t>(job);
  results[1] = segdes_from_lengths(cpu, std::move(lengths), kept);
}

}  // namespace cvl::cpu
