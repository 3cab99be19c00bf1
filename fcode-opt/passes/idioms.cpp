// Library code for sequences, as compilers put it in.
//
// Checks of an index into a whole vector ask whether some index is outside; of many it is known
// where they come from (see Ranges). Library code for nested sequences builds sequences of a few
// elements from vectors, and takes them apart again, by scatters, scans and gathers over segments
// of a known length. Where what it does is known element by element it needs none of them
// (fcode.md, O-6, O-13).
//
// A vector that is permuted by its own ranks is sorted.
//
// A vector over uniform segments of k elements has k columns: column j is the vector of the
// elements j of all segments.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fcode-opt/passes/algebra.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/ranges.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"
#include "vcode/comparisons.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Segments of more elements are not taken apart.
constexpr std::int64_t kMostColumns = 8;
// How many numbers are added to an index at most.
constexpr int kMostAdded = 4;
// How far it is followed of what equal elements are computed.
constexpr int kElementDepth = 3;
// How far the making of a column is followed.
constexpr int kColumnDepth = 16;
// How many numbers are remembered that conditions keep from being negative, and lengths.
constexpr std::size_t kMostKnown = 32;

class Idioms : public RegionRewriter {
 public:
  Idioms(Module& module, Function& function)
      : RegionRewriter(module, function), uses_(count_uses(function)), algebra_(module, function) {
    for_each_statement(function.body, [&](const Statement& statement) {
      if (statement.kind != Statement::Kind::If || !statement.else_block->statements.empty())
        return;
      for (std::size_t k = 0; k < statement.results.size(); ++k) {
        choices_[statement.results[k]] = {statement.operands[0], statement.else_block->results[k]};
      }
    });
  }

  // Identities of single operations in the same walk: they open the way for each other.
  void region(Shapes& shapes, Block& block, std::size_t begin, std::size_t& end) override {
    if (!std::exchange(is_inside_, true)) meet_parameters(shapes);
    RegionRewriter::region(shapes, block, begin, end);
    algebra_.region(shapes, block, begin, end);
  }

  bool finish() {
    const bool simplified = algebra_.finish();
    return RegionRewriter::finish() || simplified;
  }

 private:
  void enter() override {
    seen_before_.push_back({lengths_.size(), counted_.size(), not_negative_.size()});
  }
  void leave() override {
    lengths_.resize(seen_before_.back().lengths);
    counted_.resize(seen_before_.back().counted);
    not_negative_.resize(seen_before_.back().not_negative);
    seen_before_.pop_back();
  }
  void meet_parameters(Shapes& shapes) {
    for (const ValueId parameter : function_.parameters) {
      if (function_.values[parameter].type == Type::Segdes) meet_segments(shapes, parameter);
    }
  }
  void meet_segments(Shapes& shapes, ValueId segdes) {
    meet_count(shapes.of(segdes).sum);
    const std::optional<Linear> each = shapes.element(segdes);
    if (each && !shapes.one_segment(segdes)) meet_count(*each);
  }
  void meet_count(const Linear& count) {
    const bool is_new = std::find(counted_.begin(), counted_.end(), count) == counted_.end();
    if (is_new && counted_.size() < kMostKnown) counted_.push_back(count);
  }
  void assumed(Shapes& shapes, ValueId condition, bool value) override {
    if (!shapes.is_scalar(condition)) return;
    shapes_ = &shapes;
    for (Linear& known : ranges().follows(names_(condition), value)) {
      if (not_negative_.size() < kMostKnown) not_negative_.push_back(std::move(known));
    }
  }

  ValueId equivalent(const Statement& statement, const ValueList& operands) override {
    switch (vcode::info(statement.op).family) {
      case Family::MakeSegdes:
        if (shapes_->is_scalar(operands[0])) {
          lengths_.push_back(operands[0]);
        } else {
          meet_segments(*shapes_, statement.results[0]);
        }
        return kNoValue;
      case Family::Elementwise:
        return elementwise(statement, operands);
      case Family::Distribute:
        return single(operands[1], operands[0]) ? operands[0] : distributed(statement, operands);
      case Family::Index:
        return single(operands[2], operands[0]) && same_length(operands[1], operands[0])
                   ? operands[0]
                   : kNoValue;
      case Family::Reduce:
        return reduction(statement, operands);
      case Family::Extract:
        return fits(operands[0], operands[2]) && segments(operands[2], operands[1])
                   ? built_column(operands[0], operands[2], operands[1])
                   : kNoValue;
      case Family::Permute:
        return permutation(statement, operands);
      default:
        return kNoValue;
    }
  }

