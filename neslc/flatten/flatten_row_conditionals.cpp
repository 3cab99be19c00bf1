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

namespace neslc {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

const Local* local_of(const Expr& expr) {
  const auto* reference = std::get_if<LocalRef>(&expr.node);
  return reference == nullptr ? nullptr : reference->local;
}

/// Of index(#r) or [0:#r]: r.
const Local* numbered(const Expr& generator) {
  const Expr* end = primitive_argument(generator, "index");
  if (const Pair* range = primitive_operands(generator, "iseq")) {
    const auto* begin = std::get_if<IntLiteral>(&range->first->node);
    const auto* rest = std::get_if<Pair>(&range->second->node);
    const auto* step = rest == nullptr ? nullptr : std::get_if<IntLiteral>(&rest->first->node);
    const bool counts =
        begin != nullptr && begin->value == 0 && step != nullptr && step->value == 1;
    end = counts ? rest->second.get() : nullptr;
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
           is_scalar(known->second.elements());
  }
  static bool is_scalar(const Value& elements) {
    return elements.is_scalar() ||
           (elements.is_tuple() && !elements.parts.empty() &&
            std::all_of(elements.parts.begin(), elements.parts.end(), is_scalar));
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
  if (in_both_arms_ || type->kind != TypeKind::Sequence || !is_scalar_type(type->element())) {
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
  LateChecks late{b_.block(), {}, {}};
  const bool may_fail = arms.may_fail() || fitting.have_others();
  late_checks_ = &late;
  in_both_arms_ = true;
  const Value elements = row_choice(node, condition, may_fail, row, frame, context);
  in_both_arms_ = false;
  late_checks_ = nullptr;
  for (const LateCheck& check : late.checks) check_now(check);
  return Value::sequence(value.var, bring(elements, each), context);
}

Value Flattener::row_choice(const If& node, const Value& condition, bool may_fail, const Row& row,
                            Frame& frame, Context* context) {
  const auto in_arm = [&](bool taken, const Expr& expr) {
    const std::optional<Value> outer = wanted_;
    if (may_fail) wanted_ = wanted_if(condition, taken);
    Value result = row_arm(expr, may_fail, row, frame, context);
    wanted_ = outer;
    return result;
  };
  const Value then_value = in_arm(true, *node.then_branch);
  const Value else_value = in_arm(false, *node.else_branch);
  return select(condition, row.each, then_value, else_value);
}

/// What an arm gives for each element of the row.
Value Flattener::row_arm(const Expr& expr, bool may_fail, const Row& row, Frame& frame,
                         Context* context) {
  const ir::Origin outer = std::exchange(b_.origin, {expr.span, frame.scope});
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
    check_row_lengths(*each, row, frame, context);
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

/// As an apply-to-each does where its arm is taken.
void Flattener::check_row_lengths(const ApplyToEach& node, const Row& row, Frame& frame,
                                  Context* context) {
  const auto length = [&](const Binding& generator) {
    const Local* const local = local_of(*generator.value);
    const Value& sequence = local == nullptr ? row.value : frame.locals.at(local);
    return Value::scalar(v_.lengths(sequence.var), sequence.context);
  };
  const Value first = length(node.generators[0]);
  for (std::size_t i = 1; i < node.generators.size(); ++i) {
    const Value other = length(node.generators[i]);
    if (other.var == first.var) continue;
    const ValueId differs = b_.op(Op::NotEqual, VectorType::Int,
                                  {bring_scalar(first, context), bring_scalar(other, context)});
    check(Value::scalar(differs, context), context, "Length mismatch in an apply-to-each.",
          {{"lengths", first}, {"and", other}});
  }
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
  const ValueId place = b_.known_int(starts.var) == 0
                            ? row.offsets.var
                            : v_.add(bring_scalar(starts, row.each), row.offsets.var);
  return elements_at(*this, value.elements(), v_.flat(value.var, value.elements()),
                     Value::scalar(place, row.each));
}

}  // namespace neslc
