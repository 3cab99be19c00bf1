// Conditionals between rows, element by element.
//
// In {if i == k then {x / p[k] : x in r} else {x - q * y : x in r; y in p} : r in m; i in
// index(#m)} both arms go through r, so that what they give is as long as r, whichever is taken.
// Instead of packing the rows for each arm, and merging what comes of them, the arms are computed
// for the elements of all rows, and those that are wanted are selected: one pass in a kernel.
//
// In {if i == k then p else {x - q * y : x in r; y in p} : ...} an arm is a sequence as a whole. It
// may have another length, so that this is asked first, and then done as it is elsewhere.
#include <algorithm>
#include <utility>

#include "neslc/flatten/both_arms.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

/// Of index(n) or [0:n]: n.
const Expr* counted_to(const Expr& generator) {
  const Expr* end = primitive_argument(generator, "index");
  if (const auto range = range_parts(generator)) {
    const auto is_literal = [](const Expr& expr, std::int64_t number) {
      const auto* literal = std::get_if<IntLiteral>(&expr.node);
      return literal != nullptr && literal->value == number;
    };
    if (is_literal(*range->start, 0) && is_literal(*range->step, 1)) end = range->end;
  }
  return end;
}

/// Of index(#r) or [0:#r]: r.
const Local* numbered(const Expr& generator) {
  const Expr* const end = counted_to(generator);
  const Expr* const sequence = end == nullptr ? nullptr : primitive_argument(*end, "length");
  return sequence == nullptr ? nullptr : local_of(*sequence);
}

/// Of index(n) or [0:n]: n, if it is a variable.
const Local* numbered_to(const Expr& generator) {
  const Expr* const end = counted_to(generator);
  return end == nullptr ? nullptr : local_of(*end);
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

/// The first of them that has a value for each instance of the context; null: there is none.
const Local* first_row(const Expr& expr, const Frame& frame, const Context* context) {
  const std::vector<const Local*> rows = rows_of(expr);
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Local* local) {
    const auto known = frame.locals.find(local);
    return known != frame.locals.end() && known->second.is_sequence() &&
           known->second.context == context;
  });
  return found == rows.end() ? nullptr : *found;
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
    if (const Local* const end = numbered_to(generator)) {
      have_others_ = true;
      return frame_.locals.contains(end);
    }
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
  if (const Local* const row = first_row(expr, frame, context)) {
    BothArms arms(compiler_, most, true, frame.instantiation);
    RowArms fitting(arms, row, frame);
    if (!fitting.fit(*node.then_branch) || !fitting.fit(*node.else_branch)) return std::nullopt;
    return chosen_row(node, condition, arms.may_fail() || fitting.have_others(), row, frame,
                      context);
  }
  for (const bool then_whole : {true, false}) {
    const Local* const whole = local_of(then_whole ? *node.then_branch : *node.else_branch);
    const Expr& other = then_whole ? *node.else_branch : *node.then_branch;
    const auto known = whole == nullptr ? frame.locals.end() : frame.locals.find(whole);
    const Local* const row = first_row(other, frame, context);
    if (known == frame.locals.end() || row == nullptr || !known->second.is_sequence()) continue;
    BothArms arms(compiler_, most, true, frame.instantiation);
    if (!RowArms(arms, row, frame).fit(other)) continue;
    return row_or_sequence(node, condition, then_whole, known->second, row, frame, context);
  }
  return std::nullopt;
}

/// The row, or a sequence as a whole in the arm that is taken where the condition is `whole_where`.
Value Flattener::row_or_sequence(const If& node, const Value& condition, bool whole_where,
                                 const Value& sequence, const Local* row, Frame& frame,
                                 Context* context) {
  const auto lengths = [&](const Value& of) {
    return bring_scalar(Value::scalar(v_.lengths(of.var), of.context), context);
  };
  const ValueId flags = bring_scalar(condition, context);
  const ValueId taken = whole_where ? flags : b_.op(Op::Not, VectorType::Bool, {flags});
  const ValueId unequal =
      b_.op(Op::NotEqual, VectorType::Int, {lengths(sequence), lengths(frame.locals.at(row))});
  const ValueId differ =
      v_.any(b_.op(Op::And, VectorType::Bool, {taken, unequal}), instances(context));
  Value form;
  const ValueList vars = b_.conditional(
      differ,
      [&] {
        const Value general =
            conditional(condition, context, arm_of(*node.then_branch, frame, context),
                        arm_of(*node.else_branch, frame, context));
        return vars_of(bring(general, context));
      },
      [&] {
        form = chosen_row(node, condition, true, row, frame, context);
        return vars_of(form);
      });
  Value result = with_vars(form, vars, context);
  for_each_leaf(result, [&](const Value& leaf) { v_.set_length(leaf, context->count); });
  return result;
}

/// Both arms for the elements of all rows, and a selection.
Value Flattener::chosen_row(const If& node, const Value& condition, bool may_fail,
                            const Local* local, Frame& frame, Context* context) {
  const Value value = frame.locals.at(local);
  Context* const each = for_each(context, value.var, value.elements());
  const Row row{local, value, each, Value::scalar(v_.positions(value.var), each)};
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
    const auto length_of = [&](const Binding& generator) {
      if (const Local* const end = numbered_to(*generator.value)) {
        const Value& count = frame.locals.at(end);
        const ir::Origin each_origin = std::exchange(b_.origin, origin_of(*generator.value, frame));
        if (range_parts(*generator.value)) check_counts_up(count, context);
        b_.origin = each_origin;
        return count;
      }
      const Local* const local = local_of(*generator.value);
      const Value& sequence = local == nullptr ? row.value : frame.locals.at(local);
      return Value::scalar(v_.lengths(sequence.var), sequence.context);
    };
    const Value first = length_of(each->generators[0]);
    for (std::size_t k = 1; k < each->generators.size(); ++k) {
      const Value other = length_of(each->generators[k]);
      if (other.var != first.var) check_equal_lengths(first, other, context, kEachMessage);
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

/// [0:end] fails where the end is negative.
void Flattener::check_counts_up(const Value& end, Context* context) {
  const Value zero = Value::scalar(b_.int_constant(0), serial());
  const Value one = Value::scalar(b_.int_constant(1), serial());
  const ValueId negative =
      b_.op(Op::Less, VectorType::Int, {bring_scalar(end, context), bring_scalar(zero, context)});
  check(Value::scalar(negative, context), context, kRangeMessage,
        {{"start", zero}, {"end", end}, {"stride", one}});
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