  Ranges ranges() { return {module_, *shapes_, names_, lengths_, counted_, not_negative_}; }

  ValueId elementwise(const Statement& statement, const ValueList& operands) {
    if (statement.op == Op::Select) return selection(operands);
    if (statement.op == Op::Add && statement.written == Type::Int) {
      const ValueId position = position_of(operands[0], operands[1]);
      return position != kNoValue ? position : position_of(operands[1], operands[0]);
    }
    if (statement.op == Op::Modulo) return remainder(operands);
    if (statement.written != Type::Bool) return comparison(statement, operands);
    if (statement.op != Op::And && statement.op != Op::Or) return kNoValue;
    if (!same_length(operands[0], operands[1])) return kNoValue;
    Ranges ranges = this->ranges();
    const ValueId both = statement.results[0];
    if (statement.op == Op::And && shapes_->is_scalar(both) && ranges.never(both)) {
      return emit_constant(bool_constant(false));
    }
    const auto is_neutral = [&](ValueId flags) {
      return statement.op == Op::And ? ranges.always(flags) : ranges.never(flags);
    };
    if (is_neutral(operands[0])) return operands[1];
    return is_neutral(operands[1]) ? operands[0] : kNoValue;
  }

  /// The positions of a nested sequence's elements in the vector of all of them: where `start` is
  /// the first one of their segment, and `index`, to which numbers may be added, that within it.
  ValueId position_of(ValueId start, ValueId index) {
    const Definition* distributed = shapes_->definition(start);
    if (!distributed || !distributed->is(Op::Distribute)) return kNoValue;
    const ValueList each = operands_of(*distributed);
    const Definition* scanned = shapes_->definition(each[0]);
    if (!scanned || !scanned->is(Op::AddScan) || scanned->written != Type::Int) return kNoValue;
    const ValueList scan = operands_of(*scanned);
    const bool starts = fits(scan[0], scan[1]) && shapes_->one_segment(scan[1]) &&
                        same_segments(scan[0], each[1]) && same_length(start, index);
    return starts ? position_of(scan[0], scan[1], each[1], index, 0) : kNoValue;
  }

  // From now on to (a + b) + c from a + (b + c), which is the same even where it wraps around.
  ValueId position_of(ValueId lengths, ValueId all, ValueId segdes, ValueId index, int depth) {
    if (is_identity(index, segdes)) {
      const ValueId total =
          emit(Op::MakeSegdes, Type::Int, {emit(Op::AddReduce, Type::Int, {lengths, all})});
      return emit(Op::Index, Type::Int,
                  {emit_constant(int_constant(0)), emit_constant(int_constant(1)), total});
    }
    const Definition* made = shapes_->definition(index);
    const bool sum =
        made && made->written == Type::Int && (made->is(Op::Add) || made->is(Op::Subtract));
    if (!sum || depth == kMostAdded) return kNoValue;
    const Op op = made->op;
    const ValueList added = operands_of(*made);
    const ValueId first = position_of(lengths, all, segdes, added[0], depth + 1);
    if (first != kNoValue) return emit(op, Type::Int, {first, added[1]});
    if (op == Op::Subtract) return kNoValue;
    const ValueId second = position_of(lengths, all, segdes, added[1], depth + 1);
    return second == kNoValue ? kNoValue : emit(op, Type::Int, {second, added[0]});
  }

  // Of the next or the last position in a ring, as a rule: a division takes longer than a choice.
  // The position itself is divided into rows and columns; these are known as such.
  ValueId remainder(const ValueList& operands) {
    const ValueId x = operands[0], divisor = operands[1];
    if (!same_length(x, divisor)) return kNoValue;
    const Ranges::Quotient quotient = ranges().quotient(x, divisor);
    if (quotient == Ranges::Quotient::Zero) return x;
    const Definition* made = shapes_->definition(x);
    if (quotient == Ranges::Quotient::Unknown || !made || made->is(Op::Index)) return kNoValue;
    return emit(Op::Select, Type::Int,
                {emit(Op::GreaterEqual, Type::Int, {x, divisor}),
                 emit(Op::Subtract, Type::Int, {x, divisor}), x});
  }

