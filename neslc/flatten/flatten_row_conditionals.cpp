// Conditionals between rows, element by element.
//
// In {if i == k then {x / p[k] : x in r} else {x - q * y : x in r; y in p} : r in m; i in
// index(#m)} both arms go through r, so that what they give is as long as r, whichever is taken.
// Instead of packing the rows for each arm, and merging what comes of them, the arms are computed
// for the elements of all rows, and those that are wanted are selected: one pass in a kernel.
#include <algorithm>
#include <utility>

#include "neslc/flatten/both_arms.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

/// Of index(#r) or [0:#r]: r.
const Local* numbered(const Expr& generator) {
  const Expr* end = primitive_argument(generator, "index");
  if (const auto range = range_parts(generator)) {
    const auto is_literal = [](const Expr& expr, std::int64_t number) {
      const auto* literal = std::get_if<IntLiteral>(&expr.node);
      return literal != nullptr && literal->value == number;
    };
    if (is_literal(*range->start, 0) && is_literal(*range->step, 1)) end = range->end;
  }
  const Expr* const sequence = end == nullptr ? nullptr : primitive_argument(*end, "length");
  return sequence == nullptr ? nullptr : local_of(*sequence);
}

/// The variables that each arm below the expression goes through, or is.
std::vector<const Local*> rows_of(const Expr& expr) {
  std::vector<const Local*> result;
  if (const Local* local = local_of(expr)) {
    result.push_back(local);
  } else if (const auto* each = std::get_if<ApplyToEach>(&expr.node)) {
    for (const Binding& generator : each->generators) {
      if (const Local* row = local_of(*generator.value)) result.push_back(row);
    }
  } else if (const auto* let = std::get_if<Let>(&expr.node)) {
    result = rows_of(*let->body);
  } else if (const auto* choice = std::get_if<If>(&expr.node)) {
    result = rows_of(*choice->then_branch);
    const std::vector<const Local*> others = rows_of(*choice->else_branch);
    std::erase_if(result, [&](const Local* row) {
      return std::find(others.begin(), others.end(), row) == others.end();
    });
  }
  return result;
}

/// Can the arms be computed for all elements of the row?
class RowArms {
 public:
  RowArms(BothArms& arms, const Local* row, const Frame& frame)
      : arms_(arms), row_(row), frame_(frame) {}

  bool fit(const Expr& expr) {
    if (const Local* local = local_of(expr)) return local == row_;
    if (const auto* choice = std::get_if<If>(&expr.node)) {
      return arms_.fits(*choice->condition) && fit(*choice->then_branch) &&
             fit(*choice->else_branch);
    }
    if (const auto* let = std::get_if<Let>(&expr.node)) {
      return std::all_of(let->bindings.begin(), let->bindings.end(),
                         [&](const Binding& binding) { return arms_.fits(*binding.value); }) &&
             fit(*let->body);
    }
    const auto* each = std::get_if<ApplyToEach>(&expr.node);
    return each != nullptr && !each->sieve && arms_.fits(*each->body) &&
           std::all_of(each->generators.begin(), each->generators.end(),
                       [&](const Binding& generator) { return generator_fits(*generator.value); });
  }
  /// Do they go through other sequences, too, whose lengths may differ?
  bool have_others() const { return have_others_; }

 private:
  bool generator_fits(const Expr& generator) {
    if (numbered(generator) == row_) return true;
    const Local* const local = local_of(generator);
    if (local == nullptr) return false;
    have_others_ |= local != row_;
    const auto known = frame_.locals.find(local);
    return known != frame_.locals.end() && known->second.is_sequence() &&
           has_scalars_only(known->second.elements());
  }
  BothArms& arms_;
  const Local* row_;
  const Frame& frame_;
  bool have_others_ = false;
};

}  // namespace

struct Flattener::Row {
  const Local* local;
  Value value;
  Context* each;  // of its elements
  Value offsets;  // of each element in its row
};

