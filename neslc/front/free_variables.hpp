// Facts about typed expressions: their free variables, their size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "neslc/front/typed.hpp"

namespace neslc {

/// Calls `action` for each direct sub-expression.
template <class Action>
void for_each_child(const Expr& expr, const Action& action) {
  struct Visitor {
    const Action& action;
    void operator()(const Pair& node) const { action(*node.first), action(*node.second); }
    void operator()(const Call& node) const { action(*node.callee), action(*node.argument); }
    void operator()(const If& node) const {
      action(*node.condition), action(*node.then_branch), action(*node.else_branch);
    }
    void operator()(const Let& node) const {
      for (const Binding& binding : node.bindings) action(*binding.value);
      action(*node.body);
    }
    void operator()(const ApplyToEach& node) const {
      for (const Binding& generator : node.generators) action(*generator.value);
      action(*node.body);
      if (node.sieve) action(*node.sieve);
    }
    void operator()(const SequenceLiteral& node) const {
      for (const ExprPtr& element : node.elements) action(*element);
    }
    void operator()(const Partial& node) const { action(*node.function), action(*node.value); }
    void operator()(const Time& node) const { action(*node.body); }
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
  std::visit(Visitor{action}, expr.node);
}

/// Calls `visit` for the expression and what is below it, outermost first. `visit` says whether to
/// go below the expression that it is given, or to end.
enum class Visit : std::uint8_t { Below, Past, End };
template <class Action>
void for_each_expression(const Expr& expr, const Action& visit) {
  std::vector<const Expr*> pending = {&expr};
  while (!pending.empty()) {
    const Expr& next = *pending.back();
    pending.pop_back();
    const Visit wish = visit(next);
    if (wish == Visit::End) return;
    if (wish == Visit::Past) continue;
    for_each_child(next, [&](const Expr& child) { pending.push_back(&child); });
  }
}

/// Calls `visit` for what is evaluated once whenever the expression is.
template <class Action>
void for_each_unconditional(const Expr& expr, const Action& visit) {
  for_each_expression(expr, [&](const Expr& part) {
    if (visit(part) == Visit::Past) return Visit::Past;
    if (const auto* conditional = std::get_if<If>(&part.node)) {
      for_each_unconditional(*conditional->condition, visit);
      return Visit::Past;
    }
    if (const auto* each = std::get_if<ApplyToEach>(&part.node)) {
      for (const Binding& generator : each->generators) {
        for_each_unconditional(*generator.value, visit);
      }
      return Visit::Past;
    }
    return Visit::Below;
  });
}

class FreeVariables {
 public:
  /// The local variables that are free in the expression, each once, in order of first use.
  const std::vector<const Local*>& of(const Expr& expr);

 private:
  /// From those of the direct sub-expressions.
  std::vector<const Local*> found_in(const Expr& expr) const;

  std::unordered_map<const Expr*, std::vector<const Local*>> known_;
};

bool contains(const std::vector<const Local*>& locals, const Local* local);

/// The variable if the expression is one; else null.
const Local* local_of(const Expr& expr);
/// Is the expression the variable itself?
bool is_local(const Expr& expr, const Local* local);

/// Every variable that the pattern binds.
void append_locals(const Pattern& pattern, std::vector<const Local*>& locals);

/// The definitions that a body mentions outside of the arms of conditionals, lambdas included.
std::vector<const Definition*> mentioned_unconditionally(const Body& body);

/// Is everything that the expression has to do done when it calls the function, as in a loop? There
/// is no apply-to-each in it, either.
bool calls_last(const Expr& expr, const Definition& function);

/// Number of nodes.
int size_of(const Expr& expr);

/// What the expression calls by its name; null if it is no such call.
const GlobalRef* named_callee(const Expr& expr);
/// REQUIRES: it is one.
inline const Expr& argument_of(const Expr& named_call) {
  return *std::get<Call>(named_call.node).argument;
}
/// Do both call, by its name, the same function at the same types?
bool have_same_callee(const Expr& first, const Expr& second);

/// The argument if the expression calls, by its name, this primitive; else null.
const Expr* primitive_argument(const Expr& expr, std::string_view name);

/// The operands if the expression calls, by its name, this primitive of two arguments; else null.
const Pair* primitive_operands(const Expr& expr, std::string_view name);

/// The numbers of [start:end:step], each an expression; nothing for other expressions.
struct RangeParts {
  const Expr* start;
  const Expr* step;
  const Expr* end;
};
std::optional<RangeParts> range_parts(const Expr& expr);

/// Tells of which variables nothing but elements is read.
class IndexedVariables {
 public:
  /// Is the variable used only as the sequence of `v[i]`, `v -> i` and `#v`, here and by the
  /// functions that it is handed to?
  bool only_indexed(const Expr& expr, const Local* local);

 private:
  struct Use {
    const Expr* code;
    const Local* local;
    auto operator<=>(const Use&) const = default;
  };
  static bool scan(const Use& use, std::vector<Use>& handed_on);

  std::map<Use, bool> known_;
};

}  // namespace neslc
