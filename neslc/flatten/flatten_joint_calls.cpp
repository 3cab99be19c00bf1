// Calls of one function that need nothing of each other, made as one call.
//
//   function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2)
//
// makes two calls for each instance, one behind the other: 2^d of them in a recursion of depth d,
// each of which does little. Both are one call here, of twice as many instances, as in
//
//   let [a, b] = {fib(m) : m in [n - 1, n - 2]} in a + b
//
// which takes d calls. That is how divide and conquer is written in NESL, and what whoever writes
// `merge(sort(left), sort(right))` means. The vectors of a call grow with each level of the
// recursion instead, so that only short ones are put together: long ones keep a machine busy by
// themselves, and need the memory of a path through the recursion, not that of a whole level.
#include <algorithm>
#include <utility>

#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/flatten/streams.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

/// How many elements the vectors may have of a call that is made for several: few enough for a
/// cache, and so many that what a call costs by itself does not show.
constexpr std::int64_t kMostElements = 131072;

}  // namespace

bool Flattener::may_be_joint(const Expr& expr, const Frame& frame) {
  const GlobalRef* const callee = named_callee(expr);
  if (callee == nullptr || !compiler_.call_each_other(*callee->definition, *frame.definition)) {
    return false;
  }
  const TypePtr type = substituted(argument_of(expr).type, frame);
  return !contains_function(type) && !contains_stream(type) && !contains_stream(expr.type);
}

/// Calls of functions that call themselves and the one that is being flattened, which are made
/// whenever the expression is evaluated.
std::vector<const Expr*> Flattener::own_calls(const Expr& expr, const Frame& frame) {
  std::vector<const Expr*> result;
  for_each_unconditional(expr, [&](const Expr& part) {
    if (frame.known.contains(&part)) return Visit::Past;
    if (may_be_joint(part, frame)) result.push_back(&part);
    return Visit::Below;
  });
  return result;
}

/// Those of all the code, from the innermost one outward; none where nothing is put together.
std::vector<const Expr*> Flattener::recursive_calls(const std::vector<const Expr*>& code,
                                                    const Frame& frame) {
  std::vector<const Expr*> result;
  if (apart_ || frame.definition == nullptr || !compiler_.calls_itself(*frame.definition)) {
    return result;
  }
  for (const Expr* expr : code) {
    const std::vector<const Expr*> calls = own_calls(*expr, frame);
    result.insert(result.end(), calls.begin(), calls.end());
  }
  std::reverse(result.begin(), result.end());
  const auto has_effects = [&](const Expr* expr) {
    return compiler_.effects().of(*expr, frame.instantiation);
  };
  if (result.size() < 2 || in_both_arms_ || std::any_of(code.begin(), code.end(), has_effects)) {
    result.clear();
  }
  return result;
}

bool Flattener::is_ready(const Expr& expr, const std::vector<const Expr*>& calls,
                         const Frame& frame) {
  const auto has_value = [&](const Local* local) { return frame.locals.contains(local); };
  const std::vector<const Local*>& variables = compiler_.free_variables().of(expr);
  if (!std::all_of(variables.begin(), variables.end(), has_value)) return false;
  bool result = true;
  for_each_unconditional(expr, [&](const Expr& part) {
    if (frame.known.contains(&part)) return Visit::Past;
    result = result && std::find(calls.begin(), calls.end(), &part) == calls.end();
    return result ? Visit::Below : Visit::End;
  });
  return result;
}

/// Makes two or more of the calls together, if there are such calls; their results are known then.
bool Flattener::make_joint_calls(const std::vector<const Expr*>& calls, Frame& frame,
                                 Context* context) {
  std::vector<const Expr*> ready;
  for (const Expr* call : calls) {
    const bool differs = context->serial() || (!compiler_.free_variables().of(*call).empty() &&
                                               home_of(*call, frame, context) == context);
    if (differs && !frame.known.contains(call) && is_ready(argument_of(*call), calls, frame)) {
      ready.push_back(call);
    }
  }
  for (const Expr* first : ready) {
    std::vector<const Expr*> same;
    std::copy_if(ready.begin(), ready.end(), std::back_inserter(same),
                 [&](const Expr* call) { return have_same_callee(*call, *first); });
    if (same.size() < 2) continue;
    std::vector<Value> arguments;
    for (const Expr* call : same) {
      arguments.push_back(streams_->settled(expression(argument_of(*call), frame, context)));
    }
    const ir::Origin outer = std::exchange(b_.origin, origin_of(*first, frame));
    const std::vector<Value> results = results_of(*first, std::move(arguments), frame, context);
    b_.origin = outer;
    for (std::size_t i = 0; i < same.size(); ++i) frame.known[same[i]] = results[i];
    return true;
  }
  return false;
}