std::optional<Value> Flattener::row_conditional(const Expr& expr, const If& node,
                                                const Value& condition, int most, Frame& frame,
                                                Context* context) {
  const TypePtr type = substituted(expr.type, frame);
  if (in_both_arms_ || frame.observed != nullptr || type->kind != TypeKind::Sequence ||
      !is_scalar_type(type->element())) {
    return std::nullopt;
  }
  const auto is_here = [&](const Local* local) {
    const auto known = frame.locals.find(local);
    return known != frame.locals.end() && known->second.is_sequence() &&
           known->second.context == context;
  };
  const std::vector<const Local*> rows = rows_of(expr);
  const auto found = std::find_if(rows.begin(), rows.end(), is_here);
  if (found == rows.end()) return std::nullopt;
  BothArms arms(compiler_, most, true, frame.instantiation);
  RowArms fitting(arms, *found, frame);
  if (!fitting.fit(*node.then_branch) || !fitting.fit(*node.else_branch)) return std::nullopt;

  const Value value = frame.locals.at(*found);
  Context* const each = for_each(context, value.var, value.elements());
  const Row row{*found, value, each, Value::scalar(v_.positions(value.var), each)};
  const bool may_fail = arms.may_fail() || fitting.have_others();
  in_both_arms_ = true;
  const Value elements =
      with_late_checks([&] { return row_choice(node, condition, may_fail, row, frame, context); });
  in_both_arms_ = false;
  return Value::sequence(value.var, bring(elements, each), context);
}

Value Flattener::row_choice(const If& node, const Value& condition, bool may_fail, const Row& row,
                            Frame& frame, Context* context) {
  const auto arm = [&](bool taken, const Expr& expr) {
    return in_arm(condition, taken, may_fail,
                  [&] { return row_arm(expr, may_fail, row, frame, context); });
  };
  const Value then_value = arm(true, *node.then_branch);
  const Value else_value = arm(false, *node.else_branch);
  return select(condition, row.each, then_value, else_value);
}

/// What an arm gives for each element of the row.
Value Flattener::row_arm(const Expr& expr, bool may_fail, const Row& row, Frame& frame,
                         Context* context) {
  const ir::Origin outer = std::exchange(b_.origin, origin_of(expr, frame));
  Value result;
  if (const auto* choice = std::get_if<If>(&expr.node)) {
    const Value condition = expression(*choice->condition, frame, context);
    result = row_choice(*choice, condition, may_fail, row, frame, context);
  } else if (const auto* let = std::get_if<Let>(&expr.node)) {
    for (const Binding& binding : let->bindings) {
      bind(*binding.pattern, expression(*binding.value, frame, context), frame);
    }
    result = row_arm(*let->body, may_fail, row, frame, context);
  } else if (const auto* each = std::get_if<ApplyToEach>(&expr.node)) {
    const auto sequence_of = [&](const Binding& generator) -> const Value& {
      const Local* const local = local_of(*generator.value);
      return local == nullptr ? row.value : frame.locals.at(local);
    };
    const Value first = sequence_of(each->generators[0]);
    for (const Binding& generator : each->generators) {
      const Value other = sequence_of(generator);
      if (other.var != first.var) check_lengths(first, other, context, kEachMessage);
    }
    for (const Binding& generator : each->generators) {
      bind(*generator.pattern, row_elements(*generator.value, row, frame), frame);
    }
    result = expression(*each->body, frame, row.each);
  } else {
    result = row_elements(expr, row, frame);
  }
  b_.origin = outer;
  return result;
}

/// The elements of a sequence that stand beside those of the row; any, where there is none.
Value Flattener::row_elements(const Expr& sequence, const Row& row, const Frame& frame) {
  const Local* const local = local_of(sequence);
  if (local == nullptr) return row.offsets;
  const Value& value = frame.locals.at(local);
  if (local == row.local || (value.var == row.value.var && value.context == row.value.context)) {
    return in_context(value.elements(), row.each);
  }
  const Value starts = Value::scalar(v_.offsets(value.var), value.context);
  const ValueId place = positions_from(*this, starts, row.offsets.var, row.each);
  return elements_at(*this, value.elements(), v_.flat(value.var, value.elements()),
                     Value::scalar(place, row.each));
}

}  // namespace neslc
