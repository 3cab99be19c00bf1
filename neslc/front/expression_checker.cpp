#include "neslc/front/expression_checker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "neslc/front/type_words.hpp"

namespace neslc {

using Typed = ExpressionChecker::Typed;
using Clash = Inference::Clash;

/// Forgets the variables that were bound since it was made.
class ExpressionChecker::ScopeEnd {
 public:
  explicit ScopeEnd(ExpressionChecker& checker)
      : checker_(checker), size_(checker.visible_.size()) {}
  ~ScopeEnd() { checker_.visible_.resize(size_); }
  ScopeEnd(const ScopeEnd&) = delete;
  ScopeEnd& operator=(const ScopeEnd&) = delete;

 private:
  ExpressionChecker& checker_;
  std::size_t size_;
};

ExpressionChecker::ExpressionChecker(Session& session, Inference& inference, Body& body,
                                     const SelfDefinition* self, std::string enclosing)
    : session_(session),
      inference_(inference),
      body_(body),
      self_(self),
      enclosing_(std::move(enclosing)) {}

std::string ExpressionChecker::quoted(Span span) const {
  constexpr std::size_t kLongest = 40;
  std::string_view text = written(span);
  if (text.empty()) return "it";
  const bool cut = text.size() > kLongest;
  if (cut) text = text.substr(0, kLongest);
  return fmt::format("`{}{}`", vcode::escaped(text), cut ? "..." : "");
}

Typed ExpressionChecker::expression(const ast::Expr& expression) {
  return std::visit([&](const auto& node) { return visit(expression, node); }, expression.node);
}

void ExpressionChecker::finish(Definition* slot) {
  for (TypePtr* type : open_types_) {
    *type = inference_.finish(*type, slot);
    if (*type == nullptr) {
      fail_clash(Clash::TooLarge, body_.expression->span, "the types here are too large", {});
    }
  }
  for (GlobalRef* reference : self_references_) {
    reference->definition = slot;
    reference->instantiation = slot->scheme.type->identity()->arguments;
  }
  for (Body::Reference& reference : body_.references) {
    if (reference.definition == nullptr) reference.definition = slot;
  }
  for (const IndirectCall& call : indirect_calls_) {
    if (!call.in_lambda && call.callee->type->identity()->kind == TypeKind::Opaque) {
      fail(Category::Type, {}, call.span,
           fmt::format("no function is known for {}, which is called here",
                       quoted(call.callee->span)),
           {}, "which function is called must be known when the program is compiled");
    }
    const Definition* serial = serial_function(call.callee->type);
    if (serial != nullptr && call.parallel) fail_serial(*serial, call.span);
    if (serial != nullptr && serial_ == nullptr) serial_ = serial;
  }
}

void ExpressionChecker::check_bool(const Expr& condition, std::string_view what) {
  const Clash clash = inference_.unify(condition.type, inference_.table().bool_type());
  if (clash == Clash::None) return;
  fail_clash(clash, condition.span,
             fmt::format("{} must be a bool, not {}", what, in_words(condition.type)), {},
             operand_notes(condition, condition.span),
             hint_for_value(inference_.table().bool_type(), operand(condition)));
}

void ExpressionChecker::check_int(const Expr& bound) {
  const Clash clash = inference_.unify(bound.type, inference_.table().int_type());
  if (clash == Clash::None) return;
  fail_clash(clash, bound.span,
             fmt::format("the bounds of a range must be ints, not {}", in_words(bound.type)), {},
             operand_notes(bound, bound.span),
             hint_for_value(inference_.table().int_type(), operand(bound)));
}

// ---- Literals

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::IntLiteral& node) {
  return make(at.span, inference_.table().int_type(), IntLiteral{node.value});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::FloatLiteral& node) {
  return make(at.span, inference_.table().float_type(), FloatLiteral{node.value});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::CharLiteral& node) {
  return make(at.span, inference_.table().char_type(), CharLiteral{node.value});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::StringLiteral& node) {
  return make(at.span, inference_.sequence(inference_.table().char_type()),
              StringLiteral{node.text});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::BoolLiteral& node) {
  return make(at.span, inference_.table().bool_type(), BoolLiteral{node.value});
}

// ---- Structure