/// Is it a sequence that the function has made, as by changing an element of another one?
bool Flattener::is_made_sequence(const Value& value) const {
  if (!value.is_sequence()) return false;
  const ValueList vars = vars_of(value);
  return std::any_of(vars.begin(), vars.end(), [&](ValueId var) {
    const ir::Definition& definition = b_.variable(var).definition;
    return definition.kind && !definition.is_const();
  });
}

/// Calls of a function with arguments of the same form.
struct Flattener::JointCall {
  TypePtr function;
  Context* context;                // in which the calls stand
  std::vector<Value> arguments;    // what is not shared is in that context
  std::vector<bool> shared{};      // of each leaf: is it the same for all calls?
  Context* home = nullptr;         // of sequences that are shared and of which elements are read
  std::vector<Value> differing{};  // of each call, the leaves that are not shared
};

/// The results of calls of one function, whose arguments have these values.
std::vector<Value> Flattener::results_of(const Expr& call, std::vector<Value> arguments,
                                         Frame& frame, Context* context) {
  const GlobalRef& callee = *named_callee(call);
  const Body& body = *callee.definition->body;
  JointCall joint{substituted(std::get<Call>(call.node).callee->type, frame), context,
                  std::move(arguments)};
  std::vector<bool> indexed;
  append_indexed(*body.parameter, joint.arguments[0], *body.expression, indexed);
  std::vector<std::vector<Value*>> leaves;  // those that stand at the same place
  for (Value& argument : joint.arguments) {
    std::size_t k = 0;
    for_each_leaf(argument, [&](Value& leaf) {
      if (k == leaves.size()) leaves.emplace_back();
      leaves[k++].push_back(&leaf);
    });
  }
  joint.differing.resize(joint.arguments.size(), Value::tuple({}));
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    const Value first = *leaves[k][0];
    const bool same = std::all_of(leaves[k].begin(), leaves[k].end(), [&](const Value* leaf) {
      return leaf->context == first.context && vars_of(*leaf) == vars_of(first);
    });
    const bool fetched = indexed[k] && (joint.home == nullptr || joint.home == first.context);
    joint.shared.push_back(same && (first.context->serial() || fetched));
    if (!joint.shared.back()) {
      for (std::size_t i = 0; i < joint.differing.size(); ++i) {
        *leaves[k][i] = bring(*leaves[k][i], context);
        joint.differing[i].parts.push_back(*leaves[k][i]);
      }
    } else {
      if (!first.context->serial()) joint.home = first.context;
      copies_for_calls_ = copies_for_calls_ || is_made_sequence(first);
    }
  }
  if (joint.differing[0].parts.empty()) return separately(joint);
  for (const Value& part : joint.differing[0].parts) {
    copies_for_calls_ = copies_for_calls_ || part.is_sequence();
  }
  const std::optional<ValueId> few = are_few(joint.differing, context);
  if (!few) return jointly(joint);
  std::vector<Value> results;
  const auto vars_of_all = [&](std::vector<Value> values) {
    results = std::move(values);
    return vars_of(Value::tuple(results));
  };
  const ValueList vars = b_.conditional(
      *few, [&] { return vars_of_all(jointly(joint)); },
      [&] { return vars_of_all(separately(joint)); });
  std::size_t next = 0;
  for (Value& result : results) {
    result = with_vars(result, vars, next, context);
    for_each_leaf(result, [&](const Value& leaf) { v_.set_length(leaf, context->count); });
  }
  return results;
}

std::vector<Value> Flattener::separately(const JointCall& joint) {
  std::vector<Value> results;
  for (const Value& argument : joint.arguments) {
    results.push_back(
        bring(call(joint.function, Value::tuple({}), argument, joint.context), joint.context));
  }
  return results;
}

