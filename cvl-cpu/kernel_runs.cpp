#include "cvl-cpu/kernel_runs.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Stage = RunStage::Kind;
using vcode::Op;

// --- Recognition ---

class IndexReader {
 public:
  explicit IndexReader(const PlanPass& pass) : pass_(pass) {}

  bool read(NodeId index) {
    if (is(index, Op::Select) ? read_bounded(index) : read_first(index)) return true;
    result_ = {};
    has_offset_ = whole_ = false;
    return read_chosen(index);
  }
  RunIndex take() { return std::move(result_); }

 private:
  const PlanNode& node(NodeId number) const { return pass_.nodes[number]; }
  bool is(NodeId number, Op op) const { return node(number).applies(op); }
  bool is_constant(NodeId number) const { return node(number).kind == Kind::Constant; }

  /// If the index is a sum with a position within rows of a regular nest: the length of those.
  std::int64_t row_length_in(NodeId number) const {
    if (const std::int64_t length = row_length_of_offset(pass_, number)) return length;
    const bool chosen = is(number, Op::Select);
    if (!is(number, Op::Add) && !is(number, Op::Subtract) && !chosen) return 0;
    const std::int64_t first = row_length_in(node(number).args[chosen ? 2 : 0]);
    return first != 0 ? first : row_length_in(node(number).args[1]);
  }

  /// What the position is part of.
  bool read_first(NodeId number) {
    result_.row_length = row_length_in(number);
    return read_sum(number, Stage::Add) && has_offset_;
  }

  bool read_sum(NodeId number, Stage sign) {
    const PlanNode& it = node(number);
    const bool of_row =
        result_.row_length != 0 && row_length_of_offset(pass_, number) == result_.row_length;
    if (of_row || it.kind == Kind::SegmentOffset || it.kind == Kind::Position) {
      if (has_offset_) return false;
      has_offset_ = true;
      result_.backwards = sign != Stage::Add;
      return of_row || (it.kind == Kind::Position ? whole_pass() : segments_of(it.id));
    }
    if (is(number, Op::Add)) return read_sum(it.args[0], sign) && read_sum(it.args[1], sign);
    if (is(number, Op::Subtract)) {
      const Stage opposite = sign == Stage::Add ? Stage::Subtract : Stage::Add;
      return read_sum(it.args[0], sign) && read_sum(it.args[1], opposite);
    }
    return add_stage(number, sign);
  }

  /// SELECT(t >= 0 AND t < limit, beyond t, a number); t itself lies beyond `base`, what has been
  /// read so far, if there is any. Either condition may be missing, but t < limit only if nothing
  /// lies beyond t: that is where runs are looked at, which must not begin below zero then, either.
  bool read_bounded(NodeId number, NodeId base = kNone) {
    const PlanNode& choice = node(number);
    if (!is_constant(choice.args[2])) return false;
    const Bounds bounds = bounds_of(choice.args[0]);
    const bool nothing_beyond = base == kNone && choice.args[1] == bounds.offset;
    if (bounds.offset == kNone || (bounds.limit == kNone && !nothing_beyond)) return false;
    if (base == kNone ? !read_first(bounds.offset) : !read_beyond(bounds.offset, base)) {
      return false;
    }
    if (bounds.limit != kNone && !add_stage(bounds.limit, Stage::Check)) return false;
    const std::int64_t otherwise = node(choice.args[2]).int_value;
    if (nothing_beyond && otherwise >= 0) {
      result_.otherwise = otherwise;
      result_.from_zero = bounds.from_zero;
    }
    return read_beyond(choice.args[1], bounds.offset);
  }

  struct Bounds {
    NodeId offset = kNone;  // none: the condition is another one
    bool from_zero = false;
    NodeId limit = kNone;
  };

  /// offset >= 0, offset < limit, or both.
  Bounds bounds_of(NodeId condition) const {
    const PlanNode& it = node(condition);
    if (is(condition, Op::GreaterEqual)) {
      const PlanNode& zero = node(it.args[1]);
      const bool from_zero =
          is_constant(it.args[1]) && zero.int_value == 0 && zero.type == Type::Int;
      return from_zero ? Bounds{it.args[0], true, kNone} : Bounds{};
    }
    if (is(condition, Op::Less)) return {it.args[0], false, it.args[1]};
    if (!is(condition, Op::And)) return {};
    const Bounds low = bounds_of(it.args[0]);
    const Bounds high = bounds_of(it.args[1]);
    const bool fit = low.from_zero && low.limit == kNone && !high.from_zero &&
                     high.limit != kNone && low.offset == high.offset;
    return fit ? Bounds{low.offset, true, high.limit} : Bounds{};
  }

  /// What has been read, that plus more, or with a bound of its own.
  bool read_beyond(NodeId number, NodeId base) {
    if (number == base) return true;
    if (is(number, Op::Select)) return read_bounded(number, base);
    if (!is(number, Op::Add)) return false;
    const bool first = node(number).args[0] == base;
    if (!first && node(number).args[1] != base) return false;
    return read_sum(node(number).args[first ? 1 : 0], Stage::Add);
  }

  struct Summand {
    NodeId node;
    Stage sign;
  };
  using Summands = std::vector<Summand>;

