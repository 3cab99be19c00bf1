// Conditionals whose arms all end in a call of one function that calls itself:
//
//   if v[m] < x then search(v, x, m + 1, high) else search(v, x, low, m)
//
// In lifted code each arm runs on the instances that take it, so that there would be two calls, of
// half as many instances each, and 2^d of them in a recursion of depth d. Here the arms choose the
// arguments, and one call goes on for all instances.
#include <algorithm>

#include "neslc/flatten/effects.hpp"
#include "neslc/flatten/flattener.hpp"
#include "neslc/flatten/streams.hpp"
#include "neslc/front/free_variables.hpp"

namespace neslc {
namespace {

/// Appends the calls that the expression ends in. False if it may end in anything else.
bool append_tails(const Expr& expr, std::vector<const Expr*>& tails) {
  if (const auto* let = std::get_if<Let>(&expr.node)) return append_tails(*let->body, tails);
  if (const auto* choice = std::get_if<If>(&expr.node)) {
    return append_tails(*choice->then_branch, tails) && append_tails(*choice->else_branch, tails);
  }
  tails.push_back(&expr);
  return named_callee(expr) != nullptr && have_same_callee(expr, *tails[0]);
}

}  // namespace

/// An argument that each of several calls has.
struct Flattener::TailArgument {
  std::vector<const Expr*> of_calls;
  std::vector<TailArgument> parts{};  // two, if all are pairs
  const Local* same = nullptr;        // the variable that all are

  TailArgument(std::vector<const Expr*> arguments, const Frame& frame)
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
  void append_chosen(std::vector<const TailArgument*>& chosen) const {
    if (parts.empty() && same == nullptr) chosen.push_back(this);
    for (const TailArgument& part : parts) part.append_chosen(chosen);
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

std::optional<Value> Flattener::tail_call(const Expr& expr, const Value& condition, Frame& frame,
                                          Context* context) {
  if (context->serial() || frame.definition == nullptr || in_both_arms_) return std::nullopt;
  std::vector<const Expr*> calls;
  if (!append_tails(expr, calls) || !may_be_joint(*calls[0], frame) ||
      compiler_.effects().of(expr, frame.instantiation)) {
    return std::nullopt;
  }
  std::vector<const Expr*> arguments;
  for (const Expr* call : calls) arguments.push_back(&argument_of(*call));
  const TailArgument argument(arguments, frame);
  std::vector<const TailArgument*> chosen;
  argument.append_chosen(chosen);
  if (chosen.empty()) return std::nullopt;
  ChosenParts parts;  // of each call
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (const TailArgument* part : chosen) parts[calls[i]].push_back(part->of_calls[i]);
  }
  // The condition has its value already.
  const Expr* const condition_expr = std::get<If>(expr.node).condition.get();
  frame.known[condition_expr] = condition;
  const Value values = chosen_parts(expr, parts, frame, context);
  frame.known.erase(condition_expr);
  std::size_t next = 0;
  const ir::Origin outer = std::exchange(b_.origin, {calls[0]->span, frame.scope});
  Value result = call(substituted(std::get<Call>(calls[0]->node).callee->type, frame),
                      Value::tuple({}), argument.value(values.parts, next, frame), context);
  b_.origin = outer;
  return result;
}

/// What is to be handed to the call that the expression ends in.
Value Flattener::chosen_parts(const Expr& expr, const ChosenParts& parts, Frame& frame,
                              Context* context) {
  if (const auto* let = std::get_if<Let>(&expr.node)) {
    for (const Binding& binding : let->bindings) {
      bind(*binding.pattern, expression(*binding.value, frame, context), frame);
    }
    return chosen_parts(*let->body, parts, frame, context);
  }
  if (const auto* choice = std::get_if<If>(&expr.node)) {
    const auto arm = [&](const Expr& branch) {
      std::vector<const Local*> variables;
      append_variables(branch, parts, variables);
      return arm_with(branch, variables, frame, context, [&](Frame& inner, Context* place) {
        return chosen_parts(branch, parts, inner, place);
      });
    };
    return conditional(expression(*choice->condition, frame, context), context,
                       arm(*choice->then_branch), arm(*choice->else_branch));
  }
  std::vector<Value> values;
  for (const Expr* part : parts.at(&expr)) values.push_back(expression(*part, frame, context));
  return Value::tuple(std::move(values));
}

/// Appends the variables that chosen_parts() needs.
void Flattener::append_variables(const Expr& expr, const ChosenParts& parts,
                                 std::vector<const Local*>& variables) {
  const auto append = [&](const Expr& part) {
    for (const Local* local : compiler_.free_variables().of(part)) {
      if (!contains(variables, local)) variables.push_back(local);
    }
  };
  if (const auto* let = std::get_if<Let>(&expr.node)) {
    for (const Binding& binding : let->bindings) append(*binding.value);
    append_variables(*let->body, parts, variables);
  } else if (const auto* choice = std::get_if<If>(&expr.node)) {
    append(*choice->condition);
    append_variables(*choice->then_branch, parts, variables);
    append_variables(*choice->else_branch, parts, variables);
  } else {
    for (const Expr* part : parts.at(&expr)) append(*part);
  }
  // Those that the expression binds itself are not known outside.
  const std::vector<const Local*>& free = compiler_.free_variables().of(expr);
  std::erase_if(variables, [&](const Local* local) { return !contains(free, local); });
}

}  // namespace neslc
