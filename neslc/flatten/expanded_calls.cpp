#include "neslc/flatten/expanded_calls.hpp"

#include <algorithm>
#include <utility>

#include "neslc/flatten/compiler.hpp"
#include "neslc/front/free_variables.hpp"
#include "neslc/front/session.hpp"

namespace neslc {
namespace {

/// Does it cost nothing to compute it again, and cannot fail?
bool is_at_hand(const Expr& expr) {
  if (const auto* pair = std::get_if<Pair>(&expr.node)) {
    return is_at_hand(*pair->first) && is_at_hand(*pair->second);
  }
  if (const Expr* sequence = primitive_argument(expr, "length")) return is_at_hand(*sequence);
  const auto* global = std::get_if<GlobalRef>(&expr.node);
  return std::holds_alternative<LocalRef>(expr.node) ||
         std::holds_alternative<IntLiteral>(expr.node) ||
         (global != nullptr && global->definition->kind == DefinitionKind::Variable);
}

/// May what is read of a variable be the value itself? Not if it is large: variables of variables
/// would grow with each of them.
bool may_replace_variable(const Expr& value) {
  constexpr int kMost = 16;
  return is_at_hand(value) && size_of(value) <= kMost;
}

/// The operands of a sum or difference; null for other expressions.
const Pair* sum_operands(const Expr& expr) {
  const Pair* const operands = primitive_operands(expr, "+");
  return operands != nullptr ? operands : primitive_operands(expr, "-");
}

/// Is it one of the variables, or such a one plus or minus something?
bool is_near(const Expr& index, const std::vector<const Local*>& locals) {
  const auto is_one = [&](const Expr& expr) { return contains(locals, local_of(expr)); };
  if (is_one(index)) return true;
  const Pair* const operands = sum_operands(index);
  return operands != nullptr && (is_one(*operands->first) || is_one(*operands->second));
}

/// v[i] or v[i + k], of which all is at hand?
bool is_element_at_hand(const Expr& expr) {
  const Pair* const element = primitive_operands(expr, "elt");
  if (element == nullptr || !is_at_hand(*element->first)) return false;
  const Pair* const sum = sum_operands(*element->second);
  return sum == nullptr ? is_at_hand(*element->second)
                        : is_at_hand(*sum->first) && is_at_hand(*sum->second);
}

/// Is some `local[...]` evaluated whenever the code is?
bool is_indexed_unconditionally(const Expr& code, const Local* local) {
  bool result = false;
  for_each_unconditional(code, [&](const Expr& part) {
    const Pair* const element = primitive_operands(part, "elt");
    result = result || (element != nullptr && is_local(*element->first, local));
    return Visit::Below;
  });
  return result;
}

}  // namespace

/// Copies code, with calls inside of loops expanded. That of a function that is put in the place of
/// a call gets variables of its own, and the types that the call has.
class ExpandingCopier {
 public:
  explicit ExpandingCopier(ExpandedCalls& owner) : owner_(owner) {}

  ExprPtr copy(const Expr& expr) {
    // Chains of operators, of any length, without recursion.
    std::vector<const Expr*> chain;
    const Expr* innermost = &expr;
    while (const Expr* first = first_operand(*innermost)) {
      chain.push_back(innermost);
      innermost = first;
    }
    ExprPtr result = copy_one(*innermost);
    for (auto outer = chain.rbegin(); outer != chain.rend(); ++outer) {
      const auto& call = std::get<Call>((*outer)->node);
      const auto& operands = std::get<Pair>(call.argument->node);
      ExprPtr argument = made(*call.argument, Pair{std::move(result), copy(*operands.second)});
      result = made(**outer, Call{copy(*call.callee), std::move(argument)});
    }
    return result;
  }

 private:
  ExpandingCopier(ExpandedCalls& owner, std::vector<TypePtr> instantiation, const InlinedCall& call)
      : owner_(owner), instantiation_(std::move(instantiation)), call_(&call), in_loop_(true) {}

