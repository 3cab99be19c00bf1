// Conditionals of scalars, both arms of which are computed, and the result selected.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "neslc/flatten/compiler.hpp"
#include "neslc/flatten/value.hpp"
#include "neslc/front/typed.hpp"

namespace neslc {

/// Expressions that have been evaluated, and their values.
using KnownExpressions = std::unordered_map<const Expr*, Value>;

/// Looks at what the arms of a conditional consist of. Arms that do nothing but a little arithmetic
/// can be computed where they are not taken, too. In programs that are optimized that may be more,
/// functions of scalars, which take the place of their calls, elements of sequences, and operations
/// with checks, which are guarded by the condition (Flattener::check).
class BothArms {
 public:
  using Types = std::vector<TypePtr>;

  /// `most`: how large all arms may be together; `instantiation`: what the variables in their types
  /// stand for; `known`: expressions that have been evaluated.
  BothArms(Compiler& compiler, int most, bool with_checks, const Types& instantiation = {},
           const KnownExpressions* known = nullptr)
      : compiler_(compiler),
        left_(most),
        with_checks_(with_checks),
        instantiation_(instantiation),
        known_(known) {}

  /// Can this arm be computed, too?
  bool fits(const Expr& arm);
  /// Are there checks in what fits?
  bool may_fail() const { return may_fail_; }

 private:
  bool call_fits(const Call& call, TypePtr result);
  bool body_fits(const GlobalRef& callee);
  bool element_fits(const Pair& operands);
  bool global_fits(const GlobalRef& global);
  bool has_value(const Definition& definition) const;
  bool is_variable(const Expr& expr) const;
  bool takes(int size) { return (left_ -= size) >= 0; }

  Compiler& compiler_;
  int left_;
  bool with_checks_;
  Types instantiation_;
  const KnownExpressions* known_;
  bool may_fail_ = false;
};

/// Calls of the same function, one in each arm.
struct SharedCall {
  const Expr* in_then;
  const Expr* in_else;
};
/// The calls that need not be made twice where both arms are computed: of dear functions, with
/// arguments that need nothing but what `is_known` holds for. REQUIRES: both arms fit.
std::vector<SharedCall> shared_calls(Compiler& compiler, const If& conditional,
                                     const KnownExpressions& known,
                                     const std::function<bool(const Local*)>& is_known);

/// Operations on scalars that cannot fail.
bool is_total_scalar_operation(const Definition& definition);

}  // namespace neslc
