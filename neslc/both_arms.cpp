#include "neslc/both_arms.hpp"

#include <algorithm>
#include <iterator>
#include <variant>

namespace neslc {
namespace {

/// Total as well, but too dear to be computed for nothing unless it keeps a kernel whole.
constexpr std::string_view kDear[] = {"sin",  "cos",  "tan",  "asin",         "acos",      "atan",
                                      "sinh", "cosh", "tanh", "machine.sqrt", "machine.ln"};
/// What one of those, or exp, counts for: about the time of so many other operations in a kernel.
constexpr int kDearSize = 8;

constexpr std::string_view kChecked[] = {"/", "rem", "runtime.check"};

template <std::size_t n>
bool is_one_of(const std::string_view (&names)[n], const Definition& definition) {
  return definition.is_primitive() &&
         std::find(std::begin(names), std::end(names), definition.name) != std::end(names);
}

}  // namespace

bool is_total_scalar_operation(const Definition& definition) {
  static constexpr std::string_view kNames[] = {
      "not",   "and",   "or",        "xor",       "==",     "/=",     "<",     ">",     "<=",
      ">=",    "+",     "-",         "*",         "negate", "btoi",   "float", "floor", "ceil",
      "trunc", "round", "char_code", "code_char", "lshift", "rshift", "exp"};
  return is_one_of(kNames, definition);
}

bool BothArms::fits(const Expr& arm) {
  struct Visitor {
    BothArms& self;
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
    bool operator()(const Call& node) const { return self.call_fits(node); }
    bool operator()(const GlobalRef&) const { return false; }
    bool operator()(const ApplyToEach&) const { return false; }
    bool operator()(const SequenceLiteral&) const { return false; }
    bool operator()(const EmptySequence&) const { return false; }
    bool operator()(const LambdaRef&) const { return false; }
    bool operator()(const Partial&) const { return false; }
    bool operator()(const Time&) const { return false; }
  };
  return takes(1) && std::visit(Visitor{*this}, arm.node);
}

bool BothArms::call_fits(const Call& call) {
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
  if (definition.is_primitive()) return definition.name == "select" && fits(*call.argument);
  if (definition.kind == DefinitionKind::Constructor) return fits(*call.argument);
  // Its size ends the recursion of a function that calls itself.
  return definition.kind == DefinitionKind::Function && definition.body != nullptr &&
         compiler_.observed(&definition) == nullptr && fits(*call.argument) &&
         fits(*definition.body->expression);
}

}  // namespace neslc
