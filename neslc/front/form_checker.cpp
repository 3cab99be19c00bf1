#include "neslc/front/form_checker.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace neslc {
namespace {

using Clash = Inference::Clash;

// Expressions that only name functions: their types may be generalised.
bool is_syntactic_value(const ast::Expr& expression) {
  if (const auto* tuple = std::get_if<ast::Tuple>(&expression.node)) {
    return is_syntactic_value(*tuple->first) && is_syntactic_value(*tuple->second);
  }
  return std::holds_alternative<ast::Lambda>(expression.node) ||
         std::holds_alternative<ast::Name>(expression.node);
}

void collect_locals(const Pattern& pattern, std::vector<const Local*>& locals) {
  if (pattern.local != nullptr) locals.push_back(pattern.local);
  if (pattern.first) collect_locals(*pattern.first, locals);
  if (pattern.second) collect_locals(*pattern.second, locals);
}

void collect_generics(TypePtr type, bool identities, std::vector<std::uint32_t>& order) {
  if (!type->has_generics) return;
  if (type->kind == TypeKind::Generic &&
      std::find(order.begin(), order.end(), type->index) == order.end()) {
    order.push_back(type->index);
  }
  for (std::size_t i = 0; i < type->arguments.size(); ++i) {
    if (type->kind == TypeKind::Function && i == 2 && !identities) continue;
    collect_generics(type->arguments[i], identities, order);
  }
}

// A part of a generalised type with a scheme of its own.
Scheme part_of(TypeTable& table, TypePtr part, const std::vector<TypeClass>& classes) {
  std::vector<std::uint32_t> order;
  for (const bool identities : {false, true}) collect_generics(part, identities, order);
  Scheme scheme;
  std::vector<TypePtr> renamed(classes.size(), table.int_type());
  for (std::uint32_t index : order) {
    renamed[index] = table.generic(static_cast<std::uint32_t>(scheme.variables.size()));
    scheme.variables.push_back(classes[index]);
  }
  scheme.type = table.substitute(part, renamed);
  return scheme;
}

// A function's type contains its own identity, which says nothing about its type.
bool same_type(const Definition& slot, const Definition& contents) {
  if (slot.kind != contents.kind) return false;
  if (slot.scheme == contents.scheme) return true;
  if (slot.kind == DefinitionKind::Variable) return false;
  return slot.scheme.variables == contents.scheme.variables &&
         slot.scheme.type->argument() == contents.scheme.type->argument() &&
         slot.scheme.type->result() == contents.scheme.type->result();
}

}  // namespace

template <class Check>
Checked FormChecker::checked(const Check& check) {
  Checked result;
  try {
    result.form = check();
    result.form->form = form_;
  } catch (Failure& failure) {
    failure.error.where = where_;
    failure.error.source = form_->source;
    failure.error.diagnostic.function = function_;
    result.error = std::move(failure.error);
  }
  return result;
}

Checked FormChecker::check() {
  return checked(
      [&] { return std::visit([&](const auto& node) { return check_node(node); }, form_->node); });
}

Checked FormChecker::check_for_streams(TypePtr argument) {
  const auto& form = std::get<ast::FunctionForm>(form_->node);
  where_ = "function " + form.name;
  function_ = form.name;
  return checked([&] {
    SelfDefinition self;
    self.name = form.name;
    collect_defaults(*form.argument, self);
    return definition(form, std::move(self), {}, with_streams_of(argument));
  });
}

TypePtr FormChecker::with_streams_of(TypePtr argument) {
  argument = resolved(argument);
  if (argument->kind == TypeKind::Stream) return inference_.stream(inference_.fresh());
  if (argument->kind != TypeKind::Pair) return inference_.fresh();
  const TypePtr first = with_streams_of(argument->first());
  return inference_.pair(first, with_streams_of(argument->second()));
}

std::shared_ptr<Body> FormChecker::new_body() const {
  auto body = std::make_shared<Body>();
  body->source = form_->source;
  return body;
}