Typed ExpressionChecker::pair(Span span, Typed first, Typed second) {
  const TypePtr type = inference_.pair(first->type, second->type);
  return make(span, type, Pair{std::move(first), std::move(second)});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Tuple& node) {
  Typed first = expression(*node.first);
  Typed second = expression(*node.second);
  return pair(at.span, std::move(first), std::move(second));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::If& node) {
  Typed condition = expression(*node.condition);
  check_bool(*condition, "the condition of `if`");
  Typed then_branch = expression(*node.then_branch);
  Typed else_branch = expression(*node.else_branch);
  const Clash clash = inference_.unify(then_branch->type, else_branch->type);
  if (clash != Clash::None) {
    fail_clash(clash, else_branch->span,
               clash == Clash::Identity ? "the branches of `if` are different functions"
                                        : "the branches of `if` have different types",
               {{fmt::format("{} behind `then`", quoted(then_branch->span)), then_branch->type,
                 then_branch->span},
                {fmt::format("{} behind `else`", quoted(else_branch->span)), else_branch->type,
                 else_branch->span}},
               {}, hint_for_branches(*node.else_branch, *then_branch, *else_branch));
  }
  const TypePtr type = then_branch->type;
  return make(at.span, type,
              If{std::move(condition), std::move(then_branch), std::move(else_branch)});
}

std::string ExpressionChecker::hint_for_branches(const ast::Expr& written, const Expr& then_branch,
                                                 const Expr& else_branch) const {
  const auto* tuple = std::get_if<ast::Tuple>(&written.node);
  const Span whole = written.span;
  const bool in_parentheses = tuple == nullptr || tuple->first->span.line != whole.line ||
                              tuple->first->span.column != whole.column;
  if (!in_parentheses && resolved(then_branch.type)->kind != TypeKind::Pair) {
    return "a comma behind `else` belongs to that branch; parentheses around the whole `if` end it";
  }
  return hint_for_unequal(operand(then_branch), operand(else_branch));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Let& node) {
  const ScopeEnd scope(*this);
  Let let;
  for (const ast::Binding& binding : node.bindings) {
    check_left_side(*binding.pattern);
    const ast::Pattern* const outer = std::exchange(binding_, binding.pattern.get());
    Typed value = expression(*binding.value);
    binding_ = outer;
    TypedPattern left = pattern(*binding.pattern);
    match(*left, *value);
    let.bindings.push_back({std::move(left), std::move(value)});
  }
  Typed body = expression(*node.body);
  const TypePtr type = body->type;
  let.body = std::move(body);
  return make(at.span, type, std::move(let));
}

