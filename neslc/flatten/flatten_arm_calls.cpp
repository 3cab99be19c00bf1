// Conditionals of which several arms call one function that calls itself:
//
//   if n == 0 then 1.0 else if evenp(n) then let h = power(x, n / 2) in h * h
//                      else x * power(x, n - 1)
//
// In lifted code each arm runs on the instances that take it, so that there would be a call in each
// of them, and up to 2^d calls in a recursion of depth d. Here the arms first choose the
// arguments of one call for all instances, and then go on with its result:
//
//   let m = if evenp(n) then n / 2 else n - 1;
//       r = power(x, m)
//   in if evenp(n) then let h = r in h * h else x * r
//
// What comes before the call in an arm is evaluated twice, so that it must not be much, unless
// nothing comes behind it: then the result of the call is that of the conditional.
#include <algorithm>
#include <utility>

#include "neslc/flatten/both_arms.hpp"
#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/primitives.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;

namespace {

/// How large what is evaluated twice may be.
constexpr int kMostTwice = 64;

/// An argument that each of several calls has.
struct ArmArgument {
  std::vector<const Expr*> of_calls;
  std::vector<ArmArgument> parts{};  // two, if all are pairs
  const Local* same = nullptr;       // the variable that all are

  ArmArgument(std::vector<const Expr*> arguments, const Frame& frame)
      : of_calls(std::move(arguments)) {
    std::vector<const Expr*> firsts;
    std::vector<const Expr*> seconds;
    for (const Expr* argument : of_calls) {
      const auto* pair = std::get_if<Pair>(&argument->node);
      if (pair == nullptr) break;
      firsts.push_back(pair->first.get());
      seconds.push_back(pair->second.get());
    }
    if (firsts.size() == of_calls.size()) {
      parts.emplace_back(std::move(firsts), frame);
      parts.emplace_back(std::move(seconds), frame);
      return;
    }
    const Local* const local = local_of(*of_calls[0]);
    const auto is_local_too = [&](const Expr* argument) { return local_of(*argument) == local; };
    if (local != nullptr && frame.locals.contains(local) &&
        std::all_of(of_calls.begin(), of_calls.end(), is_local_too)) {
      same = local;
    }
  }

  /// Appends the parts that the arms choose.
  void append_chosen(std::vector<const ArmArgument*>& chosen) const {
    if (parts.empty() && same == nullptr) chosen.push_back(this);
    for (const ArmArgument& part : parts) part.append_chosen(chosen);
  }
  /// The value, of which the parts that are chosen are the next ones.
  Value value(const std::vector<Value>& chosen, std::size_t& next, const Frame& frame) const {
    if (same != nullptr) return frame.locals.at(same);
    if (parts.empty()) return chosen[next++];
    Value first = parts[0].value(chosen, next, frame);
    Value second = parts[1].value(chosen, next, frame);
    return Value::tuple({std::move(first), std::move(second)});
  }
};

}  // namespace

/// The calls of a conditional's arms.
struct Flattener::ArmCalls {
  std::vector<const Expr*> calls;
  /// The part of an arm that its call is in, or that it ends with: the number of the call, or none.
  std::unordered_map<const Expr*, std::optional<std::size_t>> ends;
  std::vector<std::vector<const Expr*>> parts;  // of each call, the arguments to choose from
  std::vector<TypePtr> types;                   // of those
  bool possible = true;
  bool all_call = true;        // is there a call in every arm?
  bool nothing_behind = true;  // is it the value of the arm?
  bool cheap = true;           // can what is before it be evaluated twice?
  bool may_fail = false;
  bool selected = false;  // what is chosen from is computed for all instances
};

