#include "cvl-cpu/kernel_runs.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Stage = RunStage::Kind;
using vcode::Op;

std::int64_t wrapped_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
std::int64_t wrapped_difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

/// Segments that have elements in a block: element j of segment s, first[s] <= j < last[s], is in
/// it, and sum[s] + j, or, backwards, sum[s] - j, as far as it has been summed up and wrapped to 64
/// bits, is its index.
struct Piece {
  std::int64_t count;
  const std::int64_t* first;
  const std::int64_t* last;
  std::int64_t* sum;
  bool backwards;

  /// The least index that a segment has in the block.
  std::int64_t least(std::int64_t s) const {
    return backwards ? wrapped_difference(sum[s], last[s] - 1) : wrapped_sum(sum[s], first[s]);
  }
};

/// Do the indices of all segments that have elements lie in [0, value)? A number that is below zero
/// says that they do not, and no comparison is needed.
template <bool backwards, class Value>
bool lie_below(const Piece& piece, const Value& value) {
  std::int64_t outside = 0;
  for (std::int64_t s = 0; s < piece.count; ++s) {
    const std::int64_t elements = piece.last[s] - piece.first[s];
    const std::int64_t from = backwards ? wrapped_difference(piece.sum[s], piece.last[s] - 1)
                                        : wrapped_sum(piece.sum[s], piece.first[s]);
    const std::int64_t bound = value(s);
    const std::int64_t behind = wrapped_difference(bound, from);  // does not wrap where both fit
    outside |= (from | bound | behind | wrapped_difference(behind, elements)) & -elements;
  }
  return outside >= 0;
}

template <class Value>
bool apply(Stage stage, const Piece& piece, const Value& value) {
  switch (stage) {
    case Stage::Add:
      for (std::int64_t s = 0; s < piece.count; ++s) {
        piece.sum[s] = wrapped_sum(piece.sum[s], value(s));
      }
      return true;
    case Stage::Subtract:
      for (std::int64_t s = 0; s < piece.count; ++s) {
        piece.sum[s] = wrapped_difference(piece.sum[s], value(s));
      }
      return true;
    default:
      return piece.backwards ? lie_below<true>(piece, value) : lie_below<false>(piece, value);
  }
}

/// `first` is the number of the first segment, `starts` where all of them begin.
bool apply(CpuBackend& cpu, const BoundStage& stage, const Piece& piece, std::int64_t first,
           const std::int64_t* starts) {
  if (stage.uniform) {
    return apply(stage.kind, piece, [&](std::int64_t) { return stage.value; });
  }
  alignas(64) std::int64_t buffer[kSegmentBlock + 8];
  if (stage.row) {
    const bool wide = cpu.element_bytes(Type::Int) == 8;
    if (!stage.row->evaluate(first, starts, piece.count, wide, buffer)) return false;
    return apply(stage.kind, piece, [&](std::int64_t s) { return buffer[s]; });
  }
  const std::byte* values = segment_values(cpu, stage.walked, first, piece.count, buffer);
  if (cpu.element_bytes(Type::Int) == 4) {
    const auto* numbers = reinterpret_cast<const std::int32_t*>(values);
    return apply(stage.kind, piece, [&](std::int64_t s) { return std::int64_t{numbers[s]}; });
  }
  const auto* numbers = reinterpret_cast<const std::int64_t*>(values);
  return apply(stage.kind, piece, [&](std::int64_t s) { return numbers[s]; });
}

bool sum_up(CpuBackend& cpu, const BoundRuns& runs, const Piece& piece, std::int64_t first,
            const std::int64_t* starts) {
  for (const BoundStage& stage : runs.stages) {
    if (!apply(cpu, stage, piece, first, starts)) return false;
  }
  return apply(Stage::Check, piece, [&](std::int64_t) { return runs.limit; });
}

