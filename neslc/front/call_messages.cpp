// Names that mean nothing, and calls that do not fit: what is said about them.
#include <algorithm>

#include <fmt/format.h>

#include "neslc/front/expression_checker.hpp"
#include "neslc/front/hints.hpp"
#include "neslc/front/operators.hpp"
#include "neslc/front/type_words.hpp"
#include "vcode/keywords.hpp"

namespace neslc {

using Clash = Inference::Clash;

namespace {

// Does the text say of what type it is?
bool speaks_for_itself(const Expr& expression) {
  return std::holds_alternative<Pair>(expression.node) ||
         std::holds_alternative<SequenceLiteral>(expression.node) ||
         std::holds_alternative<IntLiteral>(expression.node) ||
         std::holds_alternative<FloatLiteral>(expression.node) ||
         std::holds_alternative<CharLiteral>(expression.node) ||
         std::holds_alternative<StringLiteral>(expression.node) ||
         std::holds_alternative<BoolLiteral>(expression.node);
}

/// The first `count` components of an argument, as far as it is written as a tuple.
std::vector<const Expr*> written_operands(const Expr& argument, std::size_t count) {
  std::vector<const Expr*> operands;
  const Expr* rest = &argument;
  for (const Pair* tuple = std::get_if<Pair>(&rest->node);
       tuple != nullptr && operands.size() + 1 < count; tuple = std::get_if<Pair>(&rest->node)) {
    operands.push_back(tuple->first.get());
    rest = tuple->second.get();
  }
  operands.push_back(rest);
  return operands;
}

}  // namespace

// ---- What an operand is

Evidence ExpressionChecker::evidence(const Expr& expression) const {
  const auto filled_in = filled_in_.find(&expression);
  if (filled_in != filled_in_.end()) {
    return {fmt::format("the default of `{}`", filled_in->second), expression.type, {}};
  }
  return {quoted(expression.span), expression.type, expression.span};
}

Operand ExpressionChecker::operand(const Expr& expression) const {
  constexpr std::size_t kLongest = 30;
  std::string text = quoted(expression.span);
  const bool usable = text.starts_with('`') && text.size() <= kLongest &&
                      filled_in_.find(&expression) == filled_in_.end();
  return {expression.type, usable ? text.substr(1, text.size() - 2) : "x"};
}

std::vector<vcode::Note> ExpressionChecker::operand_notes(const Expr& operand, Span error) const {
  if (filled_in_.find(&operand) == filled_in_.end()) {
    if (speaks_for_itself(operand)) return {};
    const std::string words = in_words(operand.type);
    const bool known = words != "a value";
    if (const auto* local = std::get_if<LocalRef>(&operand.node)) {
      const std::string& name = local->local->name;
      return {{known ? fmt::format("`{}` is {}; it is bound here", name, words)
                     : fmt::format("`{}` is bound here", name),
               local->local->span}};
    }
    if (!known) return {};
  }
  const Evidence found = evidence(operand);
  const Span place = found.span.line == error.line ? Span() : found.span;
  return {{fmt::format("{} is {}", found.what, in_words(operand.type)), place}};
}

std::string_view ExpressionChecker::library_name(const Expr& callee) const {
  const auto* global = std::get_if<GlobalRef>(&callee.node);
  if (global == nullptr || global->definition == nullptr || !global->definition->library) return {};
  return global->definition->name;
}

std::string ExpressionChecker::callee_name(const Expr& callee) const {
  const auto* global = std::get_if<GlobalRef>(&callee.node);
  if (global == nullptr) return quoted(callee.span);
  if (global->definition == nullptr) return fmt::format("`{}`", self_->name);
  if (library_name(callee) == "elt") return "`v[i]`";
  return fmt::format("`{}`", display_name(global->definition->name));
}

// ---- Arguments

void ExpressionChecker::fail_clash(Clash clash, Span span, std::string message,
                                   const std::vector<Evidence>& evidence,
                                   std::vector<vcode::Note> more_notes, std::string hint) const {
  if (confused_) more_notes.push_back(*confused_);
  neslc::fail_clash(clash, span, std::move(message), evidence, std::move(more_notes),
                    std::move(hint));
}

// `operands`: of the argument, as far as they are written.
std::string ExpressionChecker::operands_hint(const Expr& callee, TypePtr parameter,
                                             const Expr& argument,
                                             const std::vector<const Expr*>& written_ones) {
  const std::vector<TypePtr> wanted = components(parameter);
  const std::vector<TypePtr> given = components(argument.type);
  if (wanted.size() > 1 && wanted.size() != given.size() && next_argument_ != nullptr) {
    return fmt::format("all arguments stand in one pair of parentheses: `{}(a, b)`",
                       operand(callee).text);
  }
  std::vector<Operand> operands;
  for (const Expr* one : written_ones) operands.push_back(operand(*one));
  std::string hint = hint_for_operands(library_name(callee), wanted, operands);
  if (hint.empty() && given.size() == 2 && wanted.size() == 2 &&
      inference_.unify(parameter, inference_.pair(given[1], given[0])) == Clash::None) {
    hint = "are the arguments in the wrong order?";
  }
  return hint;
}

void ExpressionChecker::fail_argument(Clash clash, Span span, const Expr& callee, TypePtr parameter,
                                      const Expr& argument) {
  const std::string name = callee_name(callee);
  const std::size_t wanted = components(parameter).size();
  const std::vector<const Expr*> operands = written_operands(argument, wanted);
  std::vector<TypePtr> types;
  for (const Expr* one : operands) types.push_back(one->type);
  // Without parentheses of its own the last one is several arguments.
  const bool indexing = library_name(callee) == "elt";
  if (!indexing && !written(operands.back()->span).starts_with('(')) {
    types.pop_back();
    for (TypePtr type : components(operands.back()->type)) types.push_back(type);
  }
  const std::string takes = operands_in_words(components(parameter)),
                    gets = operands_in_words(types);
  std::vector<Evidence> evidences;
  std::vector<vcode::Note> notes;
  std::string message = fmt::format("{} takes {}, not {}", name, takes, gets);
  if (wanted > 1 && wanted != types.size()) {
    message = fmt::format("{} takes {} arguments, not {}", name, wanted, types.size());
    notes.push_back({fmt::format("it takes {}", takes), {}});
  } else if (takes == gets) {
    message = fmt::format("the argument{} of {} do{} not fit", wanted > 1 ? "s" : "", name,
                          wanted > 1 ? "" : "es");
    evidences = {{fmt::format("what {} takes", name), parameter, {}},
                 {"what it is given", argument.type, {}}};
  }
  for (const Expr* one : operands) {
    const bool is_variable =
        std::holds_alternative<LocalRef>(one->node) || std::holds_alternative<GlobalRef>(one->node);
    // A single argument is named by the message.
    if (operands.size() == 1 && !is_variable && filled_in_.find(one) == filled_in_.end()) continue;
    for (vcode::Note& note : operand_notes(*one, span)) notes.push_back(std::move(note));
  }
  if (not_for_streams_ != nullptr) {
    const StaticError& reason = *not_for_streams_->error;
    notes.push_back({"given a stream: " + reason.diagnostic.message,
                     reason.source == body_.source ? reason.diagnostic.span : Span{}});
  }
  fail_clash(clash, span, std::move(message), evidences, std::move(notes),
             operands_hint(callee, parameter, argument, operands));
}

void ExpressionChecker::fail_mixed_generators(const Expr& first, const Expr& other) const {
  const bool other_streams = resolved(other.type)->kind == TypeKind::Stream;
  const Expr& sequence = other_streams ? first : other;
  fail_clash(Clash::Different, other.span,
             "the generators of an apply-to-each are all sequences or all streams",
             {evidence(first), evidence(other)}, {},
             fmt::format("`stream({})` makes a stream of a sequence", operand(sequence).text));
}

// ---- What is no function

// Where the argument stands in a later line; else empty.
std::string ExpressionChecker::missing_end(Span callee, Span argument) const {
  if (argument.line <= callee.line) return {};
  return fmt::format("is a `;` missing? line {} is read as an argument of {}", argument.line,
                     quoted(callee));
}

// Two expressions side by side are a call of the first, which is seldom meant where it is no
// function.
std::string ExpressionChecker::call_hint(const Expr& callee, const Expr& argument) const {
  if (std::string hint = missing_end(callee.span, argument.span); !hint.empty()) return hint;
  if (resolved(callee.type)->kind == TypeKind::Sequence) {
    return fmt::format("an element is `{}[{}]`", operand(callee).text, operand(argument).text);
  }
  return "is an operator missing between the two?";
}

// A number or a text is no function, whatever its argument is.
void ExpressionChecker::fail_literal_call(const ast::Call& call) const {
  const Span callee = call.callee->span, argument = call.argument->span;
  const std::string first = quoted(callee), second = quoted(argument);
  const auto plain = [](const std::string& text) { return text.substr(1, text.size() - 2); };
  if (std::string hint = missing_end(callee, argument); !hint.empty()) {
    fail(Category::Type, {}, callee, fmt::format("{} is not a function", first), {},
         std::move(hint));
  }
  if (const auto* constant = std::get_if<ast::BoolLiteral>(&call.callee->node)) {
    fail(Category::Type, {}, callee,
         fmt::format("{} is the constant {} and not a function", first,
                     constant->value ? "T (true)" : "F (false)"),
         {}, "functions need other names");
  }
  const auto* name = std::get_if<ast::Name>(&call.argument->node);
  std::string hint = name != nullptr ? hint_for_name(name->name) : "";
  if (std::holds_alternative<ast::CharLiteral>(call.callee->node)) {
    hint = "a backquote makes one character; a string stands between double quotes";
  } else if (std::holds_alternative<ast::StringLiteral>(call.callee->node)) {
    hint = "a quote inside a string is written `\\\"`";
  } else if (hint.empty() && name != nullptr && next_argument_ != nullptr) {
    hint = fmt::format("functions stand before their arguments: `{}({}, {})`", name->name,
                       plain(first), plain(quoted(next_argument_->span)));
  } else if (hint.empty() && argument.column <= callee.column + callee.length + 1 &&
             body_.source->line(callee.line)[callee.column + callee.length - 1] != ' ') {
    const bool closed = written(argument).starts_with('(') || second.find(' ') == std::string::npos;
    hint = fmt::format("the product is `{} * {}{}{}`", plain(first), closed ? "" : "(",
                       plain(second), closed ? "" : ")");
  }
  const Span both = {callee.line, callee.column, argument.column + argument.length - callee.column};
  fail(Category::Type, {}, both,
       fmt::format("an operator or a comma is missing between {} and {}", first, second), {},
       std::move(hint));
}

// ---- Names

// `X` where another variable, one that an inner `x` hides, may be meant.
void ExpressionChecker::note_spelling(Span span, const Local& local) {
  if (default_span_ || written(span) == written(local.span)) return;
  const auto spelling = [&](Span place) {
    // The span of a single parameter has the parentheses around it.
    std::string text = quoted(place);
    std::erase_if(text, [](char c) { return c == '(' || c == ')'; });
    return text;
  };
  const std::string used = spelling(span), bound = spelling(local.span);
  if (used == bound) return;
  const bool hides = std::any_of(visible_.begin(), visible_.end(), [&](const Visible& other) {
    return other.name == local.name && spelling(other.local->span) == used;
  });
  if (!hides && session_.find(local.name) == nullptr) return;
  confused_ = {fmt::format("names ignore case: {} is the {} that is bound here", used, bound),
               local.span};
}

void ExpressionChecker::fail_undefined(Span span, const std::string& name) const {
  const bool in_generators =
      generators_of_ != nullptr &&
      std::any_of(generators_of_->generators.begin(), generators_of_->generators.end(),
                  [&](const ast::Binding& one) { return ast::binds(*one.pattern, name); });
  if (in_generators) {
    fail(Category::Undefined, name, span,
         fmt::format("`{}` is not known in the other generators", name), {},
         "put one apply-to-each into another: `{{f(x) : x in row} : row in rows}`");
  }
  if (binding_ != nullptr && ast::binds(*binding_, name)) {
    fail(Category::Undefined, name, span, fmt::format("`{}` is not known in its own value", name),
         {}, "a value is computed before it has a name; what repeats is a function");
  }
  std::string hint = session_.missing_.explain(name, *body_.source, enclosing_);
  if (hint.empty()) hint = hint_for_name(name);
  if (hint.empty()) {
    vcode::NearestWord nearest(name);
    for (const Visible& visible : visible_) nearest.consider(visible.name);
    if (self_ != nullptr) nearest.consider(self_->name);
    for (const Definition* known : session_.definitions()) nearest.consider(known->name);
    if (!nearest.best().empty()) hint = fmt::format("did you mean `{}`?", nearest.best());
  }
  fail(Category::Undefined, name, span, fmt::format("`{}` is not defined", name), {},
       std::move(hint));
}

}  // namespace neslc