  // Of the least or the greatest index, as a rule.
  ValueId comparison(const Statement& statement, const ValueList& operands) {
    const bool is_false = operands.size() == 2 && shapes_->is_scalar(operands[0]) &&
                          shapes_->is_scalar(operands[1]) &&
                          ranges().never(statement.op, statement.written, operands[0], operands[1]);
    if (is_false) return emit_constant(bool_constant(false));
    if (statement.op == Op::Less) return least_is_less(operands[0], operands[1]);
    return statement.op == Op::GreaterEqual ? longest_reaches(operands[0], operands[1]) : kNoValue;
  }

  // Is the least of equal numbers less than a limit? That of none is not.
  ValueId least_is_less(ValueId least, ValueId limit) {
    const Definition* reduced = shapes_->definition(least);
    if (!reduced || !reduced->is(Op::MinReduce) || reduced->written != Type::Int) return kNoValue;
    const ValueList numbers = operands_of(*reduced);
    if (!shapes_->one_segment(numbers[1]) || !fits(numbers[0], numbers[1])) return kNoValue;
    const ValueId number = common_element(numbers[0], kElementDepth);
    if (number == kNoValue) return kNoValue;
    return emit(Op::And, Type::Bool,
                {emit_has_elements(numbers[1]), emit(Op::Less, Type::Int, {number, limit})});
  }

  ValueId emit_has_elements(ValueId segment) {
    return emit(Op::Greater, Type::Int,
                {emit(Op::Lengths, Type::Int, {segment}), emit_constant(int_constant(0))});
  }

  // What all elements of a vector are, if it is computed from scalars by what cannot fail.
  ValueId common_element(ValueId vector, int depth) {
    if (const auto known = known_element(vector)) return emit_constant(int_constant(*known));
    const Definition* made = shapes_->definition(vector);
    if (!made || made->kind != Statement::Kind::Op || depth == 0) return kNoValue;
    const Op op = made->op;
    const Type written = made->written;
    const ValueList operands = operands_of(*made);
    if (op == Op::Distribute) return shapes_->one_segment(operands[1]) ? operands[0] : kNoValue;
    const bool combines = op == Op::And || op == Op::Or || op == Op::Not;
    if (!combines && !is_comparison(op)) return kNoValue;
    ValueList elements;
    for (const ValueId operand : operands) {
      elements.push_back(common_element(operand, depth - 1));
      if (elements.back() == kNoValue) return kNoValue;
    }
    return emit(op, written, std::move(elements));
  }

  // Is the greatest position within segments `limit` or more, which is not negative? If the longest
  // segment is longer.
  ValueId longest_reaches(ValueId greatest, ValueId limit) {
    const Definition* reduced = shapes_->definition(greatest);
    if (!reduced || !reduced->is(Op::MaxReduce) || reduced->written != Type::Int) return kNoValue;
    const ValueList positions = operands_of(*reduced);
    const Definition* index = shapes_->definition(positions[0]);
    if (!index || !index->is(Op::Index)) return kNoValue;
    const ValueId counted = operands_of(*index)[2];
    if (!is_identity(positions[0], counted) || shapes_->one_segment(counted) ||
        !shapes_->one_segment(positions[1]) || !fits(positions[0], positions[1]) ||
        !ranges().not_negative(limit)) {
      return kNoValue;
    }
    const ValueId lengths = emit(Op::Lengths, Type::Int, {counted});
    const ValueId longest =
        emit(Op::MaxReduce, Type::Int, {lengths, one_segment(lengths, Type::Int)});
    return emit(Op::Greater, Type::Int, {longest, limit});
  }

  // An index that is kept inside, and never is outside; or the arm that is always taken. The other
  // one has to fit as well: where it is too short, the operation fails.
  ValueId selection(const ValueList& operands) {
    if (!same_length(operands[0], operands[1]) || !same_length(operands[0], operands[2])) {
      return kNoValue;
    }
    Ranges ranges = this->ranges();
    if (ranges.always(operands[0])) return operands[1];
    return ranges.never(operands[0]) ? operands[2] : known_maximum(operands);
  }