/// Sums up the segments of a block and calls visit(least, elements), of their indices in it, as
/// long as that returns true.
template <class Visit>
bool for_runs(CpuBackend& cpu, const BoundRuns& runs, const SegmentBlock& block,
              const Visit& visit) {
  alignas(64) std::int64_t first[kSegmentBlock];
  alignas(64) std::int64_t last[kSegmentBlock];
  alignas(64) std::int64_t sum[kSegmentBlock];
  for (std::int64_t s = 0; s < block.count; ++s) {
    first[s] = 0;
    last[s] = block.starts[s + 1] - block.starts[s];
    sum[s] = 0;
  }
  const std::int64_t end = block.count - 1;
  first[0] = std::max<std::int64_t>(block.begin - block.starts[0], 0);
  last[end] = std::min(last[end], block.end - block.starts[end]);
  const Piece piece{block.count, first, last, sum, runs.backwards};
  if (!sum_up(cpu, runs, piece, block.first, block.starts)) return false;
  for (std::int64_t s = 0; s < block.count; ++s) {
    if (!visit(piece.least(s), std::max<std::int64_t>(last[s] - first[s], 0))) return false;
  }
  return true;
}

/// The run of n elements from `position` on, as far as that is not below zero, nor beyond the
/// bound, if there is one: all others have the same place. Of a run backwards `position` is the
/// place of its last element.
bool find_bordered_run(const BoundRuns& runs, std::int64_t position, std::int64_t n,
                       std::optional<std::int64_t> bound, bool wide, RunTable& table) {
  // An index beyond what INTs can be wraps around, and may lie inside: that is left to a gather.
  // What is added here does not overflow then, either.
  const std::int64_t far =
      wide ? std::int64_t{1} << 61 : std::int64_t{std::numeric_limits<std::int32_t>::max()};
  if (position < -far || position > far - n || *runs.otherwise >= runs.limit) return false;
  if (position < 0 && !runs.from_zero) return false;
  std::int64_t first = std::clamp<std::int64_t>(-position, 0, n);
  std::int64_t last =
      bound ? std::clamp(std::clamp<std::int64_t>(*bound, 0, far) - position, first, n) : n;
  if (first < last && position + last > runs.limit) return false;
  table.positions[0] = position + first;
  table.ends[0] = last - first;
  table.count = first < last ? 1 : 0;
  if (runs.backwards) first = n - std::exchange(last, n - first);
  table.before = first;
  table.behind = n - last;
  return true;
}

/// The run of n elements from `begin` on that lie in the segment of the table.
bool find_run(CpuBackend& cpu, const BoundRuns& runs, std::int64_t begin, std::int64_t n,
              RunTable& table) {
  if (!runs.choices.empty()) return add_chosen_runs(cpu, runs, begin, n, table);
  const bool wide = cpu.element_bytes(Type::Int) == 8;
  std::int64_t position = begin - table.bounds[0];
  if (runs.backwards) position = -(position + n - 1);
  const auto lies_below = [&](std::int64_t limit) {
    return position >= 0 && position <= limit && n <= limit - position;
  };
  std::optional<std::int64_t> bound;  // of the last check
  bool inside = true;
  for (const BoundStage& stage : runs.stages) {
    const std::optional<std::int64_t> value = stage_value(cpu, stage, table);
    if (!value) return false;
    if (stage.kind == Stage::Check) {
      inside = inside && lies_below(*value);
      bound = value;
    } else {
      position = stage.kind == Stage::Add ? wrapped_sum(position, *value)
                                          : wrapped_difference(position, *value);
    }
  }
  if (!inside || !lies_below(runs.limit)) {
    return runs.otherwise && find_bordered_run(runs, position, n, bound, wide, table);
  }
  table.count = 1;
  table.positions[0] = position;
  table.ends[0] = n;
  return true;
}

// --- Order ---

struct Range {
  std::int64_t begin = 0, end = 0;
};