  const Expr* first_operand(const Expr& expr) const {
    const GlobalRef* const callee = named_callee(expr);
    if (callee == nullptr || !callee->definition->is_primitive()) return nullptr;
    const auto* operands = std::get_if<Pair>(&argument_of(expr).node);
    return operands == nullptr ? nullptr : operands->first.get();
  }

  template <class Node>
  ExprPtr made(const Expr& original, Node node) {
    auto result = std::make_unique<Expr>();
    result->type = type(original.type);
    result->span = original.span;
    result->inlined = call_ != nullptr ? call_ : original.inlined;
    result->node = std::move(node);
    return result;
  }

  TypePtr type(TypePtr original) {
    return call_ == nullptr ? original
                            : owner_.compiler_.types().substitute(original, instantiation_);
  }
  std::vector<TypePtr> types(std::vector<TypePtr> originals) {
    for (TypePtr& one : originals) one = type(one);
    return originals;
  }

  const Local* local(const Local* original) {
    if (call_ == nullptr) return original;
    const Local*& own = locals_[original];
    if (own == nullptr) {
      owner_.locals_.push_back(std::make_unique<Local>(*original));
      owner_.locals_.back()->type = type(original->type);
      own = owner_.locals_.back().get();
    }
    return own;
  }

  PatternPtr copy(const Pattern& pattern) {
    auto result = std::make_unique<Pattern>();
    result->kind = pattern.kind;
    result->type = type(pattern.type);
    result->span = pattern.span;
    if (pattern.local != nullptr) result->local = local(pattern.local);
    if (pattern.first) result->first = copy(*pattern.first);
    if (pattern.second) result->second = copy(*pattern.second);
    return result;
  }
  std::vector<Binding> copy(const std::vector<Binding>& bindings) {
    std::vector<Binding> result;
    for (const Binding& binding : bindings) {
      ExprPtr value = copy(*binding.value);
      result.push_back({copy(*binding.pattern), std::move(value)});
    }
    return result;
  }

  ExprPtr copy_one(const Expr& expr) {
    if (in_loop_ && owner_.is_expanded(expr)) return expanded(expr);
    struct Visitor {
      ExpandingCopier& self;
      const Expr& expr;

      ExprPtr operator()(const IntLiteral& node) { return self.made(expr, node); }
      ExprPtr operator()(const FloatLiteral& node) { return self.made(expr, node); }
      ExprPtr operator()(const CharLiteral& node) { return self.made(expr, node); }
      ExprPtr operator()(const StringLiteral& node) { return self.made(expr, node); }
      ExprPtr operator()(const BoolLiteral& node) { return self.made(expr, node); }
      ExprPtr operator()(const EmptySequence& node) { return self.made(expr, node); }
      ExprPtr operator()(const LambdaRef& node) { return self.made(expr, node); }
      ExprPtr operator()(const LocalRef& node) { return self.variable(expr, node); }
      ExprPtr operator()(const GlobalRef& node) {
        return self.made(expr, GlobalRef{node.definition, self.types(node.instantiation)});
      }
      ExprPtr operator()(const Pair& node) {
        ExprPtr first = self.copy(*node.first);
        return self.made(expr, Pair{std::move(first), self.copy(*node.second)});
      }
      ExprPtr operator()(const Call& node) {
        ExprPtr callee = self.copy(*node.callee);
        return self.made(expr, Call{std::move(callee), self.copy(*node.argument)});
      }
      ExprPtr operator()(const If& node) {
        ExprPtr condition = self.copy(*node.condition);
        ExprPtr then_branch = self.copy(*node.then_branch);
        return self.made(
            expr, If{std::move(condition), std::move(then_branch), self.copy(*node.else_branch)});
      }
      ExprPtr operator()(const Let& node) { return self.copy_let(expr, node); }
      ExprPtr operator()(const ApplyToEach& node) {
        std::vector<Binding> generators = self.copy(node.generators);
        const bool outer = std::exchange(self.in_loop_, true);
        ExprPtr body = self.copy(*node.body);
        ExprPtr sieve = node.sieve ? self.copy(*node.sieve) : nullptr;
        self.in_loop_ = outer;
        return self.made(expr,
                         ApplyToEach{std::move(body), std::move(generators), std::move(sieve)});
      }
      ExprPtr operator()(const SequenceLiteral& node) {
        SequenceLiteral result;
        for (const ExprPtr& element : node.elements) {
          result.elements.push_back(self.copy(*element));
        }
        return self.made(expr, std::move(result));
      }
      ExprPtr operator()(const Partial& node) {
        ExprPtr function = self.copy(*node.function);
        return self.made(expr, Partial{std::move(function), self.copy(*node.value)});
      }
      ExprPtr operator()(const Time& node) { return self.made(expr, Time{self.copy(*node.body)}); }
    };
    return std::visit(Visitor{*this, expr}, expr.node);
  }

