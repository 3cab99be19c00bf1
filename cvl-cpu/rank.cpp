// RANK_UP, RANK_DOWN.
//
// Segments that fit a core's own cache are ranked tile by tile: the segments that begin in a tile
// of elements are sorted together, threads taking tiles as they come. A longer segment is ranked by
// itself with all threads: every part counts its digits, and from all counts follows where each
// part writes each digit. How many digits there are depends on what varies among the keys; with
// one, what has been counted gives the ranks, and nothing is sorted.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
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
    return cpu.heap().allocate(static_cast<std::size_t>(2 * room(n) * kernels.segment_entry_bytes));
  }
};

/// What is known of the keys of elements [begin, begin + n).
RankSurvey survey(const Job& job, std::int64_t begin, std::int64_t n) {
  const std::int64_t tile_length = tuning.survey_tile;
  const std::int64_t tiles = tile_count(n, tile_length);
  std::vector<RankSurvey> found(static_cast<std::size_t>(tiles));
  auto tile = [&](std::int64_t index) {
    // Neighbouring tiles share an element, so that nothing between them is missed.
    const std::int64_t first = std::max<std::int64_t>(index * tile_length - 1, 0);
    found[static_cast<std::size_t>(index)] =
        job.kernels.survey(job.keys + (begin + first) * job.key_bytes,
                           std::min((index + 1) * tile_length, n) - first, job.down);
  };
  job.cpu.scheduler().for_tiles(tiles, n * job.key_bytes, tile);
  RankSurvey all = found.front();
  for (const RankSurvey& part : found) {
    all.varying |= part.varying;
    all.least = std::min(all.least, part.least);
    all.greatest = std::max(all.greatest, part.greatest);
    all.ascending = all.ascending && part.ascending;
  }
  return all;
}

/// The numbers that the keys of a segment become, and their digits, the least significant first.
struct Plan {
  std::uint64_t base;
  int drop;
  std::uint64_t greatest;  // number
  std::vector<RankDigit> digits;

  /// Numbers of which the bits of `varying` differ; those between digits are skipped.
  Plan(std::uint64_t base_key, std::uint64_t greatest_key, std::uint64_t varying)
      : base(base_key),
        drop(std::countr_zero(varying)),
        greatest((greatest_key - base_key) >> drop) {
    std::uint64_t rest = varying >> drop;
    while (rest != 0) {
      const int shift = std::countr_zero(rest);
      const int width = std::bit_width(rest) - shift;
      const bool last = width <= std::max(tuning.rank_last_digit_bits, tuning.rank_digit_bits);
      const int bits = static_cast<int>(last ? width : tuning.rank_digit_bits);
      digits.push_back({shift, bits});
      rest = last ? 0 : rest >> (shift + bits) << (shift + bits);
    }
  }
};

/// REQUIRES: keys differ
Plan plan_for(const RankSurvey& keys) {
  // Low bits that are the same in all keys are zero in all differences.
  const int drop = std::countr_zero(keys.varying);
  const std::uint64_t range = (keys.greatest - keys.least) >> drop;
  const std::uint64_t differences =
      std::numeric_limits<std::uint64_t>::max() >> std::countl_zero(range);
  Plan from_least(keys.least, keys.greatest, differences << drop);
  Plan from_zero(0, keys.greatest, keys.varying);
  return from_zero.digits.size() < from_least.digits.size() ? from_zero : from_least;
}

/// Ranks of one segment that is not in order.
class LongRank {
 public:
  LongRank(const Job& job, std::int64_t begin, std::int64_t n, const RankSurvey& found)
      : job_(job),
        plan_(plan_for(found)),
        kernels_(n <= std::numeric_limits<std::uint32_t>::max() &&
                         plan_.greatest <= std::numeric_limits<std::uint32_t>::max()
                     ? job.kernels.sort_packed
                     : job.kernels.sort),
        numbers_{job.keys + begin * job.key_bytes, job.down, plan_.base, plan_.drop},
        ranks_(job.ranks + begin * job.rank_bytes),
        n_(n),
        parts_(job.cpu.scheduler().parts(n * kernels_.entry_bytes)) {}

  /// Are there so few numbers that counting each of them costs less than sorting?
  bool countable() const {
    return plan_.greatest < static_cast<std::uint64_t>(std::min(n_, tuning.rank_counted));
  }

  void run() { countable() ? count() : sort(); }