  // The greater one of two numbers, as far as it is known which one is not less.
  ValueId known_maximum(const ValueList& selected) {
    const Definition* made = shapes_->definition(selected[0]);
    if (!made || !made->is(Op::Greater) || made->written != Type::Int) return kNoValue;
    const ValueId x = selected[1], y = selected[2];
    if (operands_of(*made) != ValueList{x, y} || !shapes_->is_scalar(x) || !shapes_->is_scalar(y)) {
      return kNoValue;
    }
    if (ranges().never(Op::Less, Type::Int, x, y)) return x;
    return ranges().never(Op::Greater, Type::Int, x, y) ? y : kNoValue;
  }

  // A sum of FLOAT starts with 0.0, which is not neutral for -0.0.
  ValueId reduction(const Statement& statement, const ValueList& operands) {
    if (statement.written == Type::Float || !fits(operands[0], operands[1])) return kNoValue;
    if (single(operands[1], operands[0])) return operands[0];
    if (statement.op == Op::OrReduce && shapes_->one_segment(operands[1]) &&
        ranges().never(operands[0])) {
      return emit_constant(bool_constant(false));
    }
    if (statement.op == Op::OrReduce && statement.written == Type::Bool &&
        shapes_->one_segment(operands[1])) {
      const ValueId flag = common_element(operands[0], kElementDepth);
      if (flag == kNoValue) return kNoValue;
      return emit(Op::And, Type::Bool, {emit_has_elements(operands[1]), flag});
    }
    if (statement.op == Op::MaxReduce || statement.op == Op::MinReduce) {
      // Of equal numbers, of which each segment has one: the lengths of the rows of a matrix.
      const std::optional<std::int64_t> number = known_element(operands[0]);
      const bool all_have = known_element(operands[1]).value_or(0) > 0;
      return number && all_have ? constant_for_each_segment(*number, operands[1]) : kNoValue;
    }
    const std::optional<std::int64_t> count = columns_of(operands[1]);
    if (statement.op != Op::AddReduce || !count) return kNoValue;
    ValueId sum = kNoValue;
    for (std::int64_t j = 0; j < *count; ++j) {
      const ValueId part = column(operands[0], operands[1], j, 0);
      if (part == kNoValue) return kNoValue;
      sum = sum == kNoValue ? part : emit(Op::Add, Type::Int, {sum, part});
    }
    return sum;
  }

  ValueId permutation(const Statement& statement, const ValueList& operands) {
    const ValueId data = operands[0], index = operands[1];
    switch (statement.op) {
      case Op::Permute:
        if (fits(data, operands[2]) && is_identity(index, operands[2])) return data;
        return sorted(statement, operands);
      case Op::BPermute:
        if (!fits(data, operands[2]) || !fits(index, operands[3]) ||
            !same_count(operands[2], operands[3])) {
          return kNoValue;
        }
        if (const ValueId chosen = fetched_from_choice(statement, operands); chosen != kNoValue) {
          return chosen;
        }
        if (same_segments(operands[2], operands[3]) && is_identity(index, operands[3])) return data;
        if (const ValueId same = fetched_from_equal(operands); same != kNoValue) {
          return emit(Op::Distribute, statement.written, {same, operands[3]});
        }
        if (const ValueId start = start_of_equal(operands); start != kNoValue) return start;
        return single(operands[3], index) ? built_column(data, operands[2], index) : kNoValue;
      case Op::DPermute:
        return fits(data, operands[3]) && fits(operands[2], operands[4]) &&
                       same_segments(operands[3], operands[4]) && is_identity(index, operands[3])
                   ? data
                   : kNoValue;
      default:
        return kNoValue;
    }
  }

  // Of a number that is chosen by whether there is any element to give it to, or computed of such a
  // one: that for which there is.
  ValueId distributed(const Statement& statement, const ValueList& operands) {
    if (!shapes_->is_scalar(operands[0])) return kNoValue;
    const ValueId each = where_any(operands[0], shapes_->of(operands[1]).sum, kElementDepth);
    return each == operands[0] ? kNoValue
                               : emit(Op::Distribute, statement.written, {each, operands[1]});
  }

