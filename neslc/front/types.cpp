#include "neslc/front/types.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <unordered_set>

namespace neslc {
namespace {

std::size_t combine(std::size_t seed, std::size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
}

struct StructuralHash {
  std::size_t operator()(TypePtr type) const {
    std::size_t hash = static_cast<std::size_t>(type->kind);
    hash = combine(hash, type->index);
    for (TypePtr argument : type->arguments) hash = combine(hash, std::hash<TypePtr>()(argument));
    hash = combine(hash, std::hash<const void*>()(type->datatype));
    hash = combine(hash, std::hash<const void*>()(type->function));
    hash = combine(hash, std::hash<const void*>()(type->lambda));
    return combine(hash, std::hash<std::string>()(type->name));
  }
};

// The arguments are interned already: equality of one level is equality of types.
struct StructuralEqual {
  bool operator()(TypePtr a, TypePtr b) const {
    return a->kind == b->kind && a->index == b->index && a->arguments == b->arguments &&
           a->datatype == b->datatype && a->function == b->function && a->lambda == b->lambda &&
           a->name == b->name;
  }
};

using Replaced = std::unordered_map<TypePtr, TypePtr>;

}  // namespace

struct TypeTable::Index {
  std::deque<Type> types;
  std::unordered_set<TypePtr, StructuralHash, StructuralEqual> known;
};

TypeTable::TypeTable() : index_(std::make_unique<Index>()) {
  constexpr TypeKind kAtoms[] = {TypeKind::Int, TypeKind::Float, TypeKind::Bool, TypeKind::Char};
  for (std::size_t i = 0; i < std::size(kAtoms); ++i) {
    Type atom;
    atom.kind = kAtoms[i];
    atoms_[i] = intern(std::move(atom));
  }
}

TypeTable::~TypeTable() = default;

TypePtr TypeTable::intern(Type type) {
  for (TypePtr argument : type.arguments) type.has_generics |= argument->has_generics;
  if (const auto found = index_->known.find(&type); found != index_->known.end()) return *found;
  index_->types.push_back(std::move(type));
  index_->known.insert(&index_->types.back());
  return &index_->types.back();
}

TypePtr TypeTable::same_kind(const Type& model, std::vector<TypePtr> arguments) {
  Type type;
  type.kind = model.kind;
  type.index = model.index;
  type.arguments = std::move(arguments);
  type.datatype = model.datatype;
  type.function = model.function;
  type.lambda = model.lambda;
  type.name = model.name;
  type.has_generics = model.kind == TypeKind::Generic;
  return intern(std::move(type));
}

TypePtr TypeTable::sequence(TypePtr element) {
  Type model;
  model.kind = TypeKind::Sequence;
  return same_kind(model, {element});
}

TypePtr TypeTable::stream(TypePtr element) {
  Type model;
  model.kind = TypeKind::Stream;
  return same_kind(model, {element});
}

TypePtr TypeTable::pair(TypePtr first, TypePtr second) {
  Type model;
  model.kind = TypeKind::Pair;
  return same_kind(model, {first, second});
}

TypePtr TypeTable::record(const Datatype* datatype, std::vector<TypePtr> arguments) {
  Type model;
  model.kind = TypeKind::Record;
  model.datatype = datatype;
  return same_kind(model, std::move(arguments));
}

TypePtr TypeTable::function(TypePtr argument, TypePtr result, TypePtr identity) {
  Type model;
  model.kind = TypeKind::Function;
  return same_kind(model, {argument, result, identity});
}

TypePtr TypeTable::function_identity(const Definition* function,
                                     std::vector<TypePtr> instantiation) {
  Type model;
  model.kind = TypeKind::FunctionIdentity;
  model.function = function;
  return same_kind(model, std::move(instantiation));
}

TypePtr TypeTable::lambda_identity(const Lambda* lambda, std::vector<TypePtr> instantiation) {
  Type model;
  model.kind = TypeKind::LambdaIdentity;
  model.lambda = lambda;
  return same_kind(model, std::move(instantiation));
}

TypePtr TypeTable::partial_identity(TypePtr function_type, TypePtr value) {
  Type model;
  model.kind = TypeKind::PartialIdentity;
  return same_kind(model, {function_type, value});
}

TypePtr TypeTable::generic(std::uint32_t index) {
  Type model;
  model.kind = TypeKind::Generic;
  model.index = index;
  return same_kind(model, {});
}

TypePtr TypeTable::opaque(const std::string& name) {
  Type model;
  model.kind = TypeKind::Opaque;
  model.name = name;
  return same_kind(model, {});
}

namespace {

TypePtr substituted(TypeTable& table, TypePtr type, std::span<const TypePtr> instantiation,
                    Replaced& replaced) {
  if (!type->has_generics) return type;
  if (type->kind == TypeKind::Generic) return instantiation[type->index];
  if (const auto found = replaced.find(type); found != replaced.end()) return found->second;
  std::vector<TypePtr> arguments;
  arguments.reserve(type->arguments.size());
  for (TypePtr argument : type->arguments) {
    arguments.push_back(substituted(table, argument, instantiation, replaced));
  }
  TypePtr result = table.same_kind(*type, std::move(arguments));
  replaced.emplace(type, result);
  return result;
}

}  // namespace

TypePtr TypeTable::substitute(TypePtr type, std::span<const TypePtr> instantiation) {
  Replaced replaced;
  return substituted(*this, type, instantiation, replaced);
}

TypePtr TypeTable::fields_of(TypePtr record) {
  return substitute(record->datatype->fields, record->arguments);
}

bool belongs_to(TypePtr type, TypeClass type_class) {
  switch (type_class) {
    case TypeClass::Any:
      return true;
    case TypeClass::Ordinal:
      return type->kind == TypeKind::Int || type->kind == TypeKind::Float ||
             type->kind == TypeKind::Char;
    case TypeClass::Number:
      return type->kind == TypeKind::Int || type->kind == TypeKind::Float;
    case TypeClass::Logical:
      return type->kind == TypeKind::Int || type->kind == TypeKind::Bool;
  }
  return false;
}

bool contains_function(TypePtr type) {
  return type->kind == TypeKind::Function ||
         std::any_of(type->arguments.begin(), type->arguments.end(), contains_function);
}

bool contains_stream(TypePtr type) {
  switch (type->kind) {
    case TypeKind::Stream:
      return true;
    case TypeKind::Sequence:
    case TypeKind::Pair:
    case TypeKind::Record:
      return std::any_of(type->arguments.begin(), type->arguments.end(), contains_stream);
    default:
      return false;
  }
}

bool is_scalar_type(TypePtr type) {
  switch (type->kind) {
    case TypeKind::Int:
    case TypeKind::Float:
    case TypeKind::Bool:
    case TypeKind::Char:
      return true;
    case TypeKind::Pair:
      return is_scalar_type(type->first()) && is_scalar_type(type->second());
    default:
      return false;
  }
}

const char* class_name(TypeClass type_class) {
  switch (type_class) {
    case TypeClass::Any:
      return "any";
    case TypeClass::Ordinal:
      return "ordinal";
    case TypeClass::Number:
      return "number";
    case TypeClass::Logical:
      return "logical";
  }
  return "";
}

}  // namespace neslc