/// The type of what is made in an apply-to-each: a stream is a sequence there.
TypePtr ExpressionChecker::without_streams(TypePtr type) {
  const TypePtr known = resolved(type);
  if (known->kind == TypeKind::Stream) return inference_.sequence(known->element());
  if (known->kind != TypeKind::Pair) return type;
  const TypePtr first = without_streams(known->first());
  return inference_.pair(first, without_streams(known->second()));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::ApplyToEach& node) {
  ApplyToEach each;
  std::vector<TypePtr> elements;
  bool streams = false;
  check_generators(node);
  const ast::ApplyToEach* const outer = std::exchange(generators_of_, &node);
  for (const ast::Binding& generator : node.generators) {
    Typed source = expression(*generator.value);
    elements.push_back(inference_.fresh());
    const bool stream = resolved(source->type)->kind == TypeKind::Stream;
    if (each.generators.empty()) streams = stream;
    if (streams != stream) fail_mixed_generators(*each.generators[0].value, *source);
    const Clash clash =
        inference_.unify(source->type, stream ? inference_.stream(elements.back())
                                              : inference_.sequence(elements.back()));
    if (clash != Clash::None) {
      fail_clash(clash, source->span,
                 fmt::format("an apply-to-each takes its elements from a sequence, not from {}",
                             in_words(source->type)),
                 {}, operand_notes(*source, source->span),
                 resolved(source->type)->kind == TypeKind::Int
                     ? fmt::format("`[0:{}]` counts from 0", operand(*source).text)
                     : "");
    }
    each.generators.push_back({nullptr, std::move(source)});
  }
  generators_of_ = outer;
  const ScopeEnd scope(*this);
  pattern_begin_ = visible_.size();
  TypedPattern first;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    TypedPattern left = pattern_below(*node.generators[i].pattern, false);
    const Expr& source = *each.generators[i].value;
    const Clash clash = inference_.unify(left->type, elements[i]);
    if (clash != Clash::None) {
      fail_clash(clash, left->span, "this pattern does not match the elements of the sequence",
                 {{"the pattern", left->type, left->span},
                  {"each element of " + quoted(source.span), elements[i], source.span}});
    }
    each.generators[i].pattern = std::move(left);
  }
  ++parallel_depth_;
  Typed body = node.body ? expression(*node.body) : pattern_value(*each.generators[0].pattern);
  if (node.sieve) {
    Typed sieve = expression(*node.sieve);
    check_bool(*sieve, "the condition behind `|`");
    each.sieve = std::move(sieve);
  }
  --parallel_depth_;
  const TypePtr element = without_streams(body->type);
  each.body = std::move(body);
  return make(at.span, streams ? inference_.stream(element) : inference_.sequence(element),
              std::move(each));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::SequenceLiteral& node) {
  SequenceLiteral sequence;
  for (const ast::ExprPtr& element : node.elements) {
    Typed next = expression(*element);
    if (!sequence.elements.empty()) {
      const Expr& first = *sequence.elements[0];
      const Clash clash = inference_.unify(first.type, next->type);
      if (clash != Clash::None) {
        fail_clash(clash, next->span,
                   clash == Clash::Identity ? "the elements of a sequence are different functions"
                                            : "the elements of a sequence have different types",
                   {{"the first element", first.type, first.span},
                    {"this element", next->type, next->span}},
                   {}, hint_for_unequal(operand(first), operand(*next)));
      }
    }
    sequence.elements.push_back(std::move(next));
  }
  const TypePtr type = inference_.sequence(sequence.elements[0]->type);
  return make(at.span, type, std::move(sequence));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::EmptySequence& node) {
  const TypeResolver resolver(session_, inference_);
  const TypePtr element = resolver.resolve(*node.element, type_variables_, UnknownTypes::Rejected);
  return make(at.span, inference_.sequence(element), EmptySequence{});
}

// ---- Functions as values

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Lambda& node) {
  body_.lambdas.push_back(std::make_unique<Lambda>());
  Lambda& lambda = *body_.lambdas.back();
  lambda.number = session_.next_lambda_++;
  lambda.span = default_span_ ? default_span_ : at.span;
  lambda.enclosing = enclosing_;
  lambda.source = body_.source;
  lambda.library = session_.loading_library_;
  lambdas_.push_back({&lambda, visible_.size()});
  const ScopeEnd scope(*this);
  TypedPattern parameter = pattern(*node.parameter);
  Typed body = expression(*node.body);
  lambdas_.pop_back();
  const TypePtr type =
      inference_.function(parameter->type, body->type, inference_.own_lambda_identity(&lambda));
  lambda.parameter = std::move(parameter);
  lambda.body = std::move(body);
  return make(at.span, type, LambdaRef{&lambda});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Closure& node) {
  Typed function = expression(*node.function);
  Typed value = expression(*node.value);
  const TypePtr rest = inference_.fresh();
  const TypePtr result = inference_.fresh();
  const TypePtr wanted =
      inference_.function(inference_.pair(value->type, rest), result, inference_.fresh_identity());
  const Clash clash = inference_.unify(function->type, wanted);
  if (clash != Clash::None) {
    fail_clash(clash, at.span, "`closure` needs a function of several arguments and its first one",
               {evidence(*function), evidence(*value)});
  }
  const TypePtr identity = inference_.partial_identity(function->type, value->type);
  return make(at.span, inference_.function(rest, result, identity),
              Partial{std::move(function), std::move(value)});
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::KeywordArgument& node) {
  fail(Category::Syntax, {}, at.span, "`:=` belongs to the arguments of a call", {},
       fmt::format("a variable is bound with `=`: `{} = ...`", node.name));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Time& node) {
  if (timed_) fail(Category::Syntax, {}, at.span, "`time` cannot be nested");
  if (const Definition* macro = session_.find("time")) note_serial(*macro, at.span);
  timed_ = true;
  Typed body = expression(*node.body);
  timed_ = false;
  const TypePtr type = inference_.pair(body->type, inference_.table().float_type());
  return make(at.span, type, Time{std::move(body)});
}

}  // namespace neslc
