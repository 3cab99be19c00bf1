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

/// Appends the direct sub-expressions, in the order of the text.
void append_children(const Expr& expr, std::vector<const Expr*>& children);
/// The same as a list of their own.
std::vector<const Expr*> children_of(const Expr& expr);

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
    append_children(next, pending);
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
/// Is the last that some of its branches do a call of the function?
bool may_end_with_call(const Expr& expr, const Definition& function);

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
/// What the expression is an element of, if it is one: v of v[i][j].
const Expr& indexed_sequence(const Expr& expr);

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