// The slot that a definition goes to.
CheckedForm::Change FormChecker::change(Definition contents) {
  CheckedForm::Change change;
  Definition* existing = session_.find(contents.name);
  // A program's own one: the library goes on with that which it has.
  if (existing != nullptr && existing->open && !session_.loading_library_) existing = nullptr;
  change.replaces = existing != nullptr && same_type(*existing, contents);
  change.hides = existing != nullptr && !change.replaces;
  change.slot = change.replaces ? existing : session_.new_slot(contents.name);
  if (contents.kind != DefinitionKind::Variable) {
    const TypePtr type = contents.scheme.type;
    std::vector<TypePtr> generics;
    for (std::uint32_t i = 0; i < contents.scheme.variables.size(); ++i) {
      generics.push_back(session_.types().generic(i));
    }
    contents.scheme.type =
        session_.types().function(type->argument(), type->result(),
                                  session_.types().function_identity(change.slot, generics));
  }
  contents.library = session_.loading_library_;
  contents.open |= session_.loading_open_;
  if (change.replaces && contents.documentation.empty()) {
    contents.documentation = change.slot->documentation;  // that of its declaration
    contents.open = change.slot->open;
  }
  if (!change.replaces) change.slot->scheme = contents.scheme;
  change.contents = std::move(contents);
  return change;
}

void FormChecker::check_name(const std::string& name, Span span) const {
  if (session_.loading_library_) return;
  if (name == "t" || name == "f" || name == "time") fail_reserved(name, span);
  const Definition* existing = session_.find(name);
  if (existing != nullptr && existing->library && !existing->open) {
    fail(Category::Builtin, name, span,
         fmt::format("`{}` belongs to the library and cannot be defined again", name), {},
         "choose another name; local variables may have this one");
  }
}

// ---- Functions

void FormChecker::collect_defaults(const ast::Pattern& argument, SelfDefinition& self) const {
  self.positional = 0;
  const ast::Pattern* at = &argument;
  while (true) {
    const bool last = at->kind != ast::Pattern::Kind::Pair;
    const ast::Pattern& component = last ? *at : *at->first;
    if (component.kind == ast::Pattern::Kind::Default) {
      self.defaults.push_back({component.name, component.value.get()});
    } else if (!self.defaults.empty()) {
      fail(Category::Pattern, {}, component.span,
           "parameters without a default stand before those with one");
    } else {
      ++self.positional;
    }
    if (last) return;
    at = at->second.get();
  }
}

// A default is checked anew at each call; this finds what is wrong with it in any case.
void FormChecker::check_defaults(const SelfDefinition& self) {
  Body unused;
  unused.source = form_->source;
  ExpressionChecker checker(session_, inference_, unused, nullptr, function_);
  for (const Definition::Default& parameter : self.defaults) checker.expression(*parameter.value);
}

Definition FormChecker::function_contents(const ast::FunctionForm& form,
                                          const SelfDefinition& self) const {
  constexpr std::string_view kSerialMark = "Serial only.";
  constexpr std::string_view kBeyondMark = "Beyond NESL 3.1.";
  Definition contents;
  contents.name = form.name;
  contents.kind = DefinitionKind::Function;
  contents.documentation = form.documentation;
  contents.form = form_;
  contents.span = form.name_span;
  contents.defaults = self.defaults;
  contents.positional = self.positional;
  contents.serial_only = session_.loading_library_ && form.documentation.starts_with(kSerialMark);
  contents.open = session_.loading_library_ && form.documentation.starts_with(kBeyondMark);
  return contents;
}

// The scheme without the identity of the function, which is not known before its slot is.
Scheme FormChecker::function_scheme(TypePtr argument, TypePtr result) {
  Scheme scheme;
  const TypePtr types[] = {
      inference_.function(argument, result, inference_.own_function_identity())};
  scheme.variables = inference_.generalize(types);
  const TypePtr finished_argument = inference_.finish(argument, nullptr);
  const TypePtr finished_result = inference_.finish(result, nullptr);
  if (finished_argument == nullptr || finished_result == nullptr) {
    fail_clash(Clash::TooLarge, form_->span, "the type of this function is too large", {});
  }
  scheme.type = session_.types().function(finished_argument, finished_result,
                                          session_.types().function_identity(nullptr, {}));
  return scheme;
}

