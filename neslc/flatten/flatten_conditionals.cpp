// Conditionals (reference 10.4).
//
// Serial ones become IF. In lifted code each arm runs once, on the instances that take it, and not
// at all when there are none: this ends recursion. When all instances take one arm nothing is
// packed and nothing merged.
#include <algorithm>
#include <utility>

#include "neslc/flatten/both_arms.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/stream_arms.hpp"

namespace neslc {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

// Arms of up to this size are both evaluated and the result is selected. One at a time, a
// conditional that skips work is worth more than it costs.
constexpr int kSelectedSize = 12, kSelectedSerial = 2;
// In a kernel: packing elements for the arms, and merging what they give, costs as much as some
// fifty operations on each.
constexpr int kSelectedInKernel = 200;

std::vector<Value> leaves_of(const Value& value) {
  std::vector<Value> leaves;
  for_each_leaf(value, [&](const Value& leaf) { leaves.push_back(leaf); });
  return leaves;
}

}  // namespace

bool Flattener::has_constant_parts(const Expr& expr) {
  bool result = false;
  for_each_expression(expr, [&](const Expr& part) {
    const auto* call = std::get_if<Call>(&part.node);
    if (call != nullptr && compiler_.free_variables().of(part).empty()) {
      const auto* callee = std::get_if<GlobalRef>(&call->callee->node);
      result = callee == nullptr || !is_total_scalar_operation(*callee->definition);
    }
    return result ? Visit::End : Visit::Below;
  });
  return result;
}

Value Flattener::if_expression(const Expr& expr, const If& node, Frame& frame, Context* context) {
  if (context->serial()) {
    for (const ExprPtr* branch : {&node.then_branch, &node.else_branch}) {
      streams_->settle(known_variables(**branch, frame), frame);
    }
  }
  const Value condition = streams_->settled(expression(*node.condition, frame, context));
  const MadeForArms made = call_for_arms(node, condition, frame, context);
  Value result = made.is_value ? frame.known.at(made.calls[0])
                               : if_condition(expr, node, condition, frame, context);
  for (const Expr* call : made.calls) frame.known.erase(call);
  return result;
}

Value Flattener::if_condition(const Expr& expr, const If& node, const Value& condition,
                              Frame& frame, Context* context) {
  const bool known = condition.context->serial() && b_.known_bool(condition.var).has_value();
  const bool serial = condition.context->serial();
  const bool in_kernel = !serial && compiler_.options().for_optimizer;
  BothArms arms(compiler_,
                serial      ? kSelectedSerial
                : in_kernel ? kSelectedInKernel
                            : kSelectedSize,
                in_kernel, frame.instantiation, &frame.known);
  if (!known && is_scalar_type(substituted(expr.type, frame)) && arms.fits(*node.then_branch) &&
      arms.fits(*node.else_branch)) {
    if (in_kernel) return both_arms(node, condition, arms.may_fail(), frame, context);
    const Value then_value = expression(*node.then_branch, frame, context);
    const Value else_value = expression(*node.else_branch, frame, context);
    return select(condition, context, then_value, else_value);
  }
  if (in_kernel) {
    if (auto rows = row_conditional(expr, node, condition, kSelectedInKernel, frame, context)) {
      return *std::move(rows);
    }
  }
  return conditional(condition, context, arm_of(*node.then_branch, frame, context),
                     arm_of(*node.else_branch, frame, context));
}

Flattener::Arm Flattener::arm_of(const Expr& expr, Frame& frame, Context* context) {
  return arm_with(expr, compiler_.free_variables().of(expr), frame, context,
                  [this, &expr](Frame& inner_frame, Context* inner) {
                    return joined(expr, inner_frame, inner);
                  });
}

Flattener::Arm Flattener::arm_with(const Expr& expr, const std::vector<const Local*>& variables,
                                   Frame& frame, Context* context, ArmCode code) {
  // The instances of a sequence that is only indexed are fetched by the indexing itself.
  std::vector<const Local*> packed;
  for (const Local* local : variables) {
    if (!compiler_.indexed_variables().only_indexed(expr, local)) packed.push_back(local);
  }
  Arm result;
  result.constant_parts = !context->serial() && has_constant_parts(expr);
  for (const Local* local : packed) result.free.push_back(frame.locals.at(local));
  result.code = [&frame, packed, code = std::move(code)](Context* inner,
                                                         std::vector<Value> values) {
    Frame inner_frame = frame;
    for (std::size_t i = 0; i < packed.size(); ++i) {
      inner_frame.locals[packed[i]] = std::move(values[i]);
    }
    return code(inner_frame, inner);
  };
  return result;
}

