// Names and calls. What is said where they do not fit: call_messages.cpp.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "neslc/front/expression_checker.hpp"
#include "vcode/keywords.hpp"

namespace neslc {

using Clash = Inference::Clash;
using Typed = ExpressionChecker::Typed;

namespace {

bool is_literal(const ast::Expr& expression) {
  return std::holds_alternative<ast::IntLiteral>(expression.node) ||
         std::holds_alternative<ast::FloatLiteral>(expression.node) ||
         std::holds_alternative<ast::CharLiteral>(expression.node) ||
         std::holds_alternative<ast::StringLiteral>(expression.node) ||
         std::holds_alternative<ast::BoolLiteral>(expression.node);
}

}  // namespace

// ---- Names

const ExpressionChecker::Visible* ExpressionChecker::find_visible(std::string_view name) const {
  const auto found = std::find_if(visible_.rbegin(), visible_.rend(),
                                  [&](const Visible& visible) { return visible.name == name; });
  return found == visible_.rend() ? nullptr : &*found;
}

Typed ExpressionChecker::local_reference(Span span, const Local& local) {
  for (OpenLambda& open : lambdas_) {
    const auto outside = visible_.begin() + static_cast<std::ptrdiff_t>(open.outside);
    const bool captured = std::any_of(
        visible_.begin(), outside, [&](const Visible& visible) { return visible.local == &local; });
    std::vector<const Local*>& captures = open.lambda->captures;
    if (captured && std::find(captures.begin(), captures.end(), &local) == captures.end()) {
      captures.push_back(&local);
    }
  }
  return make(span, local.type, LocalRef{&local});
}

void ExpressionChecker::add_reference(Definition* definition, Span span) {
  const auto same = [&](const Body::Reference& r) { return r.definition == definition; };
  if (std::none_of(body_.references.begin(), body_.references.end(), same)) {
    body_.references.push_back({definition, default_span_ ? default_span_ : span});
  }
}

void ExpressionChecker::note_serial(const Definition& definition, Span span) {
  if (parallel_depth_ > 0) fail_serial(definition, span);
  if (serial_ == nullptr) serial_ = &definition;
  for (OpenLambda& open : lambdas_) open.lambda->serial = &definition;
}

void ExpressionChecker::fail_serial(const Definition& definition, Span span) const {
  fail(Category::SerialOnly, definition.name, span,
       fmt::format("`{}` has side effects and cannot be used inside an apply-to-each",
                   definition.name),
       {}, "`{* ... }` evaluates its instances one after another");
}

Typed ExpressionChecker::global_reference(Span span, Definition& definition) {
  if (definition.serial_only) note_serial(definition, span);
  add_reference(&definition, span);
  GlobalRef reference{&definition, {}};
  const TypePtr type = inference_.instantiate(definition.scheme, reference.instantiation);
  if (definition.library && definition.name == "error") {
    resolved(type->result())->variable->leaning = InferenceVariable::Leaning::Bool;
  }
  Typed typed = make(span, type, std::move(reference));
  for (TypePtr& argument : std::get<GlobalRef>(typed->node).instantiation) {
    open_types_.push_back(&argument);
  }
  return typed;
}

Typed ExpressionChecker::self_reference(Span span) {
  add_reference(nullptr, span);
  Typed typed = make(span, self_->type, GlobalRef{nullptr, {}});
  self_references_.push_back(&std::get<GlobalRef>(typed->node));
  return typed;
}

Typed ExpressionChecker::library_function(Span span, std::string_view name) {
  Definition* definition = session_.find(name);
  if (self_ != nullptr && self_->name == name) return self_reference(span);
  if (definition == nullptr || !definition->library) {
    fail(Category::Undefined, std::string(name), span,
         fmt::format("the library does not define `{}`", name));
  }
  return global_reference(span, *definition);
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Name& node) {
  if (node.name == "time") {
    fail(Category::Reserved, "time", at.span, "`time` needs an argument: `time(expression)`");
  }
  if (const Visible* visible = find_visible(node.name)) {
    if (visible->wildcard) {
      fail(Category::Undefined, node.name, at.span,
           "`_` stands for several values in its pattern and is not a name", {},
           "give the value that is wanted a name of its own");
    }
    note_spelling(at.span, *visible->local);
    return local_reference(at.span, *visible->local);
  }
  if (self_ != nullptr && self_->name == node.name) return self_reference(at.span);
  if (Definition* definition = session_.find(node.name)) {
    return global_reference(at.span, *definition);
  }
  fail_undefined(at.span, node.name);
}

// ---- Calls

namespace {

/// Is a stream an argument, or one of them?
bool is_given_stream(TypePtr argument) {
  for (argument = resolved(argument); argument->kind == TypeKind::Pair;
       argument = resolved(argument->second())) {
    if (resolved(argument->first())->kind == TypeKind::Stream) return true;
  }
  return argument->kind == TypeKind::Stream;
}

/// The constructor of streams of characters, which files are, is given an int; that of streams of
/// any elements a sequence.
bool may_be_sequence(TypePtr argument) {
  argument = resolved(argument);
  return argument->kind == TypeKind::Sequence ||
         (argument->kind == TypeKind::Variable && argument->variable->type_class == TypeClass::Any);
}

/// Is a stream given where a sequence is taken?
bool differ_in_streams(TypePtr taken, TypePtr given) {
  taken = resolved(taken);
  given = resolved(given);
  if (taken->kind == TypeKind::Pair && given->kind == TypeKind::Pair) {
    return differ_in_streams(taken->first(), given->first()) ||
           differ_in_streams(taken->second(), given->second());
  }
  return taken->kind == TypeKind::Sequence && given->kind == TypeKind::Stream;
}

}  // namespace

/// What is called by that name where it is given streams; the same, if that is no other function.
Definition* ExpressionChecker::for_streams(Definition& function, TypePtr argument) {
  if (function.library) {
    const bool made = function.name == "stream" && may_be_sequence(argument);
    if (!made && !is_given_stream(argument)) return &function;
    Definition* const own = session_.find("stream." + (made ? "of" : function.name));
    return own == nullptr ? &function : own;
  }
  const auto* form = function.body ? std::get_if<ast::FunctionForm>(&function.form->node) : nullptr;
  if (form == nullptr || form->type ||
      !differ_in_streams(function.scheme.type->argument(), argument)) {
    return &function;
  }
  const Session::ForStreams& own = session_.for_streams(function, argument);
  not_for_streams_ = own.function == nullptr ? &own : nullptr;
  return own.function == nullptr ? &function : own.function;
}

Typed ExpressionChecker::for_streams(Typed callee, const Expr& argument) {
  const auto* global = std::get_if<GlobalRef>(&callee->node);
  if (global == nullptr || global->definition == nullptr ||
      global->definition->kind == DefinitionKind::Variable) {
    return callee;
  }
  Definition* const own = for_streams(*global->definition, argument.type);
  if (own == global->definition) return callee;
  Typed replacement = global_reference(callee->span, *own);
  replaced_.push_back(std::move(callee));
  return replacement;
}

Typed ExpressionChecker::apply(Span span, Typed called, Typed argument) {
  Typed callee = for_streams(std::move(called), *argument);
  const TypePtr function = resolved(callee->type);
  TypePtr result;
  if (function->kind == TypeKind::Function) {
    result = function->result();
    const Clash clash = inference_.unify(function->argument(), argument->type);
    if (clash != Clash::None) {
      fail_argument(clash, span, *callee, function->argument(), *argument);
    }
  } else {
    result = inference_.fresh();
    const TypePtr wanted = inference_.function(argument->type, result, inference_.fresh_identity());
    const Clash clash = inference_.unify(callee->type, wanted);
    if (clash != Clash::None) {
      fail_clash(clash, span, fmt::format("{} is not a function", quoted(callee->span)), {},
                 operand_notes(*callee, span), call_hint(*callee, *argument));
    }
  }
  const auto* global = std::get_if<GlobalRef>(&callee->node);
  const bool direct = global != nullptr && (global->definition == nullptr ||
                                            global->definition->kind != DefinitionKind::Variable);
  if (!direct) {
    indirect_calls_.push_back({callee.get(), span, parallel_depth_ > 0, !lambdas_.empty()});
  }
  return make(span, result, Call{std::move(callee), std::move(argument)});
}

Typed ExpressionChecker::apply_library(Span span, std::string_view function, Typed argument) {
  return apply(span, library_function(span, function), std::move(argument));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Operation& node) {
  if (!node.left) return apply_library(at.span, node.function, expression(*node.right));
  // The operators of a chain from right to left, which is from the outermost one inward.
  std::vector<const ast::Expr*> chain = {&at};
  const ast::Expr* leftmost = node.left.get();
  while (const auto* next = std::get_if<ast::Operation>(&leftmost->node)) {
    if (!next->left) break;
    chain.push_back(leftmost);
    leftmost = next->left.get();
  }
  Typed left = expression(*leftmost);
  for (auto link = chain.rbegin(); link != chain.rend(); ++link) {
    const vcode::Span span = (*link)->span;
    const auto& operation = std::get<ast::Operation>((*link)->node);
    Typed right = expression(*operation.right);
    left = apply_library(span, operation.function, pair(span, std::move(left), std::move(right)));
  }
  return left;
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Index& node) {
  Typed sequence = expression(*node.sequence);
  Typed position = expression(*node.position);
  return apply_library(at.span, "elt", pair(at.span, std::move(sequence), std::move(position)));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Range& node) {
  Typed first = expression(*node.first);
  Typed last = expression(*node.last);
  Typed stride = node.stride ? expression(*node.stride)
                             : make(at.span, inference_.table().int_type(), IntLiteral{1});
  check_int(*first);
  check_int(*last);
  check_int(*stride);
  Typed rest = pair(at.span, std::move(stride), std::move(last));
  return apply_library(at.span, "iseq", pair(at.span, std::move(first), std::move(rest)));
}

Typed ExpressionChecker::visit(const ast::Expr& at, const ast::Call& node) {
  if (is_literal(*node.callee)) fail_literal_call(node);
  const ast::Expr* const next = std::exchange(next_argument_, node.argument.get());
  Typed callee = expression(*node.callee);
  next_argument_ = nullptr;
  Typed value = argument(node);
  next_argument_ = next;
  return apply(at.span, std::move(callee), std::move(value));
}

// ---- Keyword arguments

const std::vector<Definition::Default>* ExpressionChecker::defaults_of(const ast::Expr& callee,
                                                                       std::size_t& positional,
                                                                       std::string& name) const {
  const auto* callee_name = std::get_if<ast::Name>(&callee.node);
  if (callee_name == nullptr || find_visible(callee_name->name) != nullptr) return nullptr;
  name = callee_name->name;
  if (self_ != nullptr && self_->name == name) {
    positional = self_->positional;
    return &self_->defaults;
  }
  const Definition* definition = session_.find(name);
  if (definition == nullptr) return nullptr;
  positional = definition->positional;
  return &definition->defaults;
}

Typed ExpressionChecker::default_value(const Definition::Default& parameter, Span call) {
  // The default sees top-level names only, and its text is in the source of the definition.
  std::vector<Visible> hidden;
  std::vector<OpenLambda> lambdas;
  std::swap(hidden, visible_);
  std::swap(lambdas, lambdas_);
  const Span outer = default_span_;
  if (!default_span_) default_span_ = call;
  try {
    Typed value = expression(*parameter.value);
    std::swap(hidden, visible_);
    std::swap(lambdas, lambdas_);
    default_span_ = outer;
    filled_in_.emplace(value.get(), parameter.name);
    return value;
  } catch (Failure& failure) {
    vcode::Diagnostic& diagnostic = failure.error.diagnostic;
    diagnostic.message =
        fmt::format("in the default of `{}`: {}", parameter.name, diagnostic.message);
    diagnostic.span = default_span_;
    for (vcode::Note& note : diagnostic.notes) note.span = {};
    throw;
  }
}

Typed ExpressionChecker::argument(const ast::Call& call) {
  std::vector<const ast::Expr*> items;
  const ast::Expr* rest = call.argument.get();
  while (const auto* tuple = std::get_if<ast::Tuple>(&rest->node)) {
    items.push_back(tuple->first.get());
    rest = tuple->second.get();
  }
  items.push_back(rest);
  const auto is_keyword = [](const ast::Expr* item) {
    return std::holds_alternative<ast::KeywordArgument>(item->node);
  };
  const auto first_keyword = std::find_if(items.begin(), items.end(), is_keyword);

  std::size_t positional = 0;
  std::string name;
  const std::vector<Definition::Default>* defaults = defaults_of(*call.callee, positional, name);
  if (defaults == nullptr || defaults->empty()) {
    if (first_keyword == items.end()) return expression(*call.argument);
    if (const Datatype* datatype = constructed_by(*call.callee)) {
      return fields_argument(call, *datatype, items,
                             static_cast<std::size_t>(first_keyword - items.begin()));
    }
    fail(Category::Argument, {}, (*first_keyword)->span,
         fmt::format("{} has no keyword parameters", quoted(call.callee->span)), {},
         "its arguments are told apart by their order, as in `f(a, b)`");
  }

  const auto given = static_cast<std::size_t>(first_keyword - items.begin());
  if (given > positional) {
    fail(Category::Argument, {}, items[positional]->span,
         fmt::format("`{}` takes {} positional argument{}; the others are given by keyword", name,
                     positional, positional == 1 ? "" : "s"),
         {}, fmt::format("write `{} := ...`", (*defaults)[0].name));
  }
  std::vector<const ast::KeywordArgument*> chosen(defaults->size(), nullptr);
  for (auto item = first_keyword; item != items.end(); ++item) {
    const auto* keyword = std::get_if<ast::KeywordArgument>(&(*item)->node);
    if (keyword == nullptr) {
      fail(Category::Argument, {}, (*item)->span,
           "positional arguments stand before the keyword arguments");
    }
    const auto parameter =
        std::find_if(defaults->begin(), defaults->end(),
                     [&](const Definition::Default& d) { return d.name == keyword->name; });
    if (parameter == defaults->end()) {
      vcode::NearestWord nearest(keyword->name);
      for (const Definition::Default& known : *defaults) nearest.consider(known.name);
      fail(Category::Argument, {}, (*item)->span,
           fmt::format("`{}` has no keyword parameter `{}`", name, keyword->name), {},
           nearest.best().empty() ? fmt::format("it has `{} := ...`", defaults->front().name)
                                  : fmt::format("did you mean `{}`?", nearest.best()));
    }
    const ast::KeywordArgument*& place =
        chosen[static_cast<std::size_t>(parameter - defaults->begin())];
    if (place != nullptr) {
      fail(Category::Argument, {}, (*item)->span,
           fmt::format("the keyword argument `{}` is given twice", keyword->name));
    }
    place = keyword;
  }

  std::vector<Typed> values;
  for (std::size_t i = 0; i < given; ++i) values.push_back(expression(*items[i]));
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    values.push_back(chosen[i] != nullptr ? expression(*chosen[i]->value)
                                          : default_value((*defaults)[i], call.argument->span));
  }
  Typed result = std::move(values.back());
  for (std::size_t i = values.size() - 1; i-- > 0;) {
    result = pair(call.argument->span, std::move(values[i]), std::move(result));
  }
  return result;
}

}  // namespace neslc
