// Which indices are runs, and what they are summed up from.

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "cvl-cpu/kernel_runs.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Stage = RunStage::Kind;
using vcode::Op;

Stage opposite(Stage sign) {
  return sign == Stage::Add ? Stage::Subtract : Stage::Add;
}

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
      return read_sum(it.args[0], sign) && read_sum(it.args[1], opposite(sign));
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

  /// The summands of a number but for the only one that is chosen by where the position is.
  bool find_choice(NodeId number, Stage sign, Summands& summands, NodeId& choice) const {
    const PlanNode& it = node(number);
    const bool subtracts = is(number, Op::Subtract);
    if (subtracts || is(number, Op::Add)) {
      return find_choice(it.args[0], sign, summands, choice) &&
             find_choice(it.args[1], subtracts ? opposite(sign) : sign, summands, choice);
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

}  // namespace

std::optional<RunIndex> find_run_index(const PlanPass& pass, NodeId index) {
  IndexReader reader(pass);
  if (!reader.read(index)) return std::nullopt;
  return reader.take();
}

}  // namespace cvl::cpu