 private:
  void count() {
    const auto values = static_cast<std::int64_t>(plan_.greatest) + 1;
    // Places of all parts together are no more than elements.
    parts_ = static_cast<int>(std::min<std::int64_t>(parts_, n_ / values));
    const RankDigit whole{0, static_cast<int>(std::bit_width(plan_.greatest))};
    allocate_places(values);
    pass(
        values, [&](void* places, std::int64_t part) { count_numbers(places, part, whole); },
        [&](void* places, std::int64_t part) {
          kernels_.rank_numbers(ranks_, numbers_, begin_of(part), length_of(part), whole, places);
        });
  }

  void sort() {
    const std::vector<RankDigit>& digits = plan_.digits;
    int widest = 0;
    for (const RankDigit& digit : digits) widest = std::max(widest, digit.bits);
    allocate_places(std::int64_t{1} << widest);
    const auto bytes = static_cast<std::size_t>(n_ * kernels_.entry_bytes);
    Ref<Buffer> entries = job_.cpu.heap().allocate(bytes);
    Ref<Buffer> sorted;
    if (digits.size() > 2) sorted = job_.cpu.heap().allocate(bytes);
    sort_numbers(entries->data, digits.front());
    for (std::size_t k = 1; k + 1 < digits.size(); ++k) {
      move_entries(kernels_.sort_entries, sorted->data, entries->data, digits[k]);
      std::swap(entries, sorted);
    }
    // The first digit again if it is the only one: sorting is stable, the order stays.
    move_entries(kernels_.rank_entries, ranks_, entries->data, digits.back());
  }

  std::int64_t begin_of(std::int64_t part) const { return n_ / parts_ * part; }
  std::int64_t length_of(std::int64_t part) const {
    return (part + 1 == parts_ ? n_ : begin_of(part + 1)) - begin_of(part);
  }
  void allocate_places(std::int64_t values) {
    places_ =
        job_.cpu.heap().allocate(static_cast<std::size_t>(parts_ * values * kernels_.place_bytes));
  }

  /// Counts digits with count(places, part), turns the counts into places and calls
  /// move(places, part).
  template <class Count, class Move>
  void pass(std::int64_t values, const Count& count, const Move& move) {
    const auto bytes = static_cast<std::size_t>(values * kernels_.place_bytes);
    const auto places = [&](std::int64_t part) {
      return places_->data + static_cast<std::size_t>(part) * bytes;
    };
    auto count_part = [&](std::int64_t part) {
      std::memset(places(part), 0, bytes);
      count(places(part), part);
    };
    auto move_part = [&](std::int64_t part) { move(places(part), part); };
    job_.cpu.scheduler().for_parts(parts_, count_part);
    kernels_.place(places_->data, values, parts_);
    job_.cpu.scheduler().for_parts(parts_, move_part);
  }

  void count_numbers(void* places, std::int64_t part, RankDigit digit) {
    kernels_.count_numbers(places, numbers_, begin_of(part), length_of(part), digit);
  }
  void sort_numbers(std::byte* out, RankDigit digit) {
    pass(
        std::int64_t{1} << digit.bits,
        [&](void* places, std::int64_t part) { count_numbers(places, part, digit); },
        [&](void* places, std::int64_t part) {
          kernels_.sort_numbers(out, numbers_, begin_of(part), length_of(part), digit, places);
        });
  }
  void move_entries(SortEntriesKernel move, std::byte* out, const std::byte* in, RankDigit digit) {
    const auto entries = [&](std::int64_t part) {
      return in + begin_of(part) * kernels_.entry_bytes;
    };
    pass(
        std::int64_t{1} << digit.bits,
        [&](void* places, std::int64_t part) {
          kernels_.count_entries(places, entries(part), length_of(part), digit);
        },
        [&](void* places, std::int64_t part) {
          move(out, entries(part), length_of(part), digit, places);
        });
  }

  const Job& job_;
  Plan plan_;
  const RankSortKernels& kernels_;
  RankNumbers numbers_;
  std::byte* ranks_;
  std::int64_t n_;
  int parts_;
  Ref<Buffer> places_;
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
  LongRank rank(job, 0, n, found);
  if (n <= tuning.rank_longest && !rank.countable()) {
    const std::int64_t starts[] = {0, n};
    job.kernels.rank_segments(job.ranks, job.keys, starts, 1, job.scratch(n)->data, Job::room(n),
                              job.down);
  } else {
    rank.run();
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
      job.cpu.scheduler().parts(segments.total() * 2 * job.kernels.segment_entry_bytes), tiles));
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
      LongRank(job, begin, n, found).run();
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
  Job job{cpu,
          cpu.kernels().rank[type_index(type)],
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