Value Flattener::both_arms(const If& node, const Value& condition, bool may_fail, Frame& frame,
                           Context* context) {
  if (!may_fail || late_checks_ != nullptr) {
    return both_computed(node, condition, may_fail, frame, context);
  }
  return with_late_checks([&] { return both_computed(node, condition, may_fail, frame, context); });
}

Value Flattener::with_late_checks(const std::function<Value()>& make) {
  LateChecks late{b_.block(), {}, {}};
  late_checks_ = &late;
  const Value result = make();
  late_checks_ = nullptr;
  for (const LateCheck& check : late.checks) check_now(check);
  return result;
}

Value Flattener::in_arm(const Value& condition, bool taken, bool may_fail,
                        const std::function<Value()>& make) {
  const std::optional<Value> outer = wanted_;
  if (may_fail) wanted_ = wanted_if(condition, taken);
  Value result = make();
  wanted_ = outer;
  return result;
}

Value Flattener::some_elements(const Value& elements, ValueId total) {
  const ValueList vector = vars_of(elements);
  const bool whole = late_checks_ != nullptr && late_checks_->block == b_.block();
  if (whole) {
    for (const auto& [known, result] : late_checks_->some_elements) {
      if (known == vector) return result;
    }
  }
  const ValueId none = b_.op(Op::Equal, VectorType::Int, {total, b_.int_constant(0)});
  const ValueList vars = b_.conditional(
      none, [&] { return vars_of(v_.null_vector(elements, b_.single_constant(1))); },
      [&] { return vector; });
  const Value result = with_vars(elements, vars, elements.context);
  v_.set_length(result, b_.new_length());
  if (whole) late_checks_->some_elements.emplace_back(vector, result);
  return result;
}

/// Computes both arms for all elements; what both call is called once, with the arguments of the
/// arm that is taken.
Value Flattener::both_computed(const If& node, const Value& condition, bool may_fail, Frame& frame,
                               Context* context) {
  const bool was_inside = std::exchange(in_both_arms_, true);
  const auto arm = [&](bool taken, const Expr& expr) {
    return in_arm(condition, taken, may_fail, [&] { return expression(expr, frame, context); });
  };
  const auto is_known = [&](const Local* local) { return frame.locals.contains(local); };
  const std::vector<SharedCall> shared = shared_calls(compiler_, node, frame.known, is_known);
  for (const SharedCall& pair : shared) {
    const auto& first = std::get<Call>(pair.in_then->node);
    const auto& second = std::get<Call>(pair.in_else->node);
    const Value then_argument = arm(true, *first.argument);
    const Value else_argument = arm(false, *second.argument);
    const Value argument = select(condition, context, then_argument, else_argument);
    const ir::Origin outer = std::exchange(b_.origin, origin_of(*pair.in_then, frame));
    const Value result =
        call(substituted(first.callee->type, frame), Value::tuple({}), argument, context);
    b_.origin = outer;
    frame.known[pair.in_then] = frame.known[pair.in_else] = result;
  }
  const Value then_value = arm(true, *node.then_branch);
  const Value else_value = arm(false, *node.else_branch);
  for (const SharedCall& pair : shared) {
    frame.known.erase(pair.in_then);
    frame.known.erase(pair.in_else);
  }
  in_both_arms_ = was_inside;
  return select(condition, context, then_value, else_value);
}

/// Where the arm of the condition is taken that is itself computed where it is wanted.
Value Flattener::wanted_if(const Value& condition, bool taken) {
  Context* const place = wanted_ ? deeper(condition.context, wanted_->context) : condition.context;
  ValueId flag = bring_scalar(condition, place);
  if (!taken) flag = b_.op(Op::Not, VectorType::Bool, {flag});
  if (wanted_) {
    flag = b_.op(Op::And, VectorType::Bool, {bring_scalar(*wanted_, place), flag});
  }
  return Value::scalar(flag, place);
}

/// The flags where they are wanted by instances of the context; all others are not set. They stay
/// where they are the same for several instances, and are wanted there if any instance is inside.
Value Flattener::where_wanted(const Value& flags, Context* context) {
  if (!wanted_) return Value::scalar(bring_scalar(flags, context), context);
  Value wanted = *wanted_;
  if (!wanted.context->encloses(context)) {
    wanted = Value::scalar(v_.any(wanted.var, instances(wanted.context)), &serial_);
  }
  Context* const place = deeper(wanted.context, flags.context);
  const auto both = [&](const Value& a, const Value& b) {
    return Value::scalar(
        b_.op(Op::And, VectorType::Bool, {bring_scalar(a, place), bring_scalar(b, place)}), place);
  };
  const Value result = both(wanted, flags);
  return place == context ? result : both(result, is_any(place, context));
}

