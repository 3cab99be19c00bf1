// Reductions of a few elements for each of many instances, as so many operations on the instances.
//
//   {sum({w[k] * v[i + k] : k in [0:3]}) : i in [0:n]}
//
// makes 3 n positions, fetches 3 n elements by them, and adds them up by segments. Where it is
// known how many there are for each instance, and they are computed of their positions, it is
//
//   {((0.0 + w[0] * v[i]) + w[1] * v[i + 1]) + w[2] * v[i + 2] : i in [0:n]}
//
// in which there are no segments, what is the same for all instances is one number, and neighbours
// read side by side. So short segments are combined anyway: from left to right, as the library does
// with segments of equal length. A reduction of all elements, as a check of their indices is, can
// follow in any order, unless it adds up FLOATs.
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "fcode-opt/passes/passes.hpp"
#include "fcode-opt/passes/region_rewriter.hpp"
#include "ir/tools.hpp"
#include "vcode/numbers.hpp"
#include "vcode/reductions.hpp"

namespace fcode {
namespace {

using vcode::Family;

// Segments of more elements stay. The CPU library combines so many from left to right, whatever
// `longest_row` and `small_length` are; the bits that a GPU gives may depend on the kernel anyway.
constexpr std::int64_t kMostElements = 16;
// How far what the elements are made of is followed.
constexpr int kDepth = 64;
// Elements that are too few for anything to be gained.
constexpr std::int64_t kFewElements = 1024;
// How many of the values that a vector is made of are looked at.
constexpr std::size_t kMostVisited = 256;
// Operations that take the place of one reduction at most, and of all in a function. Many of them
// are equal to others.
constexpr int kMostOperations = 1500;
constexpr int kMostInFunction = 6000;

/// Values that are read in other ways than element by element, to be reduced in the end: what is
/// needed as it is will not be computed again for each of its elements.
std::vector<bool> values_kept(const Function& function) {
  std::vector<bool> kept(function.values.size());
  const auto visit = [&](const auto& self, const Block& block) -> void {
    for (const ValueId result : block.results) kept[result] = true;
    for (auto statement = block.statements.rbegin(); statement != block.statements.rend();
         ++statement) {
      if (statement->then_block) self(self, *statement->then_block);
      if (statement->else_block) self(self, *statement->else_block);
      const bool computes = statement->kind == Statement::Kind::Op;
      const Family family = computes ? vcode::info(statement->op).family : Family::Io;
      const bool is_kept = statement->results.empty() || kept[statement->results[0]];
      for (std::size_t k = 0; k < statement->operands.size(); ++k) {
        const bool reduced = family == Family::Reduce && k == 0;
        const bool by_element = family == Family::Elementwise || family == Family::Distribute ||
                                family == Family::Index ||
                                (statement->op == Op::BPermute && k == 1);
        if (reduced || family == Family::Length || (computes && by_element && !is_kept)) continue;
        kept[statement->operands[k]] = true;
      }
    }
  };
  visit(visit, function.body);
  return kept;
}

bool has_reductions(const Function& function) {
  bool found = false;
  ir::for_each_statement(function.body, [&](const Statement& statement) {
    found |=
        statement.kind == Statement::Kind::Op && vcode::info(statement.op).family == Family::Reduce;
  });
  return found;
}

class Unrolling : public RegionRewriter {
 public:
  Unrolling(Module& module, Function& function)
      : RegionRewriter(module, function), kept_(values_kept(function)) {}

 private:
  ValueId equivalent(const Statement& statement, const ValueList& operands) override {
    if (vcode::info(statement.op).family != Family::Reduce || !fits(operands[0], operands[1])) {
      return kNoValue;
    }
    elements_.clear();
    computed_.clear();
    numbers_.clear();
    operations_ = 0;
    const ValueId data = operands[0], segments = operands[1];
    ValueId result = kNoValue;
    if (are_short(segments)) {
      result = combined(statement, data, segments);
    } else if (shapes_->one_segment(segments) && statement.written != Type::Float) {
      const ValueId inner = segments_of(data);
      if (inner == kNoValue || !fits(data, inner)) return kNoValue;
      const ValueId each = combined(statement, data, inner);
      if (each != kNoValue) result = make(statement.op, statement.written, {each, instances()});
    }
    if (result != kNoValue) in_function_ += operations_;
    return result;
  }