std::vector<Value> Flattener::jointly(const JointCall& joint) {
  const ValueId one_call = instances(joint.context);
  std::vector<Value> sequences;
  for (Value parts : joint.differing) {
    if (joint.home != nullptr) {
      parts.parts.push_back(Value::scalar(numbers_in(joint.home, joint.context), joint.context));
    }
    sequences.push_back(Value::sequence(one_call, std::move(parts), &serial_));
  }
  const Value all = appended(*this, sequences, &serial_);
  const std::vector<Value>& parts = all.elements().parts;
  Context* const each = for_each(&serial_, all.var, all.elements());
  if (joint.home != nullptr) {
    each->kind = Context::Kind::Fetch;
    each->parent = joint.home;
    each->positions = parts.back().var;
  }
  Value argument = joint.arguments[0];
  std::size_t k = 0;
  std::size_t next = 0;
  for_each_leaf(argument, [&](Value& leaf) {
    if (!joint.shared[k++]) leaf = in_context(parts[next++], each);
  });
  const Value values = bring(call(joint.function, Value::tuple({}), argument, each), each);
  std::vector<Value> results;
  ValueId begin = b_.int_constant(0);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    if (i > 0) begin = v_.add(begin, v_.lengths(one_call));
    results.push_back(
        in_context(v_.gather(values, each->count, v_.ranges(begin, one_call)), joint.context));
  }
  return results;
}

/// Do the vectors that the values consist of have few elements together? Nothing if all are
/// scalars.
std::optional<ValueId> Flattener::are_few(const std::vector<Value>& values, Context* context) {
  const std::int64_t most = kMostElements / static_cast<std::int64_t>(values.size());
  std::optional<ValueId> result;
  const auto restrict_to = [&](ValueId descriptor) {
    const ValueId few =
        b_.op(Op::LessEqual, VectorType::Int, {v_.lengths(descriptor), b_.int_constant(most)});
    result = result ? b_.op(Op::And, VectorType::Bool, {*result, few}) : few;
  };
  if (!context->serial()) restrict_to(instances(context));
  const std::function<void(const Value&)> add = [&](const Value& value) {
    if (value.is_sequence()) restrict_to(v_.flat(value.var, value.elements()));
    for (const Value& part : value.parts) add(part);
  };
  for (const Value& value : values) add(value);
  return result;
}

/// What is in the bindings that need no result of a recursive call comes before those calls, so
/// that as many as possible of them are made together.
Value Flattener::let_expression(const Let& node, Frame& frame, Context* context) {
  std::vector<const Expr*> code;
  for (const Binding& binding : node.bindings) code.push_back(binding.value.get());
  code.push_back(node.body.get());
  const std::vector<const Expr*> calls = recursive_calls(code, frame);
  std::vector<const Binding*> left;
  for (const Binding& binding : node.bindings) left.push_back(&binding);
  const auto evaluate = [&](const Binding& binding) {
    const Value value = frame.observed != nullptr && !node.field
                            ? observed_binding(binding, frame, context)
                            : expression(*binding.value, frame, context);
    bind(*binding.pattern, value, frame);
  };
  while (!left.empty()) {
    if (!calls.empty()) {
      std::erase_if(left, [&](const Binding* binding) {
        const bool ready = is_ready(*binding->value, calls, frame);
        if (ready) evaluate(*binding);
        return ready;
      });
      if (make_joint_calls(calls, frame, context) || left.empty()) continue;
    }
    evaluate(*left.front());
    left.erase(left.begin());
  }
  const Value result = joined(*node.body, frame, context);
  for (const Expr* call : calls) frame.known.erase(call);
  return result;
}

Value Flattener::joined(const Expr& expr, Frame& frame, Context* context) {
  // Those of a let are found there.
  if (std::holds_alternative<Let>(expr.node)) return expression(expr, frame, context);
  const std::vector<const Expr*> calls = recursive_calls({&expr}, frame);
  while (!calls.empty() && make_joint_calls(calls, frame, context)) continue;
  const Value result = expression(expr, frame, context);
  for (const Expr* call : calls) frame.known.erase(call);
  return result;
}

}  // namespace neslc