Value Flattener::select(const Value& condition, Context* context, const Value& then_value,
                        const Value& else_value) {
  if (then_value.is_tuple()) {
    std::vector<Value> parts;
    for (std::size_t i = 0; i < then_value.parts.size(); ++i) {
      parts.push_back(select(condition, context, then_value.parts[i], else_value.parts[i]));
    }
    return Value::tuple(std::move(parts));
  }
  if (then_value.is_sequence()) {
    const auto same = [](Context*, std::vector<Value> values) { return values[0]; };
    return conditional(condition, context, {same, {then_value}}, {same, {else_value}});
  }
  Context* const place = deeper(condition.context, deeper(then_value.context, else_value.context));
  const ValueId a = bring_scalar(then_value, place);
  const ValueId b = bring_scalar(else_value, place);
  if (a == b) return Value::scalar(a, place);
  return Value::scalar(
      b_.op(Op::Select, b_.variable(a).type, {bring_scalar(condition, place), a, b}), place);
}

Value Flattener::conditional(const Value& condition, Context* context, const Arm& then_arm,
                             const Arm& else_arm) {
  if (!condition.context->serial()) {
    return lifted_conditional(bring_scalar(condition, context), context, then_arm, else_arm);
  }
  if (const auto known = b_.known_bool(condition.var)) {
    const Arm& arm = *known ? then_arm : else_arm;
    const auto code = [&] { return arm.code(context, arm.free); };
    return context->serial() || !arm.constant_parts ? code() : unless_empty(context, code);
  }
  return serial_conditional(condition.var, context, then_arm, else_arm, !context->serial());
}

Value Flattener::unless_empty(Context* context, const std::function<Value()>& code) {
  const ValueId none =
      b_.op(Op::Equal, VectorType::Int, {v_.lengths(instances(context)), b_.int_constant(0)});
  ir::Statement guard = b_.begin_conditional(none);
  Value result;
  b_.in_block(*guard.else_block, [&] {
    result = bring(code(), context);
    guard.else_block->results = vars_of(result);
  });
  b_.in_block(*guard.then_block,
              [&] { guard.then_block->results = vars_of(v_.empty(result, context)); });
  result = with_vars(result, b_.end_conditional(std::move(guard)), context);
  for_each_leaf(result, [&](const Value& leaf) { v_.set_length(leaf, context->count); });
  return result;
}

Value Flattener::serial_conditional(ValueId condition, Context* context, const Arm& then_arm,
                                    const Arm& else_arm, bool guarded) {
  if (guarded) {
    return unless_empty(
        context, [&] { return serial_conditional(condition, context, then_arm, else_arm, false); });
  }
  using Arms = StreamArms;
  ir::Statement conditional = b_.begin_conditional(condition);
  Value then_value;
  Value else_value;
  Arms arms(*this, condition);
  b_.in_block(*conditional.then_block,
              [&] { then_value = arms.end(Arms::Then, then_arm.code(context, then_arm.free)); });
  b_.in_block(*conditional.else_block,
              [&] { else_value = arms.end(Arms::Else, else_arm.code(context, else_arm.free)); });
  // Each part stays as far out as it is in both arms.
  std::vector<Value> then_leaves = leaves_of(then_value);
  std::vector<Value> else_leaves = leaves_of(else_value);
  std::vector<Context*> places;
  for (std::size_t i = 0; i < then_leaves.size(); ++i) {
    places.push_back(deeper(then_leaves[i].context, else_leaves[i].context));
  }
  const auto finish = [&](Arms::Arm arm, ir::Block& block, const std::vector<Value>& leaves) {
    b_.in_block(block, [&] {
      for (std::size_t i = 0; i < leaves.size(); ++i) {
        if (!leaves[i].is_stream()) append_vars(bring(leaves[i], places[i]), block.results);
      }
      arms.append_parts(arm, block.results);
    });
  };
  finish(Arms::Then, *conditional.then_block, then_leaves);
  finish(Arms::Else, *conditional.else_block, else_leaves);
  const ValueList results = b_.end_conditional(std::move(conditional));
  Value result = then_value;
  std::size_t next = 0;
  std::size_t leaf_number = 0;
  for_each_leaf(result, [&](Value& leaf) {
    Context* const place = places[leaf_number++];
    if (leaf.is_stream()) return;
    leaf = with_vars(leaf, results, next, place);
    v_.set_length(leaf, place->count);
  });
  arms.set_parts(results, next);
  leaf_number = 0;
  for_each_leaf(result, [&](Value& leaf) {
    if (leaf.is_stream()) leaf = arms.choice(leaf, else_leaves[leaf_number]);
    ++leaf_number;
  });
  return result;
}

