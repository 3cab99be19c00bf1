// What is the same for all instances of an apply-to-each, or of a lifted function.
//
// Operations compute such values once anyway, as values stay in the context of their operands. Here
// are the expressions that would be computed for each instance: an apply-to-each of its own, calls
// of functions that do not take the place of their calls, and elements and quotients, whose checks
// are those of the instances. They are computed in the context of what they are made of, for those
// of its instances inside of which any are: whoever writes {x / norm(v) : x in v} expects the norm
// of v to be computed once, and not for an empty v.
#include <utility>

#include "neslc/flatten/both_arms.hpp"
#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/flatten/streams.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

/// How large what may fail may be: an element of a few levels with a little arithmetic.
constexpr int kMostChecked = 64;

/// Does the function give a part of a sequence? Such a part is read where it lies.
bool is_slice(const Definition& definition) {
  const Expr* value = definition.body->expression.get();
  while (const auto* let = std::get_if<Let>(&value->node)) value = let->body.get();
  return primitive_operands(*value, "machine.slice") != nullptr;
}

}  // namespace

/// a[i], a[i][j] ..., a / b or rem(a, b), of scalars that can be computed where they are not
/// wanted, too? What that takes is a handful of operations more, which are worth it in a kernel.
bool Flattener::is_checked_scalar(const Expr& expr, const Frame& frame) {
  const auto calls = [&](const char* name) { return primitive_operands(expr, name) != nullptr; };
  return compiler_.options().for_optimizer && (calls("elt") || calls("/") || calls("rem")) &&
         is_scalar_type(substituted(expr.type, frame)) &&
         BothArms(compiler_, kMostChecked, true, frame.instantiation).fits(expr);
}

bool Flattener::is_made_once(Context* home, Context* context) const {
  return compiler_.options().for_optimizer && !in_both_arms_ && multiplies(home, context);
}

void Flattener::for_instances(Context* home, Context* context, const std::function<void()>& make) {
  wanted_ = is_any(home, context);
  in_both_arms_ = true;
  make();
  in_both_arms_ = false;
  wanted_.reset();
}

bool Flattener::is_computed_by_instance(const Expr& expr) {
  if (std::holds_alternative<ApplyToEach>(expr.node)) return true;
  const GlobalRef* const callee = named_callee(expr);
  if (callee == nullptr || callee->definition->kind != DefinitionKind::Function ||
      !callee->definition->body || is_slice(*callee->definition)) {
    return false;
  }
  Version version;
  version.definition = callee->definition;
  return !compiler_.inline_call(version);
}

Context* Flattener::home_of(const Expr& expr, const Frame& frame, Context* context) {
  // Where a value is not wanted everywhere, functions take the place of their calls.
  if (context->serial() || in_both_arms_ || frame.observed != nullptr ||
      (!is_computed_by_instance(expr) && !is_checked_scalar(expr, frame))) {
    return context;
  }
  Context* const home = home_of_variables(compiler_.free_variables().of(expr), frame);
  if (home == nullptr || home == context || !multiplies(home, context) ||
      contains_stream(substituted(expr.type, frame)) ||
      compiler_.effects().of(expr, frame.instantiation)) {
    return context;
  }
  return home;
}

Context* Flattener::home_of_variables(const std::vector<const Local*>& variables,
                                      const Frame& frame) {
  Context* home = &serial_;
  for (const Local* local : variables) {
    const auto known = frame.locals.find(local);
    if (known == frame.locals.end() || contains_stream(substituted(local->type, frame))) {
      return nullptr;
    }
    for_each_leaf(known->second, [&](const Value& leaf) {
      if (leaf.context != nullptr) home = deeper(home, leaf.context);
    });
  }
  return home;
}

Value Flattener::is_any(Context* home, Context* context) {
  if (Context* const fetch = fetch_between(home, context)) {
    const ValueId inside =
        fetch == context ? bring_scalar(Value::scalar(b_.bool_constant(true), &serial_), fetch)
                         : is_any(fetch, context).var;
    // Only the instances of a function fetch, and outside of them there is nothing else.
    return Value::scalar(b_.op(Op::OrCombine, VectorType::Bool,
                               {inside, fetch->positions, instances(fetch), instances(home)}),
                         home);
  }
  const ValueId counts = v_.lengths(between(home, context));
  const ValueId zero = bring_scalar(Value::scalar(b_.int_constant(0), &serial_), home);
  return Value::scalar(b_.op(Op::Greater, VectorType::Int, {counts, zero}), home);
}

Value Flattener::computed_once(const Expr& expr, Frame& frame, Context* home, Context* context) {
  streams_->settle(known_variables(expr, frame), frame);
  if (!is_computed_by_instance(expr)) {  // but checked
    Value result;
    for_instances(home, context, [&] { result = evaluated(expr, frame, home); });
    return result;
  }
  Arm leave_out;
  leave_out.code = [&](Context*, const std::vector<Value>&) {
    return identity_of(*this, substituted(expr.type, frame));
  };
  return conditional(is_any(home, context), home, arm_of(expr, frame, home), leave_out);
}

}  // namespace neslc