  ValueId where_any(ValueId scalar, const Linear& elements, int depth) {
    const Definition* made = shapes_->definition(scalar);
    if (!made || made->kind != Statement::Kind::Op || depth == 0) return scalar;
    const Op op = made->op;
    const Type written = made->written;
    ValueList operands = operands_of(*made);
    if (op == Op::Select) {
      if (compares_to_zero(Op::Greater, operands[0], elements)) return operands[1];
      return compares_to_zero(Op::Equal, operands[0], elements) ? operands[2] : scalar;
    }
    if (op != Op::Add && op != Op::Subtract && op != Op::Multiply) return scalar;
    bool changed = false;
    for (ValueId& operand : operands) {
      changed |= std::exchange(operand, where_any(operand, elements, depth - 1)) != operand;
    }
    return changed ? emit(op, written, {operands.begin(), operands.end()}) : scalar;
  }

  // Does the condition compare that number of elements with 0?
  bool compares_to_zero(Op op, ValueId condition, const Linear& elements) {
    const Definition* made = shapes_->definition(condition);
    if (!made || !made->is(op) || made->written != Type::Int) return false;
    const ValueList compared = operands_of(*made);
    const auto asked = shapes_->element(compared[0]);
    return shapes_->is_scalar(condition) && known_element(compared[1]) == 0 && asked &&
           shapes_->equations.equal(*asked, elements);
  }

  // From equal elements: what they are, if all indices lie in the vector.
  ValueId fetched_from_equal(const ValueList& fetch) {
    if (!shapes_->one_segment(fetch[2]) || !shapes_->uniform(fetch[0])) return kNoValue;
    const ValueId same = common_element(fetch[0], kElementDepth);
    const bool inside = same != kNoValue && ranges().inside(fetch[1], shapes_->of(fetch[0]).length);
    return inside ? same : kNoValue;
  }

  // Where segments of equal, known length begin.
  ValueId start_of_equal(const ValueList& fetch) {
    const Definition* scan = shapes_->definition(fetch[0]);
    if (!scan || !scan->is(Op::AddScan) || scan->written != Type::Int) return kNoValue;
    const ValueList scanned = operands_of(*scan);
    const std::optional<std::int64_t> each = known_element(scanned[0]);
    const bool one = shapes_->one_segment(scanned[1]) && shapes_->one_segment(fetch[2]);
    if (!each || !one || !ranges().inside(fetch[1], shapes_->of(fetch[0]).length)) return kNoValue;
    const ValueId length =
        emit(Op::Distribute, Type::Int, {emit_constant(int_constant(*each)), fetch[3]});
    return emit(Op::Multiply, Type::Int, {fetch[1], length});
  }

  // From a vector in whose place another one is chosen if it is empty: from the vector itself, if
  // all indices lie in it. There are none then.
  ValueId fetched_from_choice(const Statement& fetch, const ValueList& operands) {
    const auto found = choices_.find(operands[0]);
    if (found == choices_.end() || !shapes_->one_segment(operands[2])) return kNoValue;
    const ValueId vector = names_(found->second.vector);
    const Linear length = shapes_->of(vector).length;
    const Definition* condition = shapes_->definition(names_(found->second.condition));
    if (!condition || !condition->is(Op::Equal) || condition->written != Type::Int) return kNoValue;
    const auto compared = shapes_->element(names_(condition->operands[0]));
    const bool is_empty = compared && shapes_->equations.equal(*compared, length) &&
                          known_element(names_(condition->operands[1])) == 0;
    if (!is_empty || !ranges().inside(operands[1], length)) return kNoValue;
    return emit(Op::BPermute, fetch.written,
                {vector, operands[1], one_segment(vector, fetch.written), operands[3]});
  }

