#include "neslc/front/inference.hpp"

#include <algorithm>

namespace neslc {
namespace {

bool is_identity(TypeKind kind) {
  return kind == TypeKind::FunctionIdentity || kind == TypeKind::LambdaIdentity ||
         kind == TypeKind::PartialIdentity;
}

// The smaller of two classes if one contains the other.
std::optional<TypeClass> smaller(TypeClass a, TypeClass b) {
  if (a == b || b == TypeClass::Any) return a;
  if (a == TypeClass::Any) return b;
  const auto number = [](TypeClass c) { return c == TypeClass::Number || c == TypeClass::Ordinal; };
  if (number(a) && number(b)) return TypeClass::Number;
  return std::nullopt;
}

}  // namespace

TypePtr resolved(TypePtr type) {
  while (type->kind == TypeKind::Variable && type->variable->binding != nullptr) {
    type = type->variable->binding;
  }
  return type;
}

// ---- Making types

TypePtr Inference::in_arena(Type type) {
  type.has_variables = true;
  types_.push_back(std::move(type));
  return &types_.back();
}

TypePtr Inference::rebuilt(const Type& model, std::vector<TypePtr> arguments) {
  const bool open = std::any_of(arguments.begin(), arguments.end(),
                                [](TypePtr argument) { return argument->has_variables; });
  if (!open) return table_.same_kind(model, std::move(arguments));
  Type type;
  type.kind = model.kind;
  type.datatype = model.datatype;
  type.function = model.function;
  type.lambda = model.lambda;
  type.arguments = std::move(arguments);
  return in_arena(std::move(type));
}

TypePtr Inference::fresh(TypeClass type_class) {
  variables_.emplace_back();
  variables_.back().type_class = type_class;
  Type type;
  type.kind = TypeKind::Variable;
  type.variable = &variables_.back();
  return in_arena(std::move(type));
}

TypePtr Inference::fresh_identity() {
  const TypePtr result = fresh();
  result->variable->is_identity = true;
  return result;
}

TypePtr Inference::sequence(TypePtr element) {
  Type model;
  model.kind = TypeKind::Sequence;
  return rebuilt(model, {element});
}

TypePtr Inference::stream(TypePtr element) {
  Type model;
  model.kind = TypeKind::Stream;
  return rebuilt(model, {element});
}

TypePtr Inference::pair(TypePtr first, TypePtr second) {
  Type model;
  model.kind = TypeKind::Pair;
  return rebuilt(model, {first, second});
}

TypePtr Inference::record(const Datatype* datatype, std::vector<TypePtr> arguments) {
  Type model;
  model.kind = TypeKind::Record;
  model.datatype = datatype;
  return rebuilt(model, std::move(arguments));
}

TypePtr Inference::function(TypePtr argument, TypePtr result, TypePtr identity) {
  Type model;
  model.kind = TypeKind::Function;
  return rebuilt(model, {argument, result, identity});
}

TypePtr Inference::partial_identity(TypePtr function_type, TypePtr value) {
  Type model;
  model.kind = TypeKind::PartialIdentity;
  return rebuilt(model, {function_type, value});
}

TypePtr Inference::own_function_identity() {
  Type type;
  type.kind = TypeKind::FunctionIdentity;
  return in_arena(std::move(type));
}

TypePtr Inference::own_lambda_identity(const Lambda* lambda) {
  Type type;
  type.kind = TypeKind::LambdaIdentity;
  type.lambda = lambda;
  return in_arena(std::move(type));
}

TypePtr Inference::instantiated(TypePtr type, std::span<const TypePtr> instantiation) {
  ++steps_;
  if (!type->has_generics) return type;
  if (type->kind == TypeKind::Generic) return instantiation[type->index];
  std::vector<TypePtr> arguments;
  arguments.reserve(type->arguments.size());
  for (TypePtr argument : type->arguments) {
    // When the work is used up the next unification says so; until then any type will do.
    arguments.push_back(steps_ > kMaxSteps ? table_.int_type()
                                           : instantiated(argument, instantiation));
  }
  return rebuilt(*type, std::move(arguments));
}

TypePtr Inference::instantiate(TypePtr type, std::span<const TypePtr> instantiation) {
  return instantiated(type, instantiation);
}

TypePtr Inference::instantiate(const Scheme& scheme, std::vector<TypePtr>& instantiation) {
  instantiation.reserve(scheme.variables.size());
  for (TypeClass type_class : scheme.variables) instantiation.push_back(fresh(type_class));
  return instantiated(scheme.type, instantiation);
}

// ---- Unification

void Inference::set(InferenceVariable* variable, TypePtr binding, TypeClass type_class) {
  trail_.push_back({variable, variable->binding, variable->type_class});
  variable->binding = binding;
  variable->type_class = type_class;
}

Inference::Clash Inference::occurs(const InferenceVariable* variable, TypePtr type, int depth) {
  if (!type->has_variables) return Clash::None;
  if (exhausted(depth)) return Clash::TooLarge;
  type = resolved(type);
  if (type->kind == TypeKind::Variable) {
    return type->variable == variable ? Clash::Infinite : Clash::None;
  }
  for (TypePtr argument : type->arguments) {
    const Clash clash = occurs(variable, argument, depth + 1);
    if (clash != Clash::None) return clash;
  }
  return Clash::None;
}

Inference::Clash Inference::merge(TypePtr a, TypePtr b) {
  const std::optional<TypeClass> both = smaller(a->variable->type_class, b->variable->type_class);
  if (!both) {
    postponed_.emplace_back(a, b);
    return Clash::None;
  }
  const bool identity = a->variable->is_identity || b->variable->is_identity;
  b->variable->is_identity = identity;
  b->variable->leaning = std::max(a->variable->leaning, b->variable->leaning);
  set(b->variable, nullptr, *both);
  set(a->variable, b, *both);
  return Clash::None;
}

Inference::Clash Inference::bind(TypePtr variable, TypePtr type, int depth) {
  if (!belongs_to(type, variable->variable->type_class)) return Clash::Different;
  const Clash clash = occurs(variable->variable, type, depth);
  if (clash == Clash::None) set(variable->variable, type, variable->variable->type_class);
  return clash;
}

Inference::Clash Inference::unified(TypePtr a, TypePtr b, int depth) {
  if (exhausted(depth)) return Clash::TooLarge;
  a = resolved(a);
  b = resolved(b);
  if (a == b) return Clash::None;
  if (a->kind == TypeKind::Variable && b->kind == TypeKind::Variable) return merge(a, b);
  if (a->kind == TypeKind::Variable) return bind(a, b, depth);
  if (b->kind == TypeKind::Variable) return bind(b, a, depth);
  const bool same = a->kind == b->kind && a->datatype == b->datatype &&
                    a->function == b->function && a->lambda == b->lambda && a->name == b->name &&
                    a->arguments.size() == b->arguments.size();
  if (!same) return is_identity(a->kind) ? Clash::Identity : Clash::Different;
  for (std::size_t i = 0; i < a->arguments.size(); ++i) {
    const Clash clash = unified(a->arguments[i], b->arguments[i], depth + 1);
    if (clash != Clash::None) return clash;
  }
  // Without arguments one atom has one object, except for the identities of the checked definition.
  return Clash::None;
}

// What has been unified since may have decided one of the two, as the 1 of `x or 1` does where x
// has been compared: it must not matter on which side it stands.
Inference::Clash Inference::unify_postponed() {
  while (!postponed_.empty()) {
    const auto pairs = std::exchange(postponed_, {});
    for (const auto& [a, b] : pairs) {
      const Clash clash = unified(a, b, 0);
      if (clash != Clash::None) return clash;
    }
    if (postponed_.size() == pairs.size()) return Clash::Classes;
  }
  return Clash::None;
}

Inference::Clash Inference::unify(TypePtr a, TypePtr b) {
  trail_.clear();
  postponed_.clear();
  Clash clash = unified(a, b, 0);
  if (clash == Clash::None) clash = unify_postponed();
  if (clash != Clash::None) {
    for (auto undo = trail_.rbegin(); undo != trail_.rend(); ++undo) {
      undo->variable->binding = undo->binding;
      undo->variable->type_class = undo->type_class;
    }
  }
  return clash;
}

// ---- Generalisation

namespace {

bool leans_to_bool(const InferenceVariable& variable) {
  const TypeClass type_class = variable.type_class;
  return variable.leaning == InferenceVariable::Leaning::Bool &&
         (type_class == TypeClass::Any || type_class == TypeClass::Logical);
}

}  // namespace

// False if the type is too large to be walked.
bool Inference::number_variables(TypePtr type, Numbering numbering, int depth,
                                 std::vector<TypeClass>& classes) {
  if (!type->has_variables) return true;
  if (exhausted(depth)) return false;
  type = resolved(type);
  if (type->kind == TypeKind::Variable) {
    InferenceVariable& variable = *type->variable;
    if (variable.generic < 0) {
      if (leans_to_bool(variable) && !numbering.in_argument) {
        variable.binding = table_.bool_type();
        return true;
      }
      variable.generic = static_cast<std::int64_t>(classes.size());
      classes.push_back(variable.type_class);
    }
    return true;
  }
  const bool function = type->kind == TypeKind::Function;
  for (std::size_t i = 0; i < type->arguments.size(); ++i) {
    if (function && i == 2 && !numbering.identities) continue;
    const Numbering below{numbering.identities, numbering.in_argument || (function && i == 0)};
    if (!number_variables(type->arguments[i], below, depth + 1, classes)) return false;
  }
  return true;
}

std::vector<TypeClass> Inference::generalize(std::span<const TypePtr> types) {
  std::vector<TypeClass> classes;
  for (const bool identities : {false, true}) {
    for (TypePtr type : types) number_variables(type, {identities, false}, 0, classes);
  }
  generics_ = classes.size();
  return classes;
}

TypePtr Inference::finished(TypePtr type, const Definition* self, int depth) {
  if (!type->has_variables) return type;
  type = resolved(type);
  if (!type->has_variables) return type;
  if (type->kind == TypeKind::Variable) {
    const InferenceVariable& variable = *type->variable;
    if (variable.generic >= 0) return table_.generic(static_cast<std::uint32_t>(variable.generic));
    // Nothing depends on it. An identity that nobody needs is no function at all.
    if (variable.is_identity) return table_.opaque("");
    return leans_to_bool(variable) ? table_.bool_type() : table_.int_type();
  }
  if (const auto found = finished_.find(type); found != finished_.end()) return found->second;
  if (exhausted(depth)) return nullptr;
  std::vector<TypePtr> arguments;
  const bool own = is_identity(type->kind) && type->arguments.empty();
  if (own) {
    for (std::uint32_t i = 0; i < generics_; ++i) arguments.push_back(table_.generic(i));
  }
  for (TypePtr argument : type->arguments) {
    arguments.push_back(finished(argument, self, depth + 1));
    if (arguments.back() == nullptr) return nullptr;
  }
  const TypePtr result = own && type->kind == TypeKind::FunctionIdentity
                             ? table_.function_identity(self, std::move(arguments))
                             : table_.same_kind(*type, std::move(arguments));
  finished_.emplace(type, result);
  return result;
}

TypePtr Inference::finish(TypePtr type, const Definition* self) {
  return finished(type, self, 0);
}

}  // namespace neslc
