#include "neslc/free_variables.hpp"

#include <algorithm>

#include "neslc/session.hpp"

namespace neslc {
namespace {

void add(std::vector<const Local*>& to, const Local* local) {
  if (std::find(to.begin(), to.end(), local) == to.end()) to.push_back(local);
}

bool contains(const std::vector<const Local*>& locals, const Local* local) {
  return std::find(locals.begin(), locals.end(), local) != locals.end();
}

}  // namespace

void append_locals(const Pattern& pattern, std::vector<const Local*>& locals) {
  if (pattern.kind == Pattern::Kind::Variable) locals.push_back(pattern.local);
  if (pattern.first) append_locals(*pattern.first, locals);
  if (pattern.second) append_locals(*pattern.second, locals);
}

const std::vector<const Local*>& FreeVariables::of(const Expr& expr) {
  if (const auto found = known_.find(&expr); found != known_.end()) return found->second;
  std::vector<const Local*> result;
  std::vector<const Local*> bound;
  if (const auto* reference = std::get_if<LocalRef>(&expr.node)) result = {reference->local};
  if (const auto* lambda = std::get_if<LambdaRef>(&expr.node)) result = lambda->lambda->captures;
  if (const auto* let = std::get_if<Let>(&expr.node)) {
    for (const Binding& binding : let->bindings) append_locals(*binding.pattern, bound);
  }
  if (const auto* each = std::get_if<ApplyToEach>(&expr.node)) {
    for (const Binding& generator : each->generators) append_locals(*generator.pattern, bound);
  }
  // Every binding has its own Local: a bound one cannot occur outside of its scope.
  for_each_child(expr, [&](const Expr& child) {
    for (const Local* local : of(child)) {
      if (!contains(bound, local)) add(result, local);
    }
  });
  return known_[&expr] = std::move(result);
}

int size_of(const Expr& expr) {
  int size = 1;
  if (const auto* lambda = std::get_if<LambdaRef>(&expr.node))
    size += size_of(*lambda->lambda->body);
  for_each_child(expr, [&](const Expr& child) { size += size_of(child); });
  return size;
}

namespace {

void append_mentioned(const Expr& expr, std::vector<const Definition*>& result) {
  if (const auto* reference = std::get_if<GlobalRef>(&expr.node)) {
    result.push_back(reference->definition);
  }
  if (const auto* lambda = std::get_if<LambdaRef>(&expr.node)) {
    append_mentioned(*lambda->lambda->body, result);
  }
  if (const auto* node = std::get_if<If>(&expr.node)) {
    append_mentioned(*node->condition, result);
    return;
  }
  for_each_child(expr, [&](const Expr& child) { append_mentioned(child, result); });
}

}  // namespace

std::vector<const Definition*> mentioned_unconditionally(const Body& body) {
  std::vector<const Definition*> result;
  append_mentioned(*body.expression, result);
  return result;
}

bool only_indexed(const Expr& expr, const Local* local) {
  if (const auto* reference = std::get_if<LocalRef>(&expr.node)) return reference->local != local;
  if (const auto* lambda = std::get_if<LambdaRef>(&expr.node)) {
    return !contains(lambda->lambda->captures, local);
  }
  if (const auto* call = std::get_if<Call>(&expr.node)) {
    const auto* callee = std::get_if<GlobalRef>(&call->callee->node);
    if (callee != nullptr && callee->definition->is_primitive()) {
      const std::string& name = callee->definition->name;
      const auto is_local = [&](const Expr& operand) {
        const auto* reference = std::get_if<LocalRef>(&operand.node);
        return reference != nullptr && reference->local == local;
      };
      if (name == "length" && is_local(*call->argument)) return true;
      if (name == "elt" || name == "read") {
        const auto* operands = std::get_if<Pair>(&call->argument->node);
        if (operands != nullptr && is_local(*operands->first)) {
          return only_indexed(*operands->second, local);
        }
      }
    }
  }
  bool result = true;
  for_each_child(expr, [&](const Expr& child) { result = result && only_indexed(child, local); });
  return result;
}

}  // namespace neslc