struct Flattener::BranchResult {
  Value value;
  ValueId positions;
  ir::LengthId count;
};

Value Flattener::lifted_conditional(ValueId flags, Context* context, const Arm& then_arm,
                                    const Arm& else_arm) {
  const ValueId single = instances(context);
  const ValueId none =
      b_.op(Op::Not, VectorType::Bool, {b_.op(Op::OrReduce, VectorType::Bool, {flags, single})});
  const ValueId all = b_.op(Op::AndReduce, VectorType::Bool, {flags, single});
  const BranchResult then_result = branch(flags, none, all, context, then_arm);
  const ValueId complement = b_.op(Op::Not, VectorType::Bool, {flags});
  const BranchResult else_result = branch(complement, all, none, context, else_arm);

  // Without instances both tests hold, and both results are empty.
  const ValueList then_vars = vars_of(then_result.value);
  const ValueList results = b_.conditional(
      all, [&] { return then_vars; },
      [&] {
        return b_.conditional(
            none, [&] { return vars_of(else_result.value); },
            [&] { return vars_of(merged(then_result, else_result, context)); });
      });
  Value result = with_vars(then_result.value, results, context);
  for_each_leaf(result, [&](const Value& leaf) { v_.set_length(leaf, context->count); });
  return result;
}

Flattener::BranchResult Flattener::branch(ValueId flags, ValueId none, ValueId all,
                                          Context* context, const Arm& arm) {
  ir::Statement conditional = b_.begin_conditional(none);
  Value value;
  b_.in_block(*conditional.else_block, [&] {
    const ValueId outer = instances(context);
    std::vector<Value> packed;
    for (const Value& free : arm.free) {
      for_each_leaf(free, [&](const Value& leaf) {
        if (leaf.context == context) packed.push_back(leaf);
      });
    }
    ValueList whole{outer, v_.iota(outer)};
    for (const Value& leaf : packed) append_vars(leaf, whole);
    const ValueList chosen = b_.conditional(
        all, [&] { return whole; },
        [&] {
          const ValueList pack =
              b_.operation(Op::Pack, VectorType::Int, {v_.iota(outer), flags, outer});
          ValueList vars{pack[1], pack[0]};
          for (const Value& leaf : packed) {
            append_vars(v_.gather(leaf, context->count, pack[0]), vars);
          }
          return vars;
        });
    Context& inner = contexts_.emplace_back();
    inner.kind = Context::Kind::Branch;
    inner.parent = context;
    inner.count = b_.new_length();
    inner.flags = flags;
    inner.positions = chosen[1];
    inner.sample = chosen[1];
    b_.set_length(chosen[0], ir::kOne);
    b_.set_total(chosen[0], inner.count);
    b_.set_length(chosen[1], inner.count);
    b_.remember_single(inner.count, chosen[0]);

    std::size_t next = 2;
    std::vector<Value> free = arm.free;
    for (Value& part : free) {
      for_each_leaf(part, [&](Value& leaf) {
        if (leaf.context != context) return;
        leaf = with_vars(leaf, chosen, next, &inner);
        v_.set_length(leaf, inner.count);
      });
    }
    value = bring(arm.code(&inner, std::move(free)), &inner);
    conditional.else_block->results = vars_of(value);
    conditional.else_block->results.push_back(inner.positions);
  });
  b_.in_block(*conditional.then_block, [&] {
    conditional.then_block->results = vars_of(v_.empty(value, context));
    conditional.then_block->results.push_back(b_.empty(VectorType::Int));
  });
  const ValueList results = b_.end_conditional(std::move(conditional));
  BranchResult result{with_vars(value, results, context), results.back(), b_.new_length()};
  for_each_leaf(result.value, [&](const Value& leaf) { v_.set_length(leaf, result.count); });
  b_.set_length(result.positions, result.count);
  return result;
}

Value Flattener::merged(const BranchResult& then_result, const BranchResult& else_result,
                        Context* context) {
  std::vector<Vectors::Source> sources;
  for (const BranchResult* result : {&then_result, &else_result}) {
    sources.push_back(
        {result->value, result->positions, b_.single(result->count, result->positions)});
  }
  return v_.place(sources, instances(context));
}

}  // namespace neslc