  bool are_short(ValueId segments) {
    const std::optional<std::int64_t> length = known_element(segments);
    const std::optional<std::int64_t> all = shapes_->equations.number(shapes_->of(segments).sum);
    return length && *length > 1 && *length <= kMostElements && !shapes_->one_segment(segments) &&
           all.value_or(kFewElements) >= kFewElements;
  }

  /// The short segments whose elements a vector is made of.
  ValueId segments_of(ValueId vector) {
    std::vector<ValueId> made_of = {vector};
    std::set<ValueId> seen = {vector};
    for (std::size_t i = 0; i < made_of.size() && i < kMostVisited; ++i) {
      const Definition* made = shapes_->definition(made_of[i]);
      if (!made || made->kind != Statement::Kind::Op) continue;
      const ValueList operands = operands_of(*made);
      const Family family = vcode::info(made->op).family;
      if (family == Family::Index || family == Family::Distribute) {
        if (are_short(operands.back())) return operands.back();
      } else if (family == Family::Elementwise) {
        for (const ValueId operand : operands) {
          if (seen.insert(operand).second) made_of.push_back(operand);
        }
      } else if (made->is(Op::BPermute) && seen.insert(operands[1]).second) {
        made_of.push_back(operands[1]);
      }
    }
    return kNoValue;
  }

  /// The elements of each segment, one combined with the next.
  ValueId combined(const Statement& reduction, ValueId data, ValueId segments) {
    segments_ = segments;
    length_ = *known_element(segments);
    instances_ = kNoValue;
    const Type type = reduction.written;
    ValueId total = kNoValue;
    if (type == Type::Float && reduction.op == Op::AddReduce) {
      // What a sum starts with is not neutral for -0.0.
      total = make(Op::Distribute, type, {emit_constant(float_constant(0.0)), instances()});
    }
    for (std::int64_t k = 0; k < length_; ++k) {
      const ValueId next = element(data, k, kDepth);
      if (next == kNoValue) return kNoValue;
      total = total == kNoValue ? next : combine(reduction.op, type, total, next);
    }
    return total;
  }

  ValueId combine(Op reduction, Type type, ValueId total, ValueId next) {
    const bool again = total == next && reduction != Op::AddReduce &&
                       reduction != Op::MultiplyReduce && reduction != Op::XorReduce;
    if (again) return total;
    if (const auto op = vcode::elementwise_of(reduction)) return make(*op, type, {total, next});
    // Of equal numbers, 0.0 and -0.0, the later one; and a NaN whatever follows.
    const bool greatest = reduction == Op::MaxReduce;
    ValueId stays = make(greatest ? Op::Greater : Op::Less, type, {total, next});
    if (type == Type::Float) {
      stays = make(Op::Or, Type::Bool, {stays, make(Op::NotEqual, type, {total, total})});
    }
    return make(Op::Select, type, {stays, total, next});
  }

  /// Element k of each segment of a vector that has an element for each of theirs; none where it
  /// would have to be taken out of the vector.
  ValueId element(ValueId vector, std::int64_t k, int depth) {
    const auto known = elements_.find({vector, k});
    if (known != elements_.end()) return known->second;
    ValueId made = made_element(vector, k, depth);
    if (made != kNoValue) {
      if (const auto number = known_element(made)) made = numbers(*number);
    }
    elements_[{vector, k}] = made;
    return made;
  }