CheckedForm FormChecker::check_node(const ast::FunctionForm& form) {
  where_ = "function " + form.name;
  function_ = form.name;
  check_name(form.name, form.name_span);
  SelfDefinition self;
  self.name = form.name;
  collect_defaults(*form.argument, self);
  check_defaults(self);
  TypeVariables variables;
  if (form.type) {
    const TypeResolver resolver(session_, inference_);
    variables = resolver.variables(form.type->context);
  }
  return form.body ? definition(form, std::move(self), variables)
                   : declaration(form, std::move(self), variables);
}

CheckedForm FormChecker::declaration(const ast::FunctionForm& form, SelfDefinition self,
                                     const TypeVariables& variables) {
  Body unused;
  unused.source = form_->source;
  ExpressionChecker checker(session_, inference_, unused, nullptr, function_);
  const auto parameter = checker.pattern(*form.argument, true);
  const TypePtr result = inference_.fresh();
  apply_declared_type(*form.type->type, variables, *parameter, result);
  Definition contents = function_contents(form, self);
  contents.scheme = function_scheme(parameter->type, result);
  CheckedForm checked;
  checked.kind = CheckedForm::Kind::Declaration;
  checked.changes.push_back(change(std::move(contents)));
  // To declare once more what has a body already changes nothing.
  CheckedForm::Change& change = checked.changes.back();
  if (change.replaces && change.slot->body) change.contents = *change.slot;
  return checked;
}

void FormChecker::apply_declared_type(const ast::TypeExpr& declared, const TypeVariables& variables,
                                      Pattern& parameter, TypePtr result) {
  const TypeResolver resolver(session_, inference_);
  const TypePtr argument = resolver.resolve(*declared.first, variables, UnknownTypes::Opaque);
  const TypePtr declared_result =
      resolver.resolve(*declared.second, variables, UnknownTypes::Opaque);
  Clash clash = inference_.unify(argument, parameter.type);
  if (clash != Clash::None) {
    fail_clash(clash, declared.first->span, "the declared type does not fit the arguments",
               {{"the declared argument", argument, declared.first->span},
                {"the pattern", parameter.type, parameter.span}});
  }
  clash = inference_.unify(declared_result, result);
  if (clash != Clash::None) {
    fail_clash(clash, declared.second->span, "the declared result does not fit",
               {{"the declared result", declared_result, declared.second->span}});
  }
}

CheckedForm FormChecker::definition(const ast::FunctionForm& form, SelfDefinition self,
                                    const TypeVariables& variables, TypePtr streams) {
  const std::shared_ptr<Body> body = new_body();
  ExpressionChecker checker(session_, inference_, *body, &self, function_);
  checker.set_type_variables(variables);
  auto parameter = checker.pattern(*form.argument, true);
  const TypePtr result = inference_.fresh();
  if (form.type) apply_declared_type(*form.type->type, variables, *parameter, result);
  if (streams != nullptr) {
    const Clash clash = inference_.unify(parameter->type, streams);
    if (clash != Clash::None) {
      fail_clash(clash, parameter->span, "the parameters do not fit", {});
    }
  }
  self.type = inference_.function(parameter->type, result, inference_.own_function_identity());

  auto expression = checker.expression(*form.body);
  const Clash clash = inference_.unify(result, expression->type);
  if (clash != Clash::None) {
    const std::string message =
        form.type ? "the body does not have the declared type"
                  : fmt::format("the body of `{}` and its recursive calls have different types",
                                form.name);
    std::vector<Evidence> evidence = {{"the body", expression->type, expression->span}};
    evidence.push_back(form.type
                           ? Evidence{"the declared result", result, form.type->type->second->span}
                           : Evidence{"what its calls are used as", result, {}});
    const Operand given{expression->type, "x"};
    fail_clash(clash, expression->span, message, evidence, {}, hint_for_value(result, given));
  }

  Definition contents = function_contents(form, self);
  contents.scheme = function_scheme(parameter->type, result);
  CheckedForm checked;
  checked.kind = CheckedForm::Kind::Function;
  checked.changes.push_back(change(std::move(contents)));
  CheckedForm::Change& change = checked.changes.back();
  body->parameter = std::move(parameter);
  body->expression = std::move(expression);
  checker.finish(change.slot);
  change.contents.serial_only = change.contents.serial_only || checker.serial() != nullptr;
  change.contents.body = body;
  session_.keep(body);
  return checked;
}