  // Permuted by its own ranks, which nobody else reads.
  ValueId sorted(const Statement& permute, const ValueList& operands) {
    const Definition* made = shapes_->definition(operands[1]);
    if (!made || (!made->is(Op::RankUp) && !made->is(Op::RankDown))) return kNoValue;
    const ValueList ranked = operands_of(*made);
    if (uses_[operands[1]] > 1 || ranked[0] != operands[0] || made->written != permute.written ||
        !fits(operands[0], ranked[1]) || !same_segments(ranked[1], operands[2])) {
      return kNoValue;
    }
    return emit(made->is(Op::RankUp) ? Op::SortUp : Op::SortDown, permute.written,
                {ranked[0], ranked[1]});
  }

  // ---- columns ----

  std::optional<std::int64_t> columns_of(ValueId segdes) {
    const std::optional<std::int64_t> count = known_element(segdes);
    return count && *count >= 1 && *count <= kMostColumns ? count : std::nullopt;
  }

  /// The column that a vector of equal indices takes, if it need not be fetched.
  ValueId built_column(ValueId vector, ValueId segdes, ValueId index) {
    const std::optional<std::int64_t> count = columns_of(segdes), j = known_element(index);
    if (!count || !j || *j < 0 || *j >= *count) return kNoValue;
    return column(vector, segdes, *j, 0);
  }

  /// Column j of the vector, made from what the vector was made of; none if it would have to be
  /// fetched. REQUIRES: the vector is as long as the descriptor says, which has more than j
  /// columns.
  ValueId column(ValueId vector, ValueId segdes, std::int64_t j, int depth) {
    if (const std::optional<std::int64_t> number = known_element(vector)) {
      return constant_for_each_segment(*number, segdes);
    }
    const Definition* made = shapes_->definition(vector);
    if (!made || made->kind != Statement::Kind::Op || depth > kColumnDepth) return kNoValue;
    const ValueList operands = operands_of(*made);
    if (made->is(Op::DPermute)) return placed_column(operands, segdes, j, depth);
    if (!made->is(Op::AddScan) || made->written != Type::Int) return kNoValue;
    if (!fits(operands[0], operands[1]) || !same_segments(operands[1], segdes)) return kNoValue;
    if (j == 0) return constant_for_each_segment(0, segdes);
    const ValueId added = column_or_fetch(operands[0], segdes, j - 1, depth + 1);
    if (j == 1) return added;
    const ValueId before = column(vector, segdes, j - 1, depth + 1);
    return before == kNoValue ? kNoValue : emit(Op::Add, Type::Int, {before, added});
  }

  // A scatter of one column into a default.
  ValueId placed_column(const ValueList& operands, ValueId segdes, std::int64_t j, int depth) {
    const std::optional<std::int64_t> at = known_element(operands[1]);
    const std::optional<std::int64_t> count = columns_of(segdes);
    if (!at || !count || *at < 0 || *at >= *count || !single(operands[3], operands[0]) ||
        !same_length(operands[0], operands[1]) || !fits(operands[2], operands[4]) ||
        !same_count(operands[3], operands[4]) || !same_segments(operands[4], segdes)) {
      return kNoValue;
    }
    return *at == j ? operands[0] : column(operands[2], segdes, j, depth + 1);
  }

  ValueId column_or_fetch(ValueId vector, ValueId segdes, std::int64_t j, int depth) {
    const ValueId built = column(vector, segdes, j, depth);
    if (built != kNoValue) return built;
    return emit(Op::Extract, Type::Int, {vector, constant_for_each_segment(j, segdes), segdes});
  }

  /// A vector that is the result unless the condition holds.
  struct Choice {
    ValueId condition = kNoValue, vector = kNoValue;
  };
  std::unordered_map<ValueId, Choice> choices_;
  std::vector<std::uint32_t> uses_;  // of the function's values before the pass
  Algebra algebra_;
  std::vector<ValueId> lengths_;      // scalars that descriptors have been made of on the way here
  std::vector<Linear> counted_;       // lengths of segments, and their sums, of other descriptors
  std::vector<Linear> not_negative_;  // as conditions on the way here tell
  struct Seen {
    std::size_t lengths, counted, not_negative;
  };
  std::vector<Seen> seen_before_;  // how many, of each block that we are in
  bool is_inside_ = false;         // the function has been entered
};

}  // namespace

bool recognize_idioms(Module& module, KnownWalks& walks) {
  return rewrite_regions<Idioms>(module, walks);
}

}  // namespace fcode