  ValueId made_element(ValueId vector, std::int64_t k, int depth) {
    if (const auto number = known_element(vector)) return numbers(*number);
    const Definition* const made = shapes_->definition(vector);
    if (!made || made->kind != Statement::Kind::Op || depth == 0 ||
        operations_ + in_function_ > kMostInFunction || operations_ > kMostOperations) {
      return kNoValue;
    }
    const Op op = made->op;
    const Type written = made->written;
    ValueList operands = operands_of(*made);
    switch (vcode::info(op).family) {
      case Family::Distribute:
        if (same_segments(operands[1], segments_)) return operands[0];
        if (!shapes_->one_segment(operands[1])) return kNoValue;
        return make(op, written, {operands[0], instances()});
      case Family::Index:
        if (!same_segments(operands[2], segments_)) return kNoValue;
        return position(operands[0], operands[1], k);
      case Family::Permute:
        if (op != Op::BPermute || is_kept(vector) || !shapes_->one_segment(operands[3]) ||
            !fits(operands[1], operands[3])) {
          return kNoValue;
        }
        operands[1] = element(operands[1], k, depth - 1);
        if (operands[1] == kNoValue) return kNoValue;
        if (const auto found = fetched(operands, written)) return *found;
        operands[3] = instances();
        break;
      case Family::Elementwise:
        if (is_kept(vector) || may_fail_somewhere(op, written, operands)) return kNoValue;
        for (ValueId& operand : operands) {
          operand = same_length(operand, vector) ? element(operand, k, depth - 1) : kNoValue;
          if (operand == kNoValue) return kNoValue;
        }
        break;
      default:
        return kNoValue;
    }
    if (op == Op::BPermute) return make(op, written, {operands.begin(), operands.end()});
    return computed(op, written, operands);
  }

  /// An elementwise operation, of fewer elements where they are equal.
  ValueId computed(Op op, Type written, const ValueList& operands) {
    ValueId result = op == Op::Add ? moved_positions(operands) : kNoValue;
    if (result == kNoValue) result = for_each_row(op, written, operands);
    return result != kNoValue ? result : make(op, written, {operands.begin(), operands.end()});
  }

  /// Of what is the same in each of some segments that are not short, as in the rows of a matrix.
  /// The operation is computed of empty ones, too, and must not fail.
  ValueId for_each_row(Op op, Type written, const ValueList& operands) {
    ValueId rows = kNoValue;
    for (const ValueId operand : operands) {
      const Definition* made = shapes_->definition(operand);
      const bool spread = made && made->is(Op::Distribute);
      if (spread && !shapes_->one_segment(names_(made->operands[1])))
        rows = names_(made->operands[1]);
    }
    if (rows == kNoValue || ir::divides_ints(op, written) ||
        known_element(rows).value_or(kMostElements + 1) <= kMostElements) {
      return kNoValue;
    }
    ValueList of_rows;
    for (const ValueId operand : operands) {
      const Definition* made = shapes_->definition(operand);
      if (!made || !made->is(Op::Distribute)) return kNoValue;
      const ValueList spread = operands_of(*made);
      const Type type = made->written;
      if (same_segments(spread[1], rows)) {
        of_rows.push_back(spread[0]);
      } else if (shapes_->one_segment(spread[1])) {
        of_rows.push_back(make(Op::Distribute, type, {spread[0], all_of(rows)}));
      } else {
        return kNoValue;
      }
    }
    const ValueId each = computed(op, written, of_rows);
    return make(Op::Distribute, *function_.values[each].type, {each, rows});
  }

  /// Can the operation fail, and that not at the first element?
  bool may_fail_somewhere(Op op, Type written, const ValueList& operands) {
    return ir::divides_ints(op, written) && !shapes_->uniform(operands[1]);
  }

  /// Positions with a number added, as positions that begin with another one.
  ValueId moved_positions(const ValueList& sum) {
    const std::optional<std::int64_t> added = known_element(sum[1]);
    const Definition* positions = shapes_->definition(sum[0]);
    if (!added || !positions || !positions->is(Op::Index)) return kNoValue;
    const ValueList index = operands_of(*positions);
    const std::optional<std::int64_t> start = known_element(index[0]);
    if (!start || !same_length(index[0], index[2])) return kNoValue;
    const std::int64_t moved = *start + *added;
    if (!vcode::fits_32_bits(moved)) return kNoValue;
    const ValueId starts =
        make(Op::Distribute, Type::Int, {emit_constant(int_constant(moved)), all_of(index[2])});
    return make(Op::Index, Type::Int, {starts, index[1], index[2]});
  }