/// Does the run of each of `count` segments begin at its element of `begins`, not below zero, and
/// end before that of the next one begins?
template <class I>
bool ascend(const I* begins, const I* lengths, std::int64_t count) {
  using Unsigned = std::make_unsigned_t<I>;
  Unsigned wrong = 0;  // where its highest bit is set
  for (std::int64_t s = 0; s < count; ++s) {
    const auto begin = static_cast<Unsigned>(begins[s]);
    const Unsigned end = begin + static_cast<Unsigned>(lengths[s]);
    wrong |= begin | end | (static_cast<Unsigned>(begins[s + 1]) - end);
  }
  return static_cast<I>(wrong) >= 0;
}

template <class I>
bool ascend(CpuBackend& cpu, const BoundRuns& runs) {
  const auto* begins = reinterpret_cast<const I*>(runs.first);
  const auto* lengths = reinterpret_cast<const I*>(runs.segments->lengths(0));
  const std::int64_t last = runs.segments->count() - 1;
  if (runs.more > runs.limit || begins[last] < 0 || wrapped_sum(begins[0], runs.more) < 0 ||
      begins[last] > wrapped_difference(runs.limit, runs.more) - lengths[last]) {
    return false;
  }
  const std::int64_t tile = tuning.order_tile;
  std::atomic<bool> good{true};
  auto look = [&](std::int64_t number) {
    const std::int64_t begin = number * tile;
    if (!ascend(begins + begin, lengths + begin, std::min(tile, last - begin))) {
      good.store(false, std::memory_order_relaxed);
    }
  };
  cpu.scheduler().for_tiles(tile_count(last, tile), 2 * last * std::int64_t{sizeof(I)}, look);
  return good;
}

/// Do the runs lie in the order of their segments, whatever else is known? What is appended does.
bool runs_ascend(CpuBackend& cpu, const BoundRuns& runs) {
  if (runs.first == nullptr || runs.segments->lengths(0) == nullptr) return false;
  return cpu.element_bytes(Type::Int) == 4 ? ascend<std::int32_t>(cpu, runs)
                                           : ascend<std::int64_t>(cpu, runs);
}

/// What is covered by the runs of a range of elements that lie before a border, and by those behind
/// it, if both ascend.
struct TileSequences {
  Range ranges[2];

  /// False when the runs do not ascend.
  bool add(Range run, std::int64_t border) {
    if (run.begin == run.end) return true;
    Range& range = ranges[run.begin < border ? 0 : 1];
    if (run.begin < border && run.end > border) return false;
    if (range.begin == range.end) {
      range = run;
      return true;
    }
    if (run.begin < range.end) return false;
    range.end = run.end;
    return true;
  }
};

/// The first position that does not follow the one before, in the first elements of a pass: a
/// second sequence might begin there.
std::int64_t second_sequence(CpuBackend& cpu, const BoundRuns& runs, std::int64_t length) {
  std::int64_t next = 0;
  std::int64_t border = std::numeric_limits<std::int64_t>::max();
  const auto follows = [&](std::int64_t position, std::int64_t elements) {
    if (elements == 0) return true;
    if (position != next) {
      border = position;
      return false;
    }
    next = position + elements;
    return true;
  };
  bool all = true;
  runs.segments->for_blocks(0, std::min(length, tuning.order_tile), [&](const SegmentBlock& block) {
    all = all && for_runs(cpu, runs, block, follows);
  });
  return border;
}

/// What a walk reads of [first, first + count): elements of the vector, or of the segments' lengths
/// or starts. Somewhere, maybe in `room`, which has as much as segment_values() says.
template <class T>
const T* values_at(CpuBackend& cpu, const WalkedNode& node, std::int64_t first, std::int64_t count,
                   T* room) {
  if (node.kind == Kind::Gather) {
    return reinterpret_cast<const T*>(Window(cpu, *node.vector).at(first, count, room));
  }
  if (node.kind == Kind::SegmentLength) {
    const std::byte* lengths = node.segments->lengths(first);
    if (lengths != nullptr) return reinterpret_cast<const T*>(lengths);
    std::fill_n(room, count, static_cast<T>(node.segments->length(first)));
    return room;
  }
  StartsBuffer<kSegmentBlock> buffer;
  const std::int64_t* starts = node.segments->starts(first, count, buffer);
  std::transform(starts, starts + count, room, [](std::int64_t k) { return static_cast<T>(k); });
  return room;
}

