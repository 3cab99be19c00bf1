#include "neslc/front/free_variables.hpp"

#include <algorithm>
#include <optional>

#include "neslc/front/session.hpp"

namespace neslc {
namespace {

void add(std::vector<const Local*>& to, const Local* local) {
  if (!contains(to, local)) to.push_back(local);
}

/// Takes in each node's direct sub-expressions.
struct ChildrenTaker {
  std::vector<const Expr*>& children;

  void take(const ExprPtr& child) const { children.push_back(child.get()); }
  void operator()(const Pair& node) const { take(node.first), take(node.second); }
  void operator()(const Call& node) const { take(node.callee), take(node.argument); }
  void operator()(const If& node) const {
    take(node.condition), take(node.then_branch), take(node.else_branch);
  }
  void operator()(const Let& node) const {
    for (const Binding& binding : node.bindings) take(binding.value);
    take(node.body);
  }
  void operator()(const ApplyToEach& node) const {
    for (const Binding& generator : node.generators) take(generator.value);
    take(node.body);
    if (node.sieve) take(node.sieve);
  }
  void operator()(const SequenceLiteral& node) const {
    for (const ExprPtr& element : node.elements) take(element);
  }
  void operator()(const Partial& node) const { take(node.function), take(node.value); }
  void operator()(const Time& node) const { take(node.body); }
  void operator()(const IntLiteral&) const {}
  void operator()(const FloatLiteral&) const {}
  void operator()(const CharLiteral&) const {}
  void operator()(const StringLiteral&) const {}
  void operator()(const BoolLiteral&) const {}
  void operator()(const LocalRef&) const {}
  void operator()(const GlobalRef&) const {}
  void operator()(const EmptySequence&) const {}
  void operator()(const LambdaRef&) const {}
};

}  // namespace

void append_children(const Expr& expr, std::vector<const Expr*>& children) {
  std::visit(ChildrenTaker{children}, expr.node);
}

std::vector<const Expr*> children_of(const Expr& expr) {
  std::vector<const Expr*> children;
  append_children(expr, children);
  return children;
}

bool contains(const std::vector<const Local*>& locals, const Local* local) {
  return std::find(locals.begin(), locals.end(), local) != locals.end();
}

const Local* local_of(const Expr& expr) {
  const auto* reference = std::get_if<LocalRef>(&expr.node);
  return reference == nullptr ? nullptr : reference->local;
}

bool is_local(const Expr& expr, const Local* local) {
  return local != nullptr && local_of(expr) == local;
}

void append_locals(const Pattern& pattern, std::vector<const Local*>& locals) {
  if (pattern.kind == Pattern::Kind::Variable) locals.push_back(pattern.local);
  if (pattern.first) append_locals(*pattern.first, locals);
  if (pattern.second) append_locals(*pattern.second, locals);
}

const std::vector<const Local*>& FreeVariables::of(const Expr& expr) {
  std::vector<const Expr*> pending = {&expr};
  while (!pending.empty()) {
    const Expr& next = *pending.back();
    const std::size_t waiting = pending.size();
    if (!known_.contains(&next)) {
      for (const Expr* child : children_of(next)) {
        if (!known_.contains(child)) pending.push_back(child);
      }
      if (pending.size() > waiting) continue;
      known_[&next] = found_in(next);
    }
    pending.pop_back();
  }
  return known_.at(&expr);
}

std::vector<const Local*> FreeVariables::found_in(const Expr& expr) const {
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
  for (const Expr* child : children_of(expr)) {
    for (const Local* local : known_.at(child)) {
      if (!contains(bound, local)) add(result, local);
    }
  }
  return result;
}

int size_of(const Expr& expr) {
  int size = 0;
  for_each_expression(expr, [&](const Expr& part) {
    ++size;
    if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
      size += size_of(*lambda->lambda->body);
    }
    return Visit::Below;
  });
  return size;
}

namespace {

void append_mentioned(const Expr& expr, std::vector<const Definition*>& result) {
  for_each_expression(expr, [&](const Expr& part) {
    if (const auto* reference = std::get_if<GlobalRef>(&part.node)) {
      result.push_back(reference->definition);
    }
    if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
      append_mentioned(*lambda->lambda->body, result);
    }
    const auto* conditional = std::get_if<If>(&part.node);
    if (conditional == nullptr) return Visit::Below;
    append_mentioned(*conditional->condition, result);
    return Visit::Past;
  });
}

}  // namespace

std::vector<const Definition*> mentioned_unconditionally(const Body& body) {
  std::vector<const Definition*> result;
  append_mentioned(*body.expression, result);
  return result;
}

bool calls_last(const Expr& expr, const Definition& function) {
  const auto computes_alone = [&](const Expr& part) {
    bool alone = true;
    for_each_expression(part, [&](const Expr& inner) {
      const auto* mentioned = std::get_if<GlobalRef>(&inner.node);
      alone = !std::holds_alternative<ApplyToEach>(inner.node) &&
              (mentioned == nullptr || mentioned->definition != &function);
      return alone ? Visit::Below : Visit::End;
    });
    return alone;
  };
  if (const auto* choice = std::get_if<If>(&expr.node)) {
    return computes_alone(*choice->condition) && calls_last(*choice->then_branch, function) &&
           calls_last(*choice->else_branch, function);
  }
  if (const auto* let = std::get_if<Let>(&expr.node)) {
    return std::all_of(let->bindings.begin(), let->bindings.end(),
                       [&](const auto& binding) { return computes_alone(*binding.value); }) &&
           calls_last(*let->body, function);
  }
  const GlobalRef* const callee = named_callee(expr);
  const bool calls = callee != nullptr && callee->definition == &function;
  return computes_alone(calls ? argument_of(expr) : expr);
}

