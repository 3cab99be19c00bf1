// Names and calls.
#include <algorithm>

#include <fmt/format.h>

#include "neslc/expression_checker.hpp"
#include "neslc/hints.hpp"
#include "neslc/operators.hpp"
#include "vcode/keywords.hpp"

namespace neslc {

using Clash = Inference::Clash;
using Typed = ExpressionChecker::Typed;

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

void ExpressionChecker::fail_undefined(Span span, const std::string& name) const {
  vcode::NearestWord nearest(name);
  for (const Visible& visible : visible_) nearest.consider(visible.name);
  if (self_ != nullptr) nearest.consider(self_->name);
  for (const Definition* known : session_.definitions()) nearest.consider(known->name);
  std::string hint = hint_for_name(name);
  if (hint.empty() && !nearest.best().empty()) {
    hint = fmt::format("did you mean `{}`?", nearest.best());
  }
  fail(Category::Undefined, name, span, fmt::format("`{}` is not defined", name), {},
       std::move(hint));
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
    return local_reference(at.span, *visible->local);
  }
  if (self_ != nullptr && self_->name == node.name) return self_reference(at.span);
  if (Definition* definition = session_.find(node.name)) {
    return global_reference(at.span, *definition);
  }
  fail_undefined(at.span, node.name);
}

// ---- Messages

Evidence ExpressionChecker::evidence(const Expr& expression) const {
  const auto filled_in = filled_in_.find(&expression);
  if (filled_in != filled_in_.end()) {
    return {fmt::format("the default of `{}`", filled_in->second), expression.type, {}};
  }
  return {quoted(expression.span), expression.type, expression.span};
}

// Where the type of a variable comes from.
std::vector<vcode::Note> ExpressionChecker::origin(const Expr& expression) const {
  if (const auto* local = std::get_if<LocalRef>(&expression.node)) {
    return {{fmt::format("`{}` is bound here", local->local->name), local->local->span}};
  }
  const auto* global = std::get_if<GlobalRef>(&expression.node);
  if (global != nullptr && global->definition != nullptr && !global->definition->library &&
      global->definition->kind == DefinitionKind::Variable) {
    return {{fmt::format("`{}` is a variable of the top level", global->definition->name), {}}};
  }
  return {};
}

std::string ExpressionChecker::callee_name(const Expr& callee) const {
  const auto* global = std::get_if<GlobalRef>(&callee.node);
  if (global == nullptr) return quoted(callee.span);
  if (global->definition == nullptr) return fmt::format("`{}`", self_->name);
  return fmt::format("`{}`", display_name(global->definition->name));
}

void ExpressionChecker::fail_argument(Clash clash, Span span, const Expr& callee, TypePtr parameter,
                                      const Expr& argument) const {
  const std::string name = callee_name(callee);
  const auto* operands = std::get_if<Pair>(&argument.node);
  std::vector<Evidence> evidences = {{fmt::format("{} takes", name), parameter, {}}};
  std::vector<vcode::Note> notes;
  const auto add = [&](const Expr& operand) {
    evidences.push_back(evidence(operand));
    for (vcode::Note& note : origin(operand)) notes.push_back(std::move(note));
  };
  const bool is_pair = operands != nullptr && resolved(parameter)->kind == TypeKind::Pair;
  const auto* global = std::get_if<GlobalRef>(&callee.node);
  std::string hint;
  if (global != nullptr && global->definition != nullptr) {
    const std::string& function = global->definition->name;
    if (is_pair) {
      hint = hint_for_operands(function, resolved(operands->first->type),
                               resolved(operands->second->type));
    } else if (resolved(parameter)->kind == TypeKind::Float || function == "sort" ||
               function == "rank") {
      hint = hint_for_operands(function, resolved(argument.type), nullptr);
    }
  }
  if (is_pair) {
    add(*operands->first);
    add(*operands->second);
  } else {
    add(argument);
  }
  fail_clash(clash, span,
             fmt::format("the argument{} of {} ha{} the wrong type{}", is_pair ? "s" : "", name,
                         is_pair ? "ve" : "s", is_pair ? "s" : ""),
             evidences, std::move(notes), std::move(hint));
}

// Two expressions side by side are a call of the first, which is seldom meant where it is no
// function.
std::string ExpressionChecker::call_hint(const Expr& callee, const Expr& argument) const {
  if (argument.span.line > callee.span.line) {
    return fmt::format("is a `;` missing? line {} is read as an argument of {}", argument.span.line,
                       quoted(callee.span));
  }
  if (resolved(argument.type)->kind == TypeKind::Function) {
    return fmt::format("{} is a function: it stands before its arguments, as in `f(a, b)`",
                       quoted(argument.span));
  }
  return "is an operator missing between the two?";
}

// ---- Calls

Typed ExpressionChecker::apply(Span span, Typed callee, Typed argument) {
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
      const char* problem =
          clash == Clash::Infinite ? "cannot be applied to itself" : "is not a function";
      fail_clash(clash, span, fmt::format("{} {}", quoted(callee->span), problem),
                 {evidence(*callee)}, origin(*callee), call_hint(*callee, *argument));
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
  Typed callee = expression(*node.callee);
  Typed value = argument(node);
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
         fmt::format("{} has no keyword parameters", quoted(call.callee->span)));
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
           nearest.best().empty() ? "" : fmt::format("did you mean `{}`?", nearest.best()));
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