  /// A copy of what stands for a variable, or for a part of it.
  ExprPtr same(const Expr& value) const { return ExpandingCopier(owner_).copy(value); }

  ExprPtr variable(const Expr& expr, const LocalRef& node) {
    const auto found = values_.find(node.local);
    return found != values_.end() ? same(*found->second) : made(expr, LocalRef{local(node.local)});
  }

  /// What a function gives a name is put in the place of that, too: its code is not looked at while
  /// it runs.
  ExprPtr copy_let(const Expr& expr, const Let& node) {
    std::vector<Binding> bindings;
    for (const Binding& binding : node.bindings) {
      ExprPtr value = copy(*binding.value);
      const bool named = call_ == nullptr || !replace(*binding.pattern, *value, expr);
      if (named) bindings.push_back({copy(*binding.pattern), std::move(value)});
    }
    ExprPtr body = copy(*node.body);
    return bindings.empty() ? std::move(body)
                            : made(expr, Let{std::move(bindings), std::move(body), node.field});
  }

  /// False if the value is to have its name.
  bool replace(const Pattern& pattern, const Expr& value, const Expr& let) {
    const bool is_row = is_element_at_hand(value) && is_indexed(pattern, let);
    if (!is_row && !may_replace_variable(value)) return false;
    if (!fits(pattern, value)) return false;
    replace_parts(pattern, value);
    return true;
  }

  /// Are only elements of it read, and one of them in any case?
  bool is_indexed(const Pattern& pattern, const Expr& let) {
    return pattern.kind == Pattern::Kind::Variable &&
           owner_.compiler_.indexed_variables().only_indexed(let, pattern.local) &&
           is_indexed_unconditionally(let, pattern.local);
  }

  /// Does each variable of the pattern stand for a part of the value?
  static bool fits(const Pattern& pattern, const Expr& value) {
    if (pattern.kind != Pattern::Kind::Pair) return pattern.kind == Pattern::Kind::Variable;
    const auto* pair = std::get_if<Pair>(&value.node);
    return pair != nullptr && fits(*pattern.first, *pair->first) &&
           fits(*pattern.second, *pair->second);
  }
  void replace_parts(const Pattern& pattern, const Expr& value) {
    if (pattern.kind == Pattern::Kind::Variable) {
      values_[pattern.local] = same(value);
      return;
    }
    const auto& pair = std::get<Pair>(value.node);
    replace_parts(*pattern.first, *pair.first);
    replace_parts(*pattern.second, *pair.second);
  }

