#include "neslc/flatten/both_arms.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <variant>

#include "neslc/front/free_variables.hpp"

namespace neslc {
namespace {

/// Total as well, but too dear to be computed for nothing unless it keeps a kernel whole.
constexpr std::string_view kDear[] = {"sin",  "cos",  "tan",  "asin",         "acos",      "atan",
                                      "sinh", "cosh", "tanh", "machine.sqrt", "machine.ln"};
/// What one of those, or exp, counts for: about the time of so many other operations in a kernel.
constexpr int kDearSize = 8;

/// Of a[i], with its check and what keeps the index inside.
constexpr int kElementSize = 8;

/// Functions of this size are called once for both arms: it outweighs selecting the arguments.
constexpr int kSharedSize = 16;

constexpr std::string_view kConstants[] = {"machine.max_int", "machine.min_int"};

constexpr std::string_view kChecked[] = {"/", "rem", "runtime.check"};

template <std::size_t n>
bool is_one_of(const std::string_view (&names)[n], const Definition& definition) {
  return definition.is_primitive() &&
         std::find(std::begin(names), std::end(names), definition.name) != std::end(names);
}

bool is_dear(Compiler& compiler, const GlobalRef& callee) {
  const Definition& definition = *callee.definition;
  if (definition.is_primitive()) return definition.name == "exp" || is_one_of(kDear, definition);
  return definition.kind == DefinitionKind::Function && definition.body != nullptr &&
         !BothArms(compiler, kSharedSize, true, callee.instantiation)
              .fits(*definition.body->expression);
}

/// The calls of an arm that are made wherever the arm is taken.
std::vector<const Expr*> dear_calls(Compiler& compiler, const Expr& arm,
                                    const KnownExpressions& known,
                                    const std::function<bool(const Local*)>& is_known) {
  std::vector<const Expr*> result;
  for_each_expression(arm, [&](const Expr& expr) {
    if (std::holds_alternative<If>(expr.node) || known.contains(&expr)) return Visit::Past;
    const GlobalRef* const callee = named_callee(expr);
    if (callee == nullptr || !is_dear(compiler, *callee)) return Visit::Below;
    const Expr& argument = argument_of(expr);
    const std::vector<const Local*>& free = compiler.free_variables().of(argument);
    if (free.empty() || !std::all_of(free.begin(), free.end(), is_known) ||
        !is_scalar_type(argument.type)) {
      return Visit::Below;
    }
    result.push_back(&expr);
    return Visit::Past;
  });
  return result;
}

}  // namespace

std::vector<SharedCall> shared_calls(Compiler& compiler, const If& conditional,
                                     const KnownExpressions& known,
                                     const std::function<bool(const Local*)>& is_known) {
  std::vector<SharedCall> result;
  std::vector<const Expr*> others = dear_calls(compiler, *conditional.else_branch, known, is_known);
  for (const Expr* call : dear_calls(compiler, *conditional.then_branch, known, is_known)) {
    const auto same = std::find_if(others.begin(), others.end(), [&](const Expr* other) {
      return have_same_callee(*other, *call);
    });
    if (same == others.end()) continue;
    result.push_back({call, *same});
    others.erase(same);
  }
  return result;
}

bool is_total_scalar_operation(const Definition& definition) {
  static constexpr std::string_view kNames[] = {
      "not",   "and",   "or",        "xor",       "==",     "/=",     "<",     ">",     "<=",
      ">=",    "+",     "-",         "*",         "negate", "btoi",   "float", "floor", "ceil",
      "trunc", "round", "char_code", "code_char", "lshift", "rshift", "exp"};
  return is_one_of(kNames, definition) || is_one_of(kConstants, definition);
}

bool BothArms::fits(const Expr& arm) {
  struct Visitor {
    BothArms& self;
    TypePtr type;
    bool operator()(const IntLiteral&) const { return true; }
    bool operator()(const FloatLiteral&) const { return true; }
    bool operator()(const CharLiteral&) const { return true; }
    bool operator()(const BoolLiteral&) const { return true; }
    bool operator()(const StringLiteral&) const { return self.with_checks_; }
    bool operator()(const LocalRef&) const { return true; }
    bool operator()(const Pair& node) const {
      return self.fits(*node.first) && self.fits(*node.second);
    }
    bool operator()(const If& node) const {
      return self.fits(*node.condition) && self.fits(*node.then_branch) &&
             self.fits(*node.else_branch);
    }
    bool operator()(const Let& node) const {
      if (!node.field && !self.with_checks_) return false;
      return std::all_of(node.bindings.begin(), node.bindings.end(),
                         [&](const Binding& binding) { return self.fits(*binding.value); }) &&
             (node.field || self.fits(*node.body));
    }
    bool operator()(const Call& node) const { return self.call_fits(node, type); }
    bool operator()(const GlobalRef& node) const { return self.global_fits(node); }
    bool operator()(const ApplyToEach&) const { return false; }
    bool operator()(const SequenceLiteral&) const { return false; }
    bool operator()(const EmptySequence&) const { return false; }
    bool operator()(const LambdaRef&) const { return false; }
    bool operator()(const Partial&) const { return false; }
    bool operator()(const Time&) const { return false; }
  };
  if (known_ != nullptr && known_->contains(&arm)) return takes(1);
  return takes(1) && std::visit(Visitor{*this, arm.type}, arm.node);
}

bool BothArms::call_fits(const Call& call, TypePtr result) {
  const auto* callee = std::get_if<GlobalRef>(&call.callee->node);
  if (callee == nullptr) return false;
  const Definition& definition = *callee->definition;
  if (is_total_scalar_operation(definition)) {
    const bool dear = with_checks_ && definition.name == "exp";
    return takes(dear ? kDearSize : 0) && fits(*call.argument);
  }
  if (!with_checks_ || definition.serial_only) return false;
  if (is_one_of(kDear, definition)) return takes(kDearSize) && fits(*call.argument);
  if (is_one_of(kChecked, definition)) {
    may_fail_ = true;
    return fits(*call.argument);
  }
  if (definition.is_primitive()) {
    if (definition.name == "elt") {
      const auto* operands = std::get_if<Pair>(&call.argument->node);
      return operands != nullptr && element_fits(*operands) &&
             is_scalar_type(compiler_.types().substitute(result, instantiation_));
    }
    if (definition.name == "length") return is_variable(*call.argument);
    return definition.name == "select" && fits(*call.argument);
  }
  if (definition.kind == DefinitionKind::Constructor) return fits(*call.argument);
  // Its size ends the recursion of a function that calls itself.
  return definition.kind == DefinitionKind::Function && definition.body != nullptr &&
         compiler_.observed(&definition) == nullptr && fits(*call.argument) && body_fits(*callee);
}

bool BothArms::body_fits(const GlobalRef& callee) {
  Types inner;
  for (const TypePtr type : callee.instantiation) {
    inner.push_back(compiler_.types().substitute(type, instantiation_));
  }
  const Types outer = std::exchange(instantiation_, std::move(inner));
  const bool result = fits(*callee.definition->body->expression);
  instantiation_ = outer;
  return result;
}

/// a[i], where a may be an element itself.
bool BothArms::element_fits(const Pair& operands) {
  may_fail_ = true;
  if (!takes(kElementSize) || !fits(*operands.second)) return false;
  const Pair* const outer = primitive_operands(*operands.first, "elt");
  return outer != nullptr ? element_fits(*outer) : is_variable(*operands.first);
}

/// A variable of the top level: what has no value yet, as a literal that was given a name, is
/// evaluated in its place.
bool BothArms::global_fits(const GlobalRef& global) {
  const Definition& definition = *global.definition;
  return has_value(definition) || (definition.kind == DefinitionKind::Variable &&
                                   definition.body != nullptr && body_fits(global));
}

bool BothArms::has_value(const Definition& definition) const {
  return definition.kind == DefinitionKind::Variable && compiler_.first_component(definition) >= 0;
}

/// A variable whose value is there, taken or not?
bool BothArms::is_variable(const Expr& expr) const {
  if (std::holds_alternative<LocalRef>(expr.node)) return true;
  const auto* global = std::get_if<GlobalRef>(&expr.node);
  return global != nullptr && has_value(*global->definition);
}

}  // namespace neslc