// ---- Datatypes

CheckedForm FormChecker::check_node(const ast::DatatypeForm& form) {
  where_ = "datatype " + form.name;
  function_ = form.name;
  check_name(form.name, form.name_span);
  for (const char* atom : {"int", "float", "bool", "char"}) {
    if (form.name == atom) {
      fail(Category::Builtin, form.name, form.name_span,
           fmt::format("`{}` is a type of the language", form.name));
    }
  }
  const TypeResolver resolver(session_, inference_);
  const TypeVariables variables = resolver.variables(form.type.context);
  const TypePtr fields = resolver.resolve(*form.type.type, variables, UnknownTypes::Rejected);
  if (contains_function(fields)) {
    fail(Category::Type, {}, form.type.type->span, "a field cannot have a function type", {},
         "use a type parameter, which may then be a function type");
  }

  auto datatype = std::make_unique<Datatype>();
  datatype->name = form.name;
  std::vector<TypePtr> parameters;
  for (const ast::TypeBinding& binding : form.type.context) {
    const TypePtr variable = variables.find(binding.variable)->second;
    if (std::find(parameters.begin(), parameters.end(), variable) == parameters.end()) {
      parameters.push_back(variable);
    }
  }
  datatype->parameters = inference_.generalize(parameters);
  datatype->fields = inference_.finish(fields, nullptr);

  for (auto field = form.fields.begin(); field != form.fields.end(); ++field) {
    if (std::find(datatype->names.begin(), datatype->names.end(), field->name) !=
        datatype->names.end()) {
      fail(Category::Repeated, field->name, field->span,
           fmt::format("two fields have the name `{}`", field->name));
    }
    datatype->names.push_back(field->name);
  }

  const Datatype* existing = session_.find_datatype(form.name);
  const bool repeated = existing != nullptr && existing->fields == datatype->fields &&
                        existing->parameters == datatype->parameters &&
                        existing->names == datatype->names;
  Datatype* chosen = datatype.get();
  if (repeated) {
    chosen = session_.datatypes_[existing->number].get();
  } else {
    datatype->number = static_cast<std::uint32_t>(session_.datatypes_.size());
    session_.datatypes_.push_back(std::move(datatype));
  }

  TypeTable& table = session_.types();
  std::vector<TypePtr> generics;
  for (std::uint32_t i = 0; i < chosen->parameters.size(); ++i)
    generics.push_back(table.generic(i));
  const TypePtr type = table.function(chosen->fields, table.record(chosen, generics),
                                      table.function_identity(nullptr, {}));
  Definition contents;
  contents.name = form.name;
  contents.kind = DefinitionKind::Constructor;
  contents.form = form_;
  contents.span = form.name_span;
  contents.datatype = chosen;
  contents.scheme = part_of(table, type, chosen->parameters);
  CheckedForm checked;
  checked.kind = CheckedForm::Kind::Datatype;
  checked.datatype = chosen;
  checked.changes.push_back(change(std::move(contents)));
  if (!repeated) chosen->constructor = checked.changes.back().slot;
  return checked;
}

// ---- Values

