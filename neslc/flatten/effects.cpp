#include "neslc/flatten/effects.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <variant>
#include <vector>

#include "neslc/flatten/compiler.hpp"
#include "neslc/front/free_variables.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

bool prints(const Definition& primitive) {
  static const std::unordered_set<std::string_view> names = {
      "print_char", "print_string", "write_char", "write_object", "write_string", "machine.draw"};
  return names.contains(primitive.name);
}

bool Effects::of(const Expr& expr, const std::vector<TypePtr>& instantiation) {
  bool result = false;
  for_each_expression(expr, [&](const Expr& part) {
    if (const auto* global = std::get_if<GlobalRef>(&part.node)) {
      result = of_definition(*global->definition);
    } else if (const auto* local = std::get_if<LocalRef>(&part.node)) {
      result = of_values(compiler_.types().substitute(local->local->type, instantiation));
    } else if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
      result = of(*lambda->lambda->body, instantiation);
    } else {
      result = std::holds_alternative<Time>(part.node);
    }
    return result ? Visit::End : Visit::Below;
  });
  return result;
}

/// Of the functions that values of the type are made of.
bool Effects::of_values(TypePtr type) {
  switch (type->kind) {
    case TypeKind::Function:
      return of_values(type->identity());
    case TypeKind::FunctionIdentity:
      return of_definition(*type->function);
    case TypeKind::LambdaIdentity:
      return of(*type->lambda->body, type->arguments);
    default:
      return std::any_of(type->arguments.begin(), type->arguments.end(),
                         [&](TypePtr part) { return of_values(part); });
  }
}

/// Of all that it reaches: functions that it is given are mentioned where it is called. Computing
/// the value of a variable is over when that is used; it may be a function.
bool Effects::of_definition(const Definition& definition) {
  if (const auto found = known_.find(&definition); found != known_.end()) return found->second;
  // A function may use a variable that is this function: that adds nothing.
  if (!active_.insert(&definition).second) return false;
  std::unordered_set<const Definition*> seen = {&definition};
  std::vector<const Definition*> pending = {&definition};
  bool result = false;
  while (!pending.empty() && !result) {
    const Definition& next = *pending.back();
    pending.pop_back();
    if (next.kind == DefinitionKind::Variable) {
      result = of_values(next.scheme.type);
      continue;
    }
    result = next.serial_only || compiler_.observed(&next) != nullptr ||
             (next.is_primitive() && (prints(next) || next.name == "rand"));
    if (!next.body) continue;
    for (const Body::Reference& reference : next.body->references) {
      if (seen.insert(reference.definition).second) pending.push_back(reference.definition);
    }
  }
  active_.erase(&definition);
  if (active_.empty()) known_[&definition] = result;  // else some of it may have been left out
  return result;
}

}  // namespace neslc