/// The same for each `divisor` segments in turn.
template <class T>
void repeat(CpuBackend& cpu, const WalkedNode& node, std::int64_t first, std::int64_t count,
            T* out) {
  alignas(64) T room[kSegmentBlock + 8];
  const std::int64_t begin = first / node.divisor;
  const std::int64_t end = (first + count - 1) / node.divisor + 1;
  const T* from = values_at(cpu, node, begin, end - begin, room);
  std::int64_t some = node.divisor - first % node.divisor;  // segments that read *from
  for (std::int64_t s = 0; s < count; s += std::exchange(some, node.divisor)) {
    std::fill_n(out + s, std::min(some, count - s), *from++);
  }
}

template <class T>
const std::byte* segment_values_of(CpuBackend& cpu, const WalkedNode& node, std::int64_t first,
                                   std::int64_t count, T* buffer) {
  if (node.divisor == 1) {
    return reinterpret_cast<const std::byte*>(values_at(cpu, node, first, count, buffer));
  }
  repeat(cpu, node, first, count, buffer);
  return reinterpret_cast<const std::byte*>(buffer);
}

}  // namespace

const std::byte* segment_values(CpuBackend& cpu, const WalkedNode& node, std::int64_t first,
                                std::int64_t count, std::int64_t* buffer) {
  if (node.kind == Kind::SegmentNumber) {
    cpu.kernels().progression(buffer, first, 1, 0, count);
    return reinterpret_cast<const std::byte*>(buffer);
  }
  if (cpu.element_bytes(Type::Int) == 8) return segment_values_of(cpu, node, first, count, buffer);
  return segment_values_of(cpu, node, first, count, reinterpret_cast<std::int32_t*>(buffer));
}

void RowNumbers::begin(const SegmentBlock& block) {
  block_ = block;
  std::fill_n(states_, kMostStages, State::NotAsked);
}

std::optional<std::int64_t> RowNumbers::at(const BoundStage& stage, std::int64_t segment,
                                           bool wide) {
  State& state = states_[stage.row_place];
  std::int64_t* numbers = numbers_[stage.row_place];
  if (state == State::NotAsked) {
    const bool known =
        stage.row->evaluate(block_.first, block_.starts, block_.count, wide, numbers);
    state = known ? State::Known : State::Unknown;
  }
  if (state == State::Unknown) return std::nullopt;
  return numbers[segment - block_.first];
}

std::optional<std::int64_t> stage_value(CpuBackend& cpu, const BoundStage& stage,
                                        const RunTable& table) {
  if (stage.uniform) return stage.value;
  const bool wide = cpu.element_bytes(Type::Int) == 8;
  if (stage.row) {
    if (table.rows != nullptr && stage.row_place != kNone) {
      const std::optional<std::int64_t> known = table.rows->at(stage, table.segment, wide);
      if (known) return known;
    }
    std::int64_t value = 0;
    if (!stage.row->evaluate(table.segment, table.bounds, 1, wide, &value)) return std::nullopt;
    return value;
  }
  alignas(64) std::int64_t buffer[kSegmentBlock + 8];
  const std::byte* number = segment_values(cpu, stage.walked, table.segment, 1, buffer);
  return wide ? *reinterpret_cast<const std::int64_t*>(number)
              : *reinterpret_cast<const std::int32_t*>(number);
}