void Flattener::add_arm(const Expr& expr, const Frame& frame, ArmCalls& arms) {
  const auto evaluate_twice = [&](const Expr& part) {
    BothArms both(compiler_, kMostTwice, true, frame.instantiation);
    arms.cheap = arms.cheap && both.fits(part);
    arms.may_fail = arms.may_fail || both.may_fail();
  };
  const Expr* end = &expr;
  bool found = false;
  while (const auto* let = found ? nullptr : std::get_if<Let>(&end->node)) {
    end = let->body.get();
    for (const Binding& binding : let->bindings) {
      found = !own_calls(*binding.value, frame).empty();
      if (found) {
        end = binding.value.get();
        arms.nothing_behind = false;
        break;
      }
      evaluate_twice(*binding.value);
    }
  }
  const auto* choice = std::get_if<If>(&end->node);
  if (choice != nullptr && own_calls(*choice->condition, frame).empty()) {
    evaluate_twice(*choice->condition);
    add_arm(*choice->then_branch, frame, arms);
    add_arm(*choice->else_branch, frame, arms);
    return;
  }
  const std::vector<const Expr*> calls = own_calls(*end, frame);
  if (calls.empty()) {
    arms.ends[end] = std::nullopt;
    arms.all_call = false;
    return;
  }
  arms.ends[end] = arms.calls.size();
  arms.calls.push_back(calls[0]);
  arms.nothing_behind = arms.nothing_behind && calls[0] == end;
  // What its argument needs is known before the end of the arm.
  const std::vector<const Local*>& before = compiler_.free_variables().of(*end);
  const std::vector<const Local*>& needed = compiler_.free_variables().of(argument_of(*calls[0]));
  arms.possible = arms.possible && calls.size() == 1 &&
                  have_same_callee(*calls[0], *arms.calls[0]) &&
                  std::all_of(needed.begin(), needed.end(),
                              [&](const Local* local) { return contains(before, local); });
}

Flattener::MadeForArms Flattener::call_for_arms(const If& node, const Value& condition,
                                                Frame& frame, Context* context) {
  const auto has_effects = [&](const Expr& expr) {
    return compiler_.effects().of(expr, frame.instantiation);
  };
  if (context->serial() || condition.context->serial() || frame.definition == nullptr ||
      in_both_arms_ || !compiler_.calls_itself(*frame.definition)) {
    return {};
  }
  ArmCalls arms;
  add_arm(*node.then_branch, frame, arms);
  add_arm(*node.else_branch, frame, arms);
  const bool is_value = arms.all_call && arms.nothing_behind;
  if (arms.calls.size() < 2 || !arms.possible || !(arms.cheap || is_value) ||
      has_effects(*node.then_branch) || has_effects(*node.else_branch)) {
    return {};
  }
  std::vector<const Expr*> arguments;
  for (const Expr* call : arms.calls) arguments.push_back(&argument_of(*call));
  const ArmArgument argument(arguments, frame);
  std::vector<const ArmArgument*> chosen;
  argument.append_chosen(chosen);
  arms.parts.resize(arms.calls.size());
  arms.selected = compiler_.options().for_optimizer && arms.cheap;
  for (const ArmArgument* part : chosen) {
    arms.types.push_back(substituted(part->of_calls[0]->type, frame));
    for (std::size_t i = 0; i < arms.calls.size(); ++i) {
      const Expr* const one = part->of_calls[i];
      BothArms both(compiler_, kMostTwice, true, frame.instantiation);
      arms.selected = arms.selected && is_scalar_type(arms.types.back()) && both.fits(*one);
      arms.may_fail = arms.may_fail || both.may_fail();
      arms.parts[i].push_back(one);
    }
  }

  const auto choose = [&] { return chosen_of(node, condition, arms, frame, context); };
  Value values;
  if (arms.selected) {
    in_both_arms_ = true;
    values = with_late_checks(choose);
    in_both_arms_ = false;
  } else {
    values = choose();
  }
  const ir::Origin outer = std::exchange(b_.origin, origin_of(*arms.calls[0], frame));
  const TypePtr function = substituted(std::get<Call>(arms.calls[0]->node).callee->type, frame);
  std::size_t next = arms.all_call ? 0 : 1;
  Arm make_call;
  make_call.free = {argument.value(values.parts, next, frame)};
  make_call.code = [&](Context* inner, const std::vector<Value>& free) {
    return call(function, Value::tuple({}), free[0], inner);
  };
  Arm leave_out;
  leave_out.code = [&](Context*, const std::vector<Value>&) {
    return identity_of(*this, substituted(arms.calls[0]->type, frame));
  };
  const Value result = arms.all_call ? make_call.code(context, make_call.free)
                                     : conditional(values.parts[0], context, make_call, leave_out);
  b_.origin = outer;
  for (const Expr* one : arms.calls) frame.known[one] = result;
  return {arms.calls, is_value};
}