  /// The code of the function that the call names.
  ExprPtr expanded(const Expr& call) {
    const GlobalRef& callee = *named_callee(call);
    const Body& body = *callee.definition->body;
    owner_.calls_.push_back({callee.definition, call.span, call_});
    ExpandingCopier inner(owner_, types(callee.instantiation), owner_.calls_.back());
    std::vector<Binding> bindings;
    bind(*body.parameter, argument_of(call), inner, bindings);
    ExprPtr code = inner.copy(*body.expression);
    return bindings.empty() ? std::move(code)
                            : made(call, Let{std::move(bindings), std::move(code)});
  }

  /// Arguments that are at hand are put in the place of the parameters, others get their names.
  void bind(const Pattern& parameter, const Expr& argument, ExpandingCopier& inner,
            std::vector<Binding>& bindings) {
    const auto* pair = std::get_if<Pair>(&argument.node);
    if (parameter.kind == Pattern::Kind::Pair && pair != nullptr) {
      bind(*parameter.first, *pair->first, inner, bindings);
      bind(*parameter.second, *pair->second, inner, bindings);
      return;
    }
    ExprPtr value = copy(argument);
    if (parameter.kind == Pattern::Kind::Variable && may_replace_variable(*value)) {
      inner.values_[parameter.local] = std::move(value);
    } else {
      bindings.push_back({inner.copy(parameter), std::move(value)});
    }
  }

  ExpandedCalls& owner_;
  std::vector<TypePtr> instantiation_;
  const InlinedCall* call_ = nullptr;  // null: of the code itself
  bool in_loop_ = false;
  std::unordered_map<const Local*, const Local*> locals_;
  std::unordered_map<const Local*, ExprPtr> values_;  // that variables are replaced by
};

const Expr& ExpandedCalls::of(const Expr& code) {
  const auto [known, is_new] = known_.try_emplace(&code, &code);
  if (is_new && has_calls_in_loops(code)) {
    copies_.push_back(ExpandingCopier(*this).copy(code));
    known->second = copies_.back().get();
  }
  return *known->second;
}

bool ExpandedCalls::has_calls_in_loops(const Expr& code) {
  bool result = false;
  const auto look = [&](const Expr& part) {
    result = result || is_expanded(part);
    return result ? Visit::End : Visit::Below;
  };
  for_each_expression(code, [&](const Expr& part) {
    const auto* each = std::get_if<ApplyToEach>(&part.node);
    if (each == nullptr) return result ? Visit::End : Visit::Below;
    for (const Binding& generator : each->generators) {
      result = result || has_calls_in_loops(*generator.value);
    }
    for_each_expression(*each->body, look);
    if (each->sieve) for_each_expression(*each->sieve, look);
    return result ? Visit::End : Visit::Past;
  });
  return result;
}

bool ExpandedCalls::is_expanded(const Expr& expr) {
  const GlobalRef* const callee = named_callee(expr);
  return callee != nullptr && reads_by_parameter(*callee->definition);
}

/// Is it a small function that reads elements at places that it is given, or gives names to?
bool ExpandedCalls::reads_by_parameter(const Definition& function) {
  if (function.kind != DefinitionKind::Function || !function.body) return false;
  if (const auto found = reads_.find(&function); found != reads_.end()) return found->second;
  Version version;
  version.definition = &function;
  bool result = false;
  if (!function.serial_only && compiler_.observed(&function) == nullptr &&
      !contains_stream(function.scheme.type) && compiler_.inline_call(version)) {
    std::vector<const Local*> places;
    append_locals(*function.body->parameter, places);
    for_each_expression(*function.body->expression, [&](const Expr& part) {
      if (std::holds_alternative<LambdaRef>(part.node)) {
        result = false;
        return Visit::End;
      }
      if (const auto* let = std::get_if<Let>(&part.node)) {
        for (const Binding& binding : let->bindings) append_locals(*binding.pattern, places);
      }
      const Pair* const element = primitive_operands(part, "elt");
      result =
          result || is_expanded(part) || (element != nullptr && is_near(*element->second, places));
      return Visit::Below;
    });
  }
  return reads_[&function] = result;
}

}  // namespace neslc