bool find_runs(CpuBackend& cpu, const BoundRuns& runs, std::int64_t begin, std::int64_t n,
               RunTable& table) {
  table.count = table.before = table.behind = 0;
  std::int64_t end = 0;
  const auto add = [&](std::int64_t position, std::int64_t elements) {
    end += elements;
    table.positions[table.count] = position;
    table.ends[table.count] = end;
    table.count += elements > 0;
    return true;
  };
  if (runs.segments == nullptr) {
    table.segment = 0;
    table.rows = nullptr;
    table.bounds[0] = 0;
    table.bounds[1] = begin + n;
    return find_run(cpu, runs, begin, n, table);
  }
  // Most blocks of long segments need no search.
  if (begin == table.bounds[1] && begin > 0) {
    const Segments::Place next =
        runs.segments->behind({table.segment, table.bounds[0], table.bounds[1]});
    table.segment = next.segment;
    table.bounds[0] = next.start;
    table.bounds[1] = next.end;
  }
  if (table.bounds[0] <= begin && begin + n <= table.bounds[1]) {
    return find_run(cpu, runs, begin, n, table);
  }
  const auto list = [&](const SegmentBlock& block) {
    const std::int64_t found = cpu.kernels().list_runs(
        table.positions + table.count, table.ends + table.count,
        runs.first + block.first * cpu.element_bytes(Type::Int), runs.more, block.starts,
        block.count, block.begin, block.end, begin, runs.limit);
    table.count += std::max<std::int64_t>(found, 0);
    return found >= 0;
  };
  const auto choose = [&](const SegmentBlock& block) {
    for (std::int64_t s = 0; s < block.count; ++s) {
      const std::int64_t from = std::max(block.starts[s], block.begin);
      const std::int64_t elements = std::min(block.starts[s + 1], block.end) - from;
      table.segment = block.first + s;
      std::copy_n(block.starts + s, 2, table.bounds);
      if (elements > 0 && !add_chosen_runs(cpu, runs, from, elements, table)) return false;
    }
    return true;
  };
  bool good = true;
  const auto visit = [&](const SegmentBlock& block) {
    good = good && (!runs.choices.empty()   ? choose(block)
                    : runs.first != nullptr ? list(block)
                                            : for_runs(cpu, runs, block, add));
    const std::int64_t last = block.count - 1;
    table.segment = block.first + last;
    std::copy_n(block.starts + last, 2, table.bounds);
  };
  if (table.bounds[0] <= begin && begin < table.bounds[1]) {
    const Segments::Place place{table.segment, table.bounds[0], table.bounds[1]};
    runs.segments->for_blocks(place, begin, begin + n, visit);
  } else {
    runs.segments->for_blocks(begin, begin + n, visit);
  }
  return good;
}

bool find_run_positions(CpuBackend& cpu, const BoundRuns& runs, const SegmentBlock& block,
                        std::int64_t* positions) {
  return for_runs(cpu, runs, block, [&](std::int64_t position, std::int64_t) {
    *positions++ = position;
    return true;
  });
}

bool runs_are_distinct(CpuBackend& cpu, const BoundRuns& runs, std::int64_t length) {
  if (runs.segments == nullptr || runs_ascend(cpu, runs)) return true;
  const std::int64_t border = second_sequence(cpu, runs, length);
  const std::int64_t order_tile = tuning.order_tile;
  std::vector<TileSequences> tiles(static_cast<std::size_t>(tile_count(length, order_tile)));
  std::atomic<bool> good{true};
  auto tile = [&](std::int64_t number) {
    if (!good.load(std::memory_order_relaxed)) return;
    TileSequences& own = tiles[static_cast<std::size_t>(number)];
    const std::int64_t begin = number * order_tile;
    runs.segments->for_blocks(
        begin, std::min(begin + order_tile, length), [&](const SegmentBlock& block) {
          if (!for_runs(cpu, runs, block, [&](std::int64_t position, std::int64_t elements) {
                return elements == 0 || own.add({position, position + elements}, border);
              })) {
            good.store(false, std::memory_order_relaxed);
          }
        });
  };
  cpu.scheduler().for_tiles(static_cast<std::int64_t>(tiles.size()), tuning.shared_bytes, tile);
  TileSequences all;
  return good && std::all_of(tiles.begin(), tiles.end(), [&](const TileSequences& own) {
           return std::all_of(own.ranges, own.ranges + 2,
                              [&](const Range& range) { return all.add(range, border); });
         });
}

}  // namespace cvl::cpu