bool may_end_with_call(const Expr& expr, const Definition& function) {
  if (const auto* choice = std::get_if<If>(&expr.node)) {
    return may_end_with_call(*choice->then_branch, function) ||
           may_end_with_call(*choice->else_branch, function);
  }
  if (const auto* let = std::get_if<Let>(&expr.node)) {
    return may_end_with_call(*let->body, function);
  }
  const GlobalRef* const callee = named_callee(expr);
  return callee != nullptr && callee->definition == &function;
}

const GlobalRef* named_callee(const Expr& expr) {
  const auto* call = std::get_if<Call>(&expr.node);
  return call == nullptr ? nullptr : std::get_if<GlobalRef>(&call->callee->node);
}

bool have_same_callee(const Expr& first, const Expr& second) {
  const GlobalRef& callee = *named_callee(first);
  const GlobalRef& other = *named_callee(second);
  return callee.definition == other.definition && callee.instantiation == other.instantiation;
}

const Expr* primitive_argument(const Expr& expr, std::string_view name) {
  const GlobalRef* const callee = named_callee(expr);
  const bool is_called =
      callee != nullptr && callee->definition->is_primitive() && callee->definition->name == name;
  return is_called ? &argument_of(expr) : nullptr;
}

namespace {

/// The position of `local[...]` or `local -> ...`, or nothing below a `#local`: what else such a
/// use of the variable depends on.
struct IndexedUse {
  const Expr* position = nullptr;
};
std::optional<IndexedUse> indexed_use(const Expr& expr, const Local* local) {
  const Expr* const measured = primitive_argument(expr, "length");
  if (measured != nullptr && is_local(*measured, local)) return IndexedUse();
  for (const char* name : {"elt", "read"}) {
    const Pair* const operands = primitive_operands(expr, name);
    if (operands != nullptr && is_local(*operands->first, local)) {
      return IndexedUse{operands->second.get()};
    }
  }
  return {};
}

}  // namespace

const Pair* primitive_operands(const Expr& expr, std::string_view name) {
  const Expr* const argument = primitive_argument(expr, name);
  return argument == nullptr ? nullptr : std::get_if<Pair>(&argument->node);
}

const Expr& indexed_sequence(const Expr& expr) {
  const Expr* sequence = &expr;
  while (const Pair* operands = primitive_operands(*sequence, "elt")) {
    sequence = operands->first.get();
  }
  return *sequence;
}

std::optional<RangeParts> range_parts(const Expr& expr) {
  const Pair* const operands = primitive_operands(expr, "iseq");
  const auto* rest = operands == nullptr ? nullptr : std::get_if<Pair>(&operands->second->node);
  if (rest == nullptr) return std::nullopt;
  return RangeParts{operands->first.get(), rest->first.get(), rest->second.get()};
}

namespace {

/// Calls `pass(variable, part)` for the parts of an argument that have a variable of their own in
/// the parameter, and pass(null, part) for others.
template <class Action>
void for_each_argument(const Pattern& parameter, const Expr& argument, const Action& pass) {
  const auto* pair = std::get_if<Pair>(&argument.node);
  switch (parameter.kind) {
    case Pattern::Kind::Variable:
      return pass(parameter.local, argument);
    case Pattern::Kind::Record:
      return pass(nullptr, argument);
    case Pattern::Kind::Pair:
      if (pair == nullptr) return pass(nullptr, argument);
      for_each_argument(*parameter.first, *pair->first, pass);
      for_each_argument(*parameter.second, *pair->second, pass);
  }
}

}  // namespace

/// Whether only elements are read by the code itself, and what it hands the variable to.
bool IndexedVariables::scan(const Use& use, std::vector<Use>& handed_on) {
  bool result = true;
  std::vector<const Expr*> pending = {use.code};
  while (result && !pending.empty()) {
    const Expr& code = *pending.back();
    pending.pop_back();
    for_each_expression(code, [&](const Expr& part) {
      if (const auto indexed = indexed_use(part, use.local)) {
        if (indexed->position != nullptr) pending.push_back(indexed->position);
        return Visit::Past;
      }
      const GlobalRef* const callee = named_callee(part);
      if (callee != nullptr && callee->definition->body != nullptr) {
        const Body& body = *callee->definition->body;
        for_each_argument(*body.parameter, argument_of(part),
                          [&](const Local* parameter, const Expr& argument) {
                            if (parameter != nullptr && is_local(argument, use.local)) {
                              handed_on.push_back({body.expression.get(), parameter});
                            } else {
                              pending.push_back(&argument);
                            }
                          });
        return Visit::Past;
      }
      if (const auto* reference = std::get_if<LocalRef>(&part.node)) {
        result = reference->local != use.local;
      } else if (const auto* lambda = std::get_if<LambdaRef>(&part.node)) {
        result = !contains(lambda->lambda->captures, use.local);
      }
      return result ? Visit::Below : Visit::End;
    });
  }
  return result;
}

bool IndexedVariables::only_indexed(const Expr& expr, const Local* local) {
  const Use whole = {&expr, local};
  if (const auto found = known_.find(whole); found != known_.end()) return found->second;
  std::vector<Use> uses = {whole};
  bool result = true;
  for (std::size_t i = 0; i < uses.size() && result; ++i) {
    std::vector<Use> handed_on;
    result = scan(Use(uses[i]), handed_on);
    for (const Use& next : handed_on) {
      const auto found = known_.find(next);
      if (found != known_.end()) {
        result = result && found->second;
      } else if (std::find(uses.begin(), uses.end(), next) == uses.end()) {
        uses.push_back(next);
      }
    }
  }
  // Where all are read by elements only, so is each.
  if (result) {
    for (const Use& use : uses) known_[use] = true;
  }
  return known_[whole] = result;
}

}  // namespace neslc
