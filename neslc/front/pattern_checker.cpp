// Patterns: the variables that they bind, and their types.
#include <fmt/format.h>

#include "neslc/front/expression_checker.hpp"
#include "neslc/front/hints.hpp"
#include "vcode/keywords.hpp"

namespace neslc {

using Clash = Inference::Clash;
using TypedPattern = ExpressionChecker::TypedPattern;

const Local* ExpressionChecker::bind(const ast::Pattern& pattern) {
  if (pattern.kind == ast::Pattern::Kind::Constant || pattern.name == "time") {
    fail_reserved(pattern.name, pattern.span);
  }
  // In NESL 3.1 `_` is a variable like others, and may occur once.
  bool wildcard = false;
  for (std::size_t i = pattern_begin_; i < visible_.size(); ++i) {
    if (visible_[i].name != pattern.name) continue;
    if (pattern.name == "_" && pattern.kind == ast::Pattern::Kind::Name) {
      wildcard = visible_[i].wildcard = true;
    } else {
      fail(Category::Repeated, pattern.name, pattern.span,
           fmt::format("the variable `{}` occurs twice in one pattern", pattern.name),
           {{"it is bound here first", visible_[i].local->span}});
    }
  }
  const Local* const local = new_local(pattern.name, pattern.span);
  visible_.push_back({pattern.name, local, wildcard});
  return local;
}

const Local* ExpressionChecker::new_local(std::string name, Span span) {
  auto local = std::make_unique<Local>();
  local->name = std::move(name);
  local->span = default_span_ ? default_span_ : span;
  local->type = inference_.fresh();
  local->number = static_cast<std::uint32_t>(body_.locals.size());
  open_types_.push_back(&local->type);
  body_.locals.push_back(std::move(local));
  return body_.locals.back().get();
}

TypedPattern ExpressionChecker::pattern(const ast::Pattern& pattern, bool defaults_allowed) {
  pattern_begin_ = visible_.size();
  return pattern_below(pattern, defaults_allowed);
}

TypedPattern ExpressionChecker::pattern_below(const ast::Pattern& pattern, bool defaults_allowed) {
  auto typed = std::make_unique<Pattern>();
  switch (pattern.kind) {
    case ast::Pattern::Kind::Name:
    case ast::Pattern::Kind::Constant:
      typed->local = bind(pattern);
      typed->type = typed->local->type;
      break;
    case ast::Pattern::Kind::Default:
      if (!defaults_allowed) {
        fail(Category::Pattern, {}, pattern.span,
             "a default value is possible only for the last parameters of a function");
      }
      typed->local = bind(pattern);
      typed->type = typed->local->type;
      break;
    case ast::Pattern::Kind::Pair:
      typed->kind = Pattern::Kind::Pair;
      {
        const bool parameter =
            defaults_allowed && pattern.first->kind == ast::Pattern::Kind::Default;
        TypedPattern first = pattern_below(*pattern.first, parameter);
        TypedPattern second = pattern_below(*pattern.second, defaults_allowed);
        typed->type = inference_.pair(first->type, second->type);
        typed->first = std::move(first);
        typed->second = std::move(second);
      }
      break;
    case ast::Pattern::Kind::Record:
      typed = record_pattern(pattern);
      break;
    case ast::Pattern::Kind::Other:
      fail_left_side(pattern, false);
  }
  typed->span = default_span_ ? default_span_ : pattern.span;
  open_types_.push_back(&typed->type);
  return typed;
}

TypedPattern ExpressionChecker::record_pattern(const ast::Pattern& pattern) {
  const Datatype* datatype = session_.find_datatype(pattern.name);
  if (datatype == nullptr) {
    fail_left_side(pattern, false);
  }
  std::vector<TypePtr> arguments;
  for (TypeClass type_class : datatype->parameters) {
    arguments.push_back(inference_.fresh(type_class));
  }
  const TypePtr fields = inference_.instantiate(datatype->fields, arguments);
  TypedPattern below = pattern_below(*pattern.first, false);
  const Clash clash = inference_.unify(below->type, fields);
  if (clash != Clash::None) {
    fail_clash(clash, pattern.span,
               fmt::format("this pattern does not match the fields of `{}`", pattern.name),
               {{"the pattern", below->type, below->span},
                {fmt::format("what `{}` holds", pattern.name), fields, {}}});
  }
  auto typed = std::make_unique<Pattern>();
  typed->kind = Pattern::Kind::Record;
  typed->type = inference_.record(datatype, std::move(arguments));
  typed->first = std::move(below);
  return typed;
}

void ExpressionChecker::match(const Pattern& pattern, const Expr& value) {
  const Clash clash = inference_.unify(pattern.type, value.type);
  if (clash == Clash::None) return;
  fail_clash(clash, pattern.span, "this pattern does not match the value",
             {{"the pattern", pattern.type, pattern.span}, {"the value", value.type, value.span}});
}

// ---- What is not a pattern

namespace {

/// The name that a chain of calls begins with, as `def` in `def sq(x)`.
std::string_view first_name(const ast::Expr* expression) {
  while (true) {
    const auto* call = std::get_if<ast::Call>(&expression->node);
    const auto* operation = std::get_if<ast::Operation>(&expression->node);
    if (call != nullptr) {
      expression = call->callee.get();
    } else if (operation != nullptr && operation->left) {
      expression = operation->left.get();
    } else {
      break;
    }
  }
  const auto* name = std::get_if<ast::Name>(&expression->node);
  return name == nullptr ? std::string_view() : std::string_view(name->name);
}

std::string hint_for_left_side(const ast::Pattern& pattern) {
  constexpr const char* kParts =
      "a pattern is made of variables, parentheses, commas and names of datatypes";
  const ast::Expr& left = *pattern.value;
  if (std::string hint = hint_for_left_word(first_name(&left)); !hint.empty()) return hint;
  if (std::holds_alternative<ast::Index>(left.node)) {
    return "no value changes: `v <- [(i, x)]` is a copy of `v` with `x` at `i`";
  }
  if (std::holds_alternative<ast::Field>(left.node)) {
    return "no value changes: make a new record of the fields";
  }
  if (const auto* call = std::get_if<ast::Call>(&left.node);
      call != nullptr && std::holds_alternative<ast::IntLiteral>(call->callee->node)) {
    return "a name begins with a letter";
  }
  const auto* operation = std::get_if<ast::Operation>(&left.node);
  if (operation != nullptr && operation->spelling == "-" && operation->left) {
    return "`-` subtracts; names are made of letters, digits and `_`";
  }
  return kParts;
}

}  // namespace

void ExpressionChecker::fail_left_side(const ast::Pattern& pattern, bool binding) const {
  if (pattern.kind == ast::Pattern::Kind::Record) {
    std::string hint = hint_for_left_word(pattern.name);
    if (!hint.empty() && !binding) {
      hint = "types stand behind the arguments: `function f(x) : int -> int = ...`";
    } else if (hint.empty()) {
      vcode::NearestWord nearest(pattern.name);
      const std::vector<std::string> datatypes = session_.datatype_names();
      for (const std::string& datatype : datatypes) nearest.consider(datatype);
      if (!nearest.best().empty()) hint = fmt::format("did you mean `{}`?", nearest.best());
    }
    if (hint.empty()) {
      hint = binding ? fmt::format(
                           "a function is defined by `function {}(x) = ...;`, at the top "
                           "level",
                           pattern.name)
                     : fmt::format("a datatype is defined by `datatype {} (int, float);`",
                                   pattern.name);
    }
    fail(Category::Pattern, {}, pattern.span,
         fmt::format("there is no datatype `{}`, so this is not a pattern", pattern.name), {},
         std::move(hint));
  }
  fail(Category::Pattern, {}, pattern.span, "this is not a pattern", {},
       hint_for_left_side(pattern));
}

void ExpressionChecker::check_left_side(const ast::Pattern& pattern) const {
  using Kind = ast::Pattern::Kind;
  const bool unknown =
      pattern.kind == Kind::Record && session_.find_datatype(pattern.name) == nullptr;
  if (unknown || pattern.kind == Kind::Other) fail_left_side(pattern, true);
}

// What was written in braces may follow the grammar and still be another language's.
void ExpressionChecker::check_generators(const ast::ApplyToEach& node) const {
  const ast::Pattern& first = *node.generators[0].pattern;
  if (!node.body && first.kind == ast::Pattern::Kind::Other) {
    fail(Category::Pattern, {}, first.span, "a `:` is missing between the body and its variable",
         {}, "an apply-to-each reads `{x * x : x in v}`");
  }
  for (const ast::Binding& generator : node.generators) {
    if (!std::holds_alternative<ast::Tuple>(generator.value->node)) continue;
    const bool enclosed = written(generator.value->span).starts_with('(');
    fail(Category::Type, {}, generator.value->span,
         "an apply-to-each takes its elements from a sequence, not from a tuple", {},
         enclosed ? "`zip(a, b)` is a sequence of pairs"
                  : "a condition stands behind `|`, a further generator behind `;`");
  }
}

// The pattern read as an expression: what an apply-to-each without a body yields.
ExpressionChecker::Typed ExpressionChecker::pattern_value(const Pattern& pattern) {
  switch (pattern.kind) {
    case Pattern::Kind::Variable:
      return local_reference(pattern.span, *pattern.local);
    case Pattern::Kind::Pair: {
      Typed first = pattern_value(*pattern.first);
      Typed second = pattern_value(*pattern.second);
      return pair(pattern.span, std::move(first), std::move(second));
    }
    case Pattern::Kind::Record: {
      Typed fields = pattern_value(*pattern.first);
      const Datatype* datatype = resolved(pattern.type)->datatype;
      return apply(pattern.span, global_reference(pattern.span, *datatype->constructor),
                   std::move(fields));
    }
  }
  return nullptr;
}

}  // namespace neslc
