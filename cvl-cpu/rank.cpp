// RANK_UP, RANK_DOWN.
//
// Segments that fit a core's own cache are ranked tile by tile: the segments that begin in a tile
// of elements are sorted together, threads taking tiles as they come. A longer segment is sorted by
// itself with all threads: every part counts its digits, and from all counts follows where each
// part writes each digit. Digits that do not vary are skipped.

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {
namespace {

struct Job {
  CpuBackend& cpu;
  const RankKernels& kernels;
  bool down;
  std::int64_t key_bytes;
  std::int64_t rank_bytes;
  const std::byte* keys;
  std::byte* ranks = nullptr;

  /// Memory for rank_segments() of a tile of `n` elements altogether.
  static std::int64_t room(std::int64_t n) {
    return std::min(n, tuning.rank_tile + tuning.rank_longest);
  }
  Ref<Buffer> scratch(std::int64_t n) const {
    return cpu.heap().allocate(static_cast<std::size_t>(2 * room(n) * kernels.entry_bytes));
  }
};

/// What varies among elements [begin, begin + n), and whether they are in order already.
RankSurvey survey(const Job& job, std::int64_t begin, std::int64_t n) {
  const std::int64_t tile_length = tuning.survey_tile;
  std::atomic<std::uint64_t> varying{0};
  std::atomic<bool> ascending{true};
  auto tile = [&](std::int64_t index) {
    // Neighbouring tiles share an element, so that nothing between them is missed.
    const std::int64_t first = std::max<std::int64_t>(index * tile_length - 1, 0);
    const RankSurvey part =
        job.kernels.survey(job.keys + (begin + first) * job.key_bytes,
                           std::min((index + 1) * tile_length, n) - first, job.down);
    varying.fetch_or(part.varying, std::memory_order_relaxed);
    if (!part.ascending) ascending.store(false, std::memory_order_relaxed);
  };
  job.cpu.scheduler().for_tiles(tile_count(n, tile_length), n * job.key_bytes, tile);
  return {varying.load(std::memory_order_relaxed), ascending.load(std::memory_order_relaxed)};
}

/// The sort of one long segment.
class LongSort {
 public:
  LongSort(const Job& job, std::int64_t begin, std::int64_t n)
      : job_(job),
        kernels_(job.kernels),
        keys_(job.keys + begin * job.key_bytes),
        ranks_(job.ranks + begin * job.rank_bytes),
        n_(n),
        parts_(job.cpu.scheduler().parts(n * job.kernels.entry_bytes)),
        places_(static_cast<std::size_t>(parts_)) {}

  void run(std::uint64_t varying) {
    std::vector<int> shifts;
    for (int shift = 0; shift < 64; shift += 8) {
      if (((varying >> shift) & 0xFF) != 0) shifts.push_back(shift);
    }
    const auto bytes = static_cast<std::size_t>(n_ * kernels_.entry_bytes);
    Ref<Buffer> entries = job_.cpu.heap().allocate(bytes);
    Ref<Buffer> sorted;
    if (shifts.size() > 2) sorted = job_.cpu.heap().allocate(bytes);
    sort_keys(entries->data, shifts.front());
    for (std::size_t k = 1; k + 1 < shifts.size(); ++k) {
      sort_entries(sorted->data, entries->data, shifts[k]);
      std::swap(entries, sorted);
    }
    // The first digit again if it is the only one: sorting is stable, the order stays.
    rank_entries(entries->data, shifts.back());
  }

 private:
  using Places = std::array<std::uint64_t, kRankDigits>;

  std::int64_t begin_of(std::int64_t part) const { return n_ / parts_ * part; }
  std::int64_t length_of(std::int64_t part) const {
    return (part + 1 == parts_ ? n_ : begin_of(part + 1)) - begin_of(part);
  }
  std::uint64_t* places(std::int64_t part) {
    return places_[static_cast<std::size_t>(part)].data();
  }

  /// Counts digits with count(places, part), turns the counts into places and calls move(part).
  template <class Count, class Move>
  void pass(const Count& count, const Move& move) {
    auto count_part = [&](std::int64_t part) {
      places_[static_cast<std::size_t>(part)].fill(0);
      count(places(part), part);
    };
    auto move_part = [&](std::int64_t part) { move(part); };
    job_.cpu.scheduler().for_parts(parts_, count_part);
    std::uint64_t place = 0;
    for (std::size_t digit = 0; digit < kRankDigits; ++digit) {
      for (Places& part : places_) place += std::exchange(part[digit], place);
    }
    job_.cpu.scheduler().for_parts(parts_, move_part);
  }

  void sort_keys(std::byte* out, int shift) {
    pass(
        [&](std::uint64_t* counts, std::int64_t part) {
          kernels_.count_keys(counts, keys_ + begin_of(part) * job_.key_bytes, length_of(part),
                              shift, job_.down);
        },
        [&](std::int64_t part) {
          kernels_.sort_keys(out, keys_ + begin_of(part) * job_.key_bytes, length_of(part),
                             begin_of(part), shift, places(part), job_.down);
        });
  }
  void sort_entries(std::byte* out, const std::byte* in, int shift) {
    move_entries(kernels_.sort_entries, out, in, shift);
  }
  void rank_entries(const std::byte* in, int shift) {
    move_entries(kernels_.rank_entries, ranks_, in, shift);
  }
  void move_entries(SortEntriesKernel move, std::byte* out, const std::byte* in, int shift) {
    const auto entries = [&](std::int64_t part) {
      return in + begin_of(part) * kernels_.entry_bytes;
    };
    pass(
        [&](std::uint64_t* counts, std::int64_t part) {
          kernels_.count_entries(counts, entries(part), length_of(part), shift);
        },
        [&](std::int64_t part) { move(out, entries(part), length_of(part), shift, places(part)); });
  }

  const Job& job_;
  const RankKernels& kernels_;
  const std::byte* keys_;
  std::byte* ranks_;
  std::int64_t n_;
  int parts_;
  std::vector<Places> places_;
};

/// Ranks of a vector that is one segment of n > kRankFew elements.
Vector rank_one(Job& job, std::int64_t n) {
  const RankSurvey found = survey(job, 0, n);
  if (found.ascending) {
    Vector result;
    result.length = n;
    result.form = Form::Progression;
    result.inline_elements<std::int64_t>()[1] = 1;
    return result;
  }
  Vector result = job.cpu.new_vector(Type::Int, n);
  job.ranks = mutable_elements<std::byte>(result);
  if (n <= tuning.rank_longest) {
    const std::int64_t starts[] = {0, n};
    job.kernels.rank_segments(job.ranks, job.keys, starts, 1, job.scratch(n)->data, Job::room(n),
                              job.down);
  } else {
    LongSort(job, 0, n).run(found.varying);
  }
  return result;
}

/// Segments of all lengths.
void rank_many(const Job& job, const Segments& segments) {
  // No segment but the last of a tile is longer than the tile, and so too long to be ranked with
  // it.
  const std::int64_t tile_length = std::min(tuning.rank_tile, tuning.rank_longest);
  const std::int64_t tiles = tile_count(segments.total(), tile_length);
  const auto first_of = [&](std::int64_t tile) {
    return tile == tiles ? segments.count() : segments.first_from(tile * tile_length);
  };
  const int parts = static_cast<int>(std::min<std::int64_t>(
      job.cpu.scheduler().parts(segments.total() * 2 * job.kernels.entry_bytes), tiles));
  std::vector<Ref<Buffer>> scratch;
  std::vector<Ref<Buffer>> starts;
  for (int part = 0; part < parts; ++part) {
    scratch.push_back(job.scratch(segments.total()));
    starts.push_back(job.cpu.heap().allocate(sizeof(StartsBuffer<LargestTuning::rank_tile>)));
  }
  std::atomic<std::int64_t> next{0};
  auto run_part = [&](std::int64_t part) {
    const auto p = static_cast<std::size_t>(part);
    for (std::int64_t tile = next.fetch_add(1); tile < tiles; tile = next.fetch_add(1)) {
      const std::int64_t end = first_of(tile + 1);
      for (std::int64_t first = first_of(tile); first < end; first += tile_length) {
        // More segments than elements where many are empty.
        const std::int64_t count = std::min(tile_length, end - first);
        job.kernels.rank_segments(job.ranks, job.keys,
                                  segments.starts(first, count, starts[p]->as<std::int64_t>()),
                                  count, scratch[p]->data, Job::room(segments.total()), job.down);
      }
    }
  };
  job.cpu.scheduler().for_parts(parts, run_part);
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    // Only the last segment that begins in a tile can be longer than the tile.
    const std::int64_t last = first_of(tile + 1) - 1;
    const std::int64_t begin = last < 0 ? 0 : segments.start(last);
    if (begin < tile * tile_length || segments.length(last) <= tuning.rank_longest) continue;
    const std::int64_t n = segments.length(last);
    const RankSurvey found = survey(job, begin, n);
    if (found.ascending) {
      job.cpu.kernels().progression(job.ranks + begin * job.rank_bytes, 0, 1, 0, n);
    } else {
      LongSort(job, begin, n).run(found.varying);
    }
  }
}

/// Equal elements keep their order: ranks are positions.
Vector rank_constant(CpuBackend& cpu, Value& segdes) {
  const std::int64_t segments = segdes.segdes().count;
  const Vector zero = make_int(cpu.widths(), 0);
  const Vector one = make_int(cpu.widths(), 1);
  Value operands[] = {constant_vector(cpu, Type::Int, segments, zero.payload),
                      constant_vector(cpu, Type::Int, segments, one.payload), std::move(segdes)};
  Value result;
  run_index(cpu, vcode::Op::Index, Type::Int, operands, &result);
  return std::move(result.vector());
}

}  // namespace

