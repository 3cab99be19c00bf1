// SORT_UP, SORT_DOWN.
//
// A long segment is sorted digit by digit, the least significant first, and what is moved are the
// keys alone: a third of the bytes that ranking and permuting move. Passes that do not stay in the
// cache collect a line for each digit before they write it around the cache. Short segments are
// ranked tile by tile as for RANK, and permuted while they are in a core's own cache.

#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/operations.hpp"
#include "cvl-cpu/radix.hpp"

namespace cvl::cpu {
namespace {

/// Sorts elements [begin, begin + n) into `out`, which takes all elements. With `dying`, these are
/// all elements of that vector, whose memory may be used if nobody else holds it. REQUIRES: not in
/// order.
void sort_long(const RadixKeys& keys, std::int64_t begin, std::int64_t n, const RankSurvey& found,
               std::byte* out, Vector* dying) {
  const RadixPlan plan(found, {tuning.sort_digit_bits, tuning.sort_digit_bits});
  const RankSortKernels& kernels =
      n <= std::numeric_limits<std::uint32_t>::max() ? keys.kernels.sort_packed : keys.kernels.sort;
  RadixPasses passes(keys.cpu, kernels, n, keys.cpu.scheduler().parts(n * keys.bytes));
  const std::int64_t values = RadixPasses::values_of_widest(plan.digits);
  passes.allocate_places(values);

  const std::int64_t bytes = n * keys.bytes;
  const bool streamed = keys.cpu.streams(bytes);
  const std::int64_t line_bytes =
      tile_count(values * (kSortLine + kernels.place_bytes), kSortLine) * kSortLine;
  Ref<Buffer> lines;  // of every part
  if (streamed) {
    lines = keys.cpu.heap().allocate(static_cast<std::size_t>(passes.parts() * line_bytes));
  }

  // Passes write to the result and to other memory by turns, the last one to the result. Of an odd
  // number the second is the first that needs other memory, and nobody reads the keys any more.
  const bool over_keys = dying != nullptr && plan.digits.size() % 2 == 1;
  Vector other;
  if (plan.digits.size() > 1) {
    const Type type = keys.type;
    other = over_keys ? keys.cpu.new_vector_over(type, n, *dying) : keys.cpu.new_vector(type, n);
  }
  const std::byte* from = keys.at(begin);
  for (std::size_t left = plan.digits.size(); left-- > 0;) {
    const RankDigit digit = plan.digits[plan.digits.size() - 1 - left];
    const RankNumbers numbers{from, keys.down, plan.base, plan.drop};
    std::byte* const to =
        left % 2 == 0 ? out + begin * keys.bytes : mutable_elements<std::byte>(other);
    passes.pass(
        std::int64_t{1} << digit.bits,
        [&](void* places, std::int64_t part) {
          kernels.count_numbers(places, numbers, passes.begin_of(part), passes.length_of(part),
                                digit);
        },
        [&](void* places, std::int64_t part) {
          kernels.sort_keys(to, numbers, passes.begin_of(part), passes.length_of(part), digit,
                            places, streamed ? lines->data + part * line_bytes : nullptr);
        });
    from = to;
  }
}

/// Sorts segments that begin within a tile. One for each thread.
class TileSorter {
 public:
  TileSorter(const RadixKeys& keys, std::int64_t n)
      : keys_(keys),
        room_(RadixKeys::room(n)),
        scratch_(keys.scratch(n)),
        ranks_(keys.cpu.heap().allocate(static_cast<std::size_t>(
            room_ * static_cast<std::int64_t>(keys.cpu.element_bytes(Type::Int))))) {}

  void run(std::byte* out, const std::int64_t* starts, std::int64_t count) const {
    keys_.kernels.sort_segments(out, keys_.first, starts, count, scratch_->data, room_, keys_.down,
                                ranks_->data);
  }

 private:
  const RadixKeys& keys_;
  std::int64_t room_;
  Ref<Buffer> scratch_, ranks_;
};

void sort_many(const RadixKeys& keys, const Segments& segments, std::byte* out) {
  const SegmentTiles tiles(keys, segments);
  std::vector<TileSorter> sorters;
  for (int part = 0; part < tiles.parts(); ++part) sorters.emplace_back(keys, segments.total());
  tiles.for_each([&](std::int64_t part, const std::int64_t* starts, std::int64_t count) {
    sorters[static_cast<std::size_t>(part)].run(out, starts, count);
  });
  tiles.for_each_long([&](std::int64_t begin, std::int64_t n) {
    const RankSurvey found = keys.survey(begin, n);
    if (found.ascending) {
      std::memcpy(out + begin * keys.bytes, keys.at(begin),
                  static_cast<std::size_t>(n * keys.bytes));
    } else {
      sort_long(keys, begin, n, found, out, nullptr);
    }
  });
}

}  // namespace

void run_sort(CpuBackend& cpu, vcode::Op op, Type type, Value* operands, Value* results) {
  const std::int64_t n = operands[0].vector().length;
  const Segdes& segdes = operands[1].segdes();
  if (n == 0 || operands[0].vector().form == Form::Constant) {
    results[0] = std::move(operands[0]);
    return;
  }
  Vector source = cpu.materialized(operands[0].vector());
  operands[0] = Value();  // the only other reference, perhaps
  const RadixKeys keys{cpu, type, op == vcode::Op::SortDown, elements<std::byte>(source)};
  const bool one = segdes.count == 1;
  std::optional<RankSurvey> found;
  if (one && n > tuning.sort_by_ranks) {
    found = keys.survey(0, n);
    if (found->ascending) {
      results[0] = source;
      return;
    }
  }
  Vector result = cpu.new_vector(type, n);
  std::byte* const out = mutable_elements<std::byte>(result);
  if (found) {
    sort_long(keys, 0, n, *found, out, &source);
  } else if (one && n <= tuning.rank_longest) {
    const std::int64_t starts[] = {0, n};
    TileSorter(keys, n).run(out, starts, 1);
  } else {
    sort_many(keys, Segments(cpu, segdes), out);
  }
  results[0] = std::move(result);
}

}  // namespace cvl::cpu
