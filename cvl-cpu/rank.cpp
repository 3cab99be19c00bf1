// RANK_UP, RANK_DOWN.
//
// Segments that fit a core's own cache are ranked tile by tile: the segments that begin in a tile
// of elements are sorted together, threads taking tiles as they come. A longer segment is ranked by
// itself with all threads: every part counts its digits, and from all counts follows where each
// part writes each digit. How many digits there are depends on what varies among the keys; with
// one, what has been counted gives the ranks, and nothing is sorted.

#include <bit>
#include <limits>
#include <utility>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/radix.hpp"

namespace cvl::cpu {
namespace {

/// Where the ranks of some keys go.
struct Job {
  RadixKeys keys;
  std::int64_t rank_bytes;
  std::byte* ranks = nullptr;

  std::byte* rank_at(std::int64_t i) const { return ranks + i * rank_bytes; }
};

/// Ranks of one segment that is not in order.
class LongRank {
 public:
  LongRank(const Job& job, std::int64_t begin, std::int64_t n, const RankSurvey& found)
      : cpu_(job.keys.cpu),
        plan_(found, {tuning.rank_digit_bits, tuning.rank_last_digit_bits}),
        kernels_(n <= std::numeric_limits<std::uint32_t>::max() &&
                         plan_.greatest <= std::numeric_limits<std::uint32_t>::max()
                     ? job.keys.kernels.sort_packed
                     : job.keys.kernels.sort),
        numbers_{job.keys.at(begin), job.keys.down, plan_.base, plan_.drop},
        ranks_(job.rank_at(begin)),
        n_(n),
        parts_(cpu_.scheduler().parts(n * kernels_.entry_bytes)) {}

  /// Are there so few numbers that counting each of them costs less than sorting?
  bool countable() const {
    return plan_.greatest < static_cast<std::uint64_t>(std::min(n_, tuning.rank_counted));
  }

  void run() { countable() ? count() : sort(); }

 private:
  void count() {
    const auto values = static_cast<std::int64_t>(plan_.greatest) + 1;
    // Places of all parts together are no more than elements.
    RadixPasses passes(cpu_, kernels_, n_,
                       static_cast<int>(std::min<std::int64_t>(parts_, n_ / values)));
    const RankDigit whole{0, static_cast<int>(std::bit_width(plan_.greatest))};
    passes.allocate_places(values);
    passes.pass(
        values,
        [&](void* places, std::int64_t part) { count_numbers(passes, places, part, whole); },
        [&](void* places, std::int64_t part) {
          kernels_.rank_numbers(ranks_, numbers_, passes.begin_of(part), passes.length_of(part),
                                whole, places);
        });
  }

  void sort() {
    const std::vector<RankDigit>& digits = plan_.digits;
    RadixPasses passes(cpu_, kernels_, n_, parts_);
    passes.allocate_places(RadixPasses::values_of_widest(digits));
    const auto bytes = static_cast<std::size_t>(n_ * kernels_.entry_bytes);
    Ref<Buffer> entries = cpu_.heap().allocate(bytes);
    Ref<Buffer> sorted;
    if (digits.size() > 2) sorted = cpu_.heap().allocate(bytes);
    sort_numbers(passes, entries->data, digits.front());
    for (std::size_t k = 1; k + 1 < digits.size(); ++k) {
      move_entries(passes, kernels_.sort_entries, sorted->data, entries->data, digits[k]);
      std::swap(entries, sorted);
    }
    // The first digit again if it is the only one: sorting is stable, the order stays.
    move_entries(passes, kernels_.rank_entries, ranks_, entries->data, digits.back());
  }

  void count_numbers(const RadixPasses& passes, void* places, std::int64_t part, RankDigit digit) {
    kernels_.count_numbers(places, numbers_, passes.begin_of(part), passes.length_of(part), digit);
  }
  void sort_numbers(RadixPasses& passes, std::byte* out, RankDigit digit) {
    passes.pass(
        std::int64_t{1} << digit.bits,
        [&](void* places, std::int64_t part) { count_numbers(passes, places, part, digit); },
        [&](void* places, std::int64_t part) {
          kernels_.sort_numbers(out, numbers_, passes.begin_of(part), passes.length_of(part), digit,
                                places);
        });
  }
  void move_entries(RadixPasses& passes, SortEntriesKernel move, std::byte* out,
                    const std::byte* in, RankDigit digit) {
    const auto entries = [&](std::int64_t part) {
      return in + passes.begin_of(part) * kernels_.entry_bytes;
    };
    passes.pass(
        std::int64_t{1} << digit.bits,
        [&](void* places, std::int64_t part) {
          kernels_.count_entries(places, entries(part), passes.length_of(part), digit);
        },
        [&](void* places, std::int64_t part) {
          move(out, entries(part), passes.length_of(part), digit, places);
        });
  }

  CpuBackend& cpu_;
  RadixPlan plan_;
  const RankSortKernels& kernels_;
  RankNumbers numbers_;
  std::byte* ranks_;
  std::int64_t n_;
  int parts_;
};

/// Ranks of a vector that is one segment of n > kRankFew elements.
Vector rank_one(Job& job, std::int64_t n) {
  const RadixKeys& keys = job.keys;
  const RankSurvey found = keys.survey(0, n);
  if (found.ascending) {
    Vector result;
    result.length = n;
    result.form = Form::Progression;
    result.inline_elements<std::int64_t>()[1] = 1;
    return result;
  }
  Vector result = keys.cpu.new_vector(Type::Int, n);
  job.ranks = mutable_elements<std::byte>(result);
  LongRank rank(job, 0, n, found);
  if (n <= tuning.rank_longest && !rank.countable()) {
    const std::int64_t starts[] = {0, n};
    keys.kernels.rank_segments(job.ranks, keys.first, starts, 1, keys.scratch(n)->data,
                               RadixKeys::room(n), keys.down);
  } else {
    rank.run();
  }
  return result;
}

/// Segments of all lengths.
void rank_many(const Job& job, const Segments& segments) {
  const RadixKeys& keys = job.keys;
  const SegmentTiles tiles(keys, segments);
  std::vector<Ref<Buffer>> scratch;
  for (int part = 0; part < tiles.parts(); ++part) {
    scratch.push_back(keys.scratch(segments.total()));
  }
  tiles.for_each([&](std::int64_t part, const std::int64_t* starts, std::int64_t count) {
    keys.kernels.rank_segments(job.ranks, keys.first, starts, count,
                               scratch[static_cast<std::size_t>(part)]->data,
                               RadixKeys::room(segments.total()), keys.down);
  });
  tiles.for_each_long([&](std::int64_t begin, std::int64_t n) {
    const RankSurvey found = keys.survey(begin, n);
    if (found.ascending) {
      keys.cpu.kernels().progression(job.rank_at(begin), 0, 1, 0, n);
    } else {
      LongRank(job, begin, n, found).run();
    }
  });
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
  Job job{RadixKeys(cpu, type, op == vcode::Op::RankDown, elements<std::byte>(source)),
          static_cast<std::int64_t>(cpu.element_bytes(Type::Int))};
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
      job.keys.kernels.rank_segments(job.ranks, job.keys.first,
                                     segments.starts(first, count, buffer), count, nullptr, 0,
                                     job.keys.down);
    }
  } else {
    rank_many(job, segments);
  }
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