void run_rank(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  const std::int64_t n = operands[0].vector().length;
  const Segdes& segdes = operands[1].segdes();
  if (operands[0].vector().form == Form::Constant) {
    results[0] = rank_constant(cpu, operands[1]);
    return;
  }
  if (n == 0) {
    results[0] = cpu.new_vector(Type::Int, 0);
    return;
  }
  const Vector source = cpu.materialized(operands[0].vector());
  const bool packed = n <= (std::int64_t{1} << 32) - 1;
  Job job{cpu,
          (packed ? cpu.kernels().rank_packed : cpu.kernels().rank)[type_index(type)],
          op == vcode::Op::RankDown,
          static_cast<std::int64_t>(cpu.element_bytes(type)),
          static_cast<std::int64_t>(cpu.element_bytes(Type::Int)),
          elements<std::byte>(source)};
  if (segdes.count == 1 && n > kRankFew) {
    results[0] = rank_one(job, n);
    return;
  }
  Vector result = cpu.new_vector(Type::Int, n);
  job.ranks = mutable_elements<std::byte>(result);
  const Segments segments(cpu, segdes);
  if (n <= kRankFew) {
    StartsBuffer<kRankFew> buffer;
    for (std::int64_t first = 0; first < segments.count(); first += kRankFew) {
      const std::int64_t count = std::min(kRankFew, segments.count() - first);
      job.kernels.rank_segments(job.ranks, job.keys, segments.starts(first, count, buffer), count,
                                nullptr, 0, job.down);
    }
  } else {
    rank_many(job, segments);
  }
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