  /// What is fetched from a known place of a vector that is known there: a constant, or where each
  /// of some segments of equal length begins.
  std::optional<ValueId> fetched(const ValueList& fetch, Type written) {
    const Definition* from = shapes_->definition(fetch[0]);
    const std::optional<std::int64_t> at = known_element(fetch[1]),
                                      count =
                                          shapes_->equations.number(shapes_->of(fetch[0]).length);
    if (!from || !at || !count || *at < 0 || *at >= *count || !shapes_->one_segment(fetch[2])) {
      return std::nullopt;
    }
    if (from->is_const()) {
      const ValueId one = emit_constant(element_of(module_.constants[from->index], *at));
      return make(Op::Distribute, written, {one, instances()});
    }
    if (!from->is(Op::AddScan) || written != Type::Int) return std::nullopt;
    const ValueList scanned = operands_of(*from);
    const std::optional<std::int64_t> each = known_element(scanned[0]);
    if (!each || !vcode::fits_32_bits(*each * *at) || !shapes_->one_segment(scanned[1])) {
      return std::nullopt;
    }
    return numbers(*each * *at);
  }

  static vcode::Constant element_of(const vcode::Constant& vector, std::int64_t at) {
    const auto k = static_cast<std::size_t>(at);
    switch (vector.type) {
      case Type::Float:
        return float_constant(vector.floats()[k]);
      case Type::Bool:
        return bool_constant(vector.bools()[k] != 0);
      default:
        return int_constant(vector.ints()[k]);
    }
  }

  ValueId position(ValueId start, ValueId step, std::int64_t k) {
    if (k == 0) return start;
    const std::optional<std::int64_t> by = known_element(step);
    if (by && !vcode::fits_32_bits(*by * k)) return kNoValue;
    const ValueId added = by ? numbers(*by * k) : make(Op::Multiply, Type::Int, {step, numbers(k)});
    return computed(Op::Add, Type::Int, {start, added});
  }

  bool is_kept(ValueId vector) const { return vector < kept_.size() && kept_[vector]; }

  /// One segment that all instances are in.
  ValueId instances() {
    if (instances_ == kNoValue) instances_ = all_of(segments_);
    return instances_;
  }
  /// One segment with an element for each of others.
  ValueId all_of(ValueId segments) {
    const ValueId lengths = make(Op::Lengths, Type::Int, {segments});
    return make(Op::MakeSegdes, Type::Int, {make(Op::Length, Type::Int, {lengths})});
  }

  ValueId numbers(std::int64_t number) {
    const auto [place, is_new] = numbers_.try_emplace(number, kNoValue);
    if (is_new) {
      place->second =
          make(Op::Distribute, Type::Int, {emit_constant(int_constant(number)), instances()});
    }
    return place->second;
  }

  /// An operation that the reduction has not given already.
  ValueId make(Op op, Type written, const ValueList& operands) {
    const auto [place, is_new] =
        computed_.try_emplace({op, written, {operands.begin(), operands.end()}}, kNoValue);
    if (is_new) {
      ++operations_;
      place->second = emit(op, written, operands);
    }
    return place->second;
  }

  const std::vector<bool> kept_;
  // Of the reduction that is looked at:
  ValueId segments_ = kNoValue, instances_ = kNoValue;
  std::int64_t length_ = 0;
  std::map<std::pair<ValueId, std::int64_t>, ValueId> elements_;
  std::map<std::tuple<Op, Type, std::vector<ValueId>>, ValueId> computed_;
  std::map<std::int64_t, ValueId> numbers_;
  int operations_ = 0;
  int in_function_ = 0;
};

}  // namespace

bool unroll_reductions(Module& module, KnownWalks& walks) {
  return rewrite_regions<Unrolling>(module, walks, has_reductions);
}

}  // namespace fcode