CheckedForm FormChecker::value(CheckedForm::Kind kind, const ast::Pattern* left,
                               const ast::Expr& right) {
  const std::shared_ptr<Body> body = new_body();
  ExpressionChecker checker(session_, inference_, *body, nullptr, {});
  if (left != nullptr) checker.check_left_side(*left);
  auto expression = checker.expression(right);
  std::unique_ptr<Pattern> pattern;
  if (left != nullptr) {
    pattern = checker.pattern(*left);
    checker.match(*pattern, *expression);
  }

  CheckedForm checked;
  checked.kind = kind;
  if (is_syntactic_value(right)) {
    const TypePtr types[] = {expression->type};
    checked.scheme.variables = inference_.generalize(types);
  }
  body->expression = std::move(expression);
  body->parameter = std::move(pattern);
  checker.finish(nullptr);
  checked.scheme.type = body->expression->type;
  if (body->parameter) {
    std::vector<const Local*> locals;
    collect_locals(*body->parameter, locals);
    const bool wildcards = std::count_if(locals.begin(), locals.end(),
                                         [](const Local* local) { return local->name == "_"; }) > 1;
    for (const Local* local : locals) {
      check_name(local->name, local->span);
      Definition contents;
      if (!wildcards || local->name != "_") contents.name = local->name;
      contents.kind = DefinitionKind::Variable;
      contents.span = local->span;
      contents.scheme = part_of(session_.types(), local->type, checked.scheme.variables);
      contents.body = body;
      checked.changes.push_back(change(std::move(contents)));
    }
  }
  check_bodies(*body);
  checked.body = body;
  session_.keep(body);
  return checked;
}

CheckedForm FormChecker::check_node(const ast::BindingForm& form) {
  for (const ast::Binding& option : form.options) {
    const std::string& name = option.pattern->name;
    if (name != "mem" && name != "max_time" && name != "config") {
      fail(Category::Argument, {}, option.pattern->span,
           fmt::format("`&=` has no option `{}`", name), {},
           "its options are mem, max_time and config");
    }
  }
  return value(CheckedForm::Kind::Binding, form.pattern.get(), *form.value);
}

CheckedForm FormChecker::check_node(const ast::ExpressionForm& form) {
  CheckedForm checked = value(CheckedForm::Kind::Expression, nullptr, *form.value);
  Definition contents;
  contents.name = "it";
  contents.kind = DefinitionKind::Variable;
  contents.scheme = checked.scheme;
  contents.body = checked.body;
  checked.changes.push_back(change(std::move(contents)));
  return checked;
}

CheckedForm FormChecker::check_node(const ast::CommandForm& form) {
  if (form.name == "load" && form.expression) {
    const auto* name = std::get_if<ast::Name>(&form.expression->node);
    if (name != nullptr && session_.find(name->name) == nullptr) {
      fail(Category::Undefined, name->name, form.expression->span,
           fmt::format("`{}` is not defined", name->name), {},
           fmt::format("the name of a file stands in quotes: `load \"{}\";`", name->name));
    }
  }
  if (form.expression) return value(CheckedForm::Kind::Command, nullptr, *form.expression);
  CheckedForm checked;
  checked.kind = CheckedForm::Kind::Command;
  return checked;
}

// Everything that the evaluation of a value may call must have a body.
void FormChecker::check_bodies(const Body& body) const {
  struct Reached {
    const Definition* definition;
    Span span;               // of the reference in `body` through which it is reached
    const Definition* from;  // who refers to it; null for `body` itself
  };
  std::vector<Reached> open;
  std::unordered_set<const Definition*> seen;
  for (const Body::Reference& reference : body.references) {
    open.push_back({reference.definition, reference.span, nullptr});
  }
  while (!open.empty()) {
    const Reached reached = open.back();
    open.pop_back();
    if (!seen.insert(reached.definition).second) continue;
    if (reached.definition->is_forward()) {
      const std::string& name = reached.definition->name;
      std::vector<vcode::Note> notes;
      if (reached.from != nullptr) {
        notes.push_back({fmt::format("`{}` is called by `{}`", name, reached.from->name), {}});
      }
      fail(Category::NoBody, name, reached.span,
           fmt::format("the function `{}` is declared, but has no body", name), std::move(notes),
           "a definition with another type than the declared one does not supply the body");
    }
    // The value of a variable is there already; only the code of function values matters.
    if (!reached.definition->body) continue;
    for (const Body::Reference& reference : reached.definition->body->references) {
      open.push_back({reference.definition, reached.span, reached.definition});
    }
  }
}

}  // namespace neslc