  /// A sum with one SELECT in it by where the position is.
  bool read_chosen(NodeId index) {
    result_.row_length = row_length_in(index);
    Summands outer;
    NodeId choice = kNone;
    if (!find_choice(index, Stage::Add, outer, choice) || choice == kNone) return false;
    const auto and_outer = [&](NodeId number) {
      Summands all = outer;
      all.push_back({number, Stage::Add});
      return all;
    };
    for (; is(choice, Op::Select); choice = node(choice).args[2]) {
      const PlanNode& condition = node(node(choice).args[0]);
      if (!orders_ints(condition) || result_.choices.size() == kMostChoices) return false;
      RunChoice own;
      own.op = condition.op;
      if (!read_line({{condition.args[0], Stage::Add}}, own.left) ||
          !read_line({{condition.args[1], Stage::Add}}, own.right) ||
          !read_line(and_outer(node(choice).args[1]), own.then)) {
        return false;
      }
      if (std::abs(own.left.step - own.right.step) > 1 || own.then.step < 0) return false;
      result_.choices.push_back(own);
    }
    if (!read_line(and_outer(choice), result_.rest) || result_.rest.step < 0) return false;
    return result_.rest.step == 1 ||
           std::any_of(result_.choices.begin(), result_.choices.end(),
                       [](const RunChoice& own) { return own.then.step == 1; });
  }

  static bool orders_ints(const PlanNode& condition) {
    const auto is = [&](Op op) { return condition.applies(op); };
    return condition.written == Type::Int &&
           (is(Op::Less) || is(Op::LessEqual) || is(Op::Greater) || is(Op::GreaterEqual) ||
            is(Op::Equal));
  }

  /// The summands of a number but for the only one that is chosen by where the position is.
  bool find_choice(NodeId number, Stage sign, Summands& summands, NodeId& choice) const {
    const PlanNode& it = node(number);
    const bool subtracts = is(number, Op::Subtract);
    if (subtracts || is(number, Op::Add)) {
      const Stage opposite = sign == Stage::Add ? Stage::Subtract : Stage::Add;
      return find_choice(it.args[0], sign, summands, choice) &&
             find_choice(it.args[1], subtracts ? opposite : sign, summands, choice);
    }
    if (!is(number, Op::Select) || !has_offset(number, kDeepest)) {
      summands.push_back({number, sign});
      return true;
    }
    if (choice != kNone || sign != Stage::Add || it.type != Type::Int) return false;
    choice = number;
    return true;
  }

  /// Is there a position in it, as far as it is looked into?
  bool has_offset(NodeId number, int depth) const {
    const PlanNode& it = node(number);
    if (it.kind == Kind::SegmentOffset || it.kind == Kind::Position) return true;
    if (it.kind != Kind::Apply || depth == 0) return false;
    if (row_length_of_number(pass_, number) != 0) return false;
    return std::any_of(std::begin(it.args), std::end(it.args), [&](NodeId argument) {
      return argument != kNone && has_offset(argument, depth - 1);
    });
  }

  bool read_line(const Summands& summands, RunSum& line) {
    has_offset_ = result_.backwards = false;
    line.first = static_cast<std::uint32_t>(result_.stages.size());
    for (const auto& [number, sign] : summands) {
      if (!read_sum(number, sign)) return false;
    }
    line.last = static_cast<std::uint32_t>(result_.stages.size());
    const bool backwards = std::exchange(result_.backwards, false);
    line.step = !has_offset_ ? 0 : backwards ? -1 : 1;
    return true;
  }

  bool add_stage(NodeId number, Stage stage) {
    const PlanNode& it = node(number);
    if (it.type != Type::Int) return false;
    if (result_.row_length != 0) {
      if (!find_row_number(pass_, number, result_.row_length)) return false;
      result_.stages.push_back({stage, number});
      return true;
    }
    if (!it.uniform) {
      const std::optional<SegdesId> segdes = segdes_of(number);
      if (!segdes || !segments_of(*segdes)) return false;
    }
    result_.stages.push_back({stage, number});
    return true;
  }

  /// The descriptor in whose segments it is the same.
  std::optional<SegdesId> segdes_of(NodeId number) const {
    if (node(number).kind == Kind::SegmentOffset) return std::nullopt;
    if (const std::optional<SharedRead> shared = shared_read(pass_, number)) return shared->segdes;
    if (is_walked(pass_, number)) return walked_segdes(pass_, number);
    const std::optional<RowNumber> computed = find_segment_number(pass_, number);
    return computed ? std::optional(computed->segdes) : std::nullopt;
  }

  bool segments_of(SegdesId id) {
    if (whole_ || result_.row_length != 0 || (result_.segdes != kNone && result_.segdes != id))
      return false;
    result_.segdes = id;
    return true;
  }
  bool whole_pass() {
    whole_ = true;
    return result_.segdes == kNone && result_.row_length == 0;
  }

  static constexpr std::size_t kMostChoices = 4;
  static constexpr int kDeepest = 8;

  const PlanPass& pass_;
  RunIndex result_;
  bool has_offset_ = false;
  bool whole_ = false;
};

// --- Evaluation ---

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

std::optional<std::int64_t> stage_value(CpuBackend& cpu, const BoundStage& stage,
                                        const RunTable& table) {
  if (stage.uniform) return stage.value;
  const bool wide = cpu.element_bytes(Type::Int) == 8;
  if (stage.row) {
    std::int64_t value = 0;
    if (!stage.row->evaluate(table.segment, table.bounds, 1, wide, &value)) return std::nullopt;
    return value;
  }
  alignas(64) std::int64_t buffer[kSegmentBlock + 8];
  const std::byte* number = segment_values(cpu, stage.walked, table.segment, 1, buffer);
  return wide ? *reinterpret_cast<const std::int64_t*>(number)
              : *reinterpret_cast<const std::int32_t*>(number);
}

std::optional<RunIndex> find_run_index(const PlanPass& pass, NodeId index) {
  IndexReader reader(pass);
  if (!reader.read(index)) return std::nullopt;
  return reader.take();
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
  if (runs.segments == nullptr) return true;
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