/// What the arms of a conditional choose, with a flag before it that tells whether there is a call,
/// unless there is one in each of them.
Value Flattener::chosen_of(const If& node, const Value& condition, const ArmCalls& arms,
                           Frame& frame, Context* context) {
  if (arms.selected) {
    const auto arm = [&](bool taken, const Expr& expr) {
      Frame inner_frame = frame;
      return in_arm(condition, taken, arms.may_fail,
                    [&] { return chosen_parts(expr, arms, inner_frame, context); });
    };
    const Value then_value = arm(true, *node.then_branch);
    const Value else_value = arm(false, *node.else_branch);
    return select(condition, context, then_value, else_value);
  }
  const auto arm = [&](const Expr& expr) {
    std::vector<const Local*> variables;
    append_variables(expr, arms, variables);
    return arm_with(expr, variables, frame, context,
                    [this, &expr, &arms](Frame& inner_frame, Context* inner) {
                      return chosen_parts(expr, arms, inner_frame, inner);
                    });
  };
  return conditional(condition, context, arm(*node.then_branch), arm(*node.else_branch));
}

/// What an arm chooses.
Value Flattener::chosen_parts(const Expr& expr, const ArmCalls& arms, Frame& frame,
                              Context* context) {
  if (const auto end = arms.ends.find(&expr); end != arms.ends.end()) {
    const std::optional<std::size_t> number = end->second;
    std::vector<Value> values;
    if (!arms.all_call) {
      values.push_back(Value::scalar(b_.bool_constant(number.has_value()), &serial_));
    }
    for (std::size_t i = 0; i < arms.types.size(); ++i) {
      values.push_back(number ? expression(*arms.parts[*number][i], frame, context)
                              : identity_of(*this, arms.types[i]));
    }
    return Value::tuple(std::move(values));
  }
  if (const auto* let = std::get_if<Let>(&expr.node)) {
    for (const Binding& binding : let->bindings) {
      if (arms.ends.contains(binding.value.get())) {
        return chosen_parts(*binding.value, arms, frame, context);
      }
      bind(*binding.pattern, expression(*binding.value, frame, context), frame);
    }
    return chosen_parts(*let->body, arms, frame, context);
  }
  const auto& choice = std::get<If>(expr.node);
  return chosen_of(choice, expression(*choice.condition, frame, context), arms, frame, context);
}

/// Appends the variables that chosen_parts() needs.
void Flattener::append_variables(const Expr& expr, const ArmCalls& arms,
                                 std::vector<const Local*>& variables) {
  const auto append = [&](const Expr& part) {
    for (const Local* local : compiler_.free_variables().of(part)) {
      if (!contains(variables, local)) variables.push_back(local);
    }
  };
  const auto end = arms.ends.find(&expr);
  if (end != arms.ends.end()) {
    if (end->second) {
      for (const Expr* part : arms.parts[*end->second]) append(*part);
    }
  } else if (const auto* choice = std::get_if<If>(&expr.node)) {
    append(*choice->condition);
    append_variables(*choice->then_branch, arms, variables);
    append_variables(*choice->else_branch, arms, variables);
  } else {
    const auto& let = std::get<Let>(expr.node);
    const auto at = std::find_if(
        let.bindings.begin(), let.bindings.end(),
        [&](const Binding& binding) { return arms.ends.contains(binding.value.get()); });
    std::for_each(let.bindings.begin(), at, [&](const Binding& one) { append(*one.value); });
    append_variables(at == let.bindings.end() ? *let.body : *at->value, arms, variables);
  }
  // Those that the expression binds itself are not known outside.
  const std::vector<const Local*>& free = compiler_.free_variables().of(expr);
  std::erase_if(variables, [&](const Local* local) { return !contains(free, local); });
}

}  // namespace neslc
