#include "neslc/front/type_resolver.hpp"

#include <fmt/format.h>

#include "neslc/front/failure.hpp"
#include "neslc/front/hints.hpp"
#include "neslc/front/session.hpp"
#include "vcode/keywords.hpp"

namespace neslc {

TypeVariables TypeResolver::variables(const std::vector<ast::TypeBinding>& context) const {
  TypeVariables result;
  for (const ast::TypeBinding& binding : context) {
    std::optional<TypeClass> type_class;
    for (const TypeClass known :
         {TypeClass::Any, TypeClass::Ordinal, TypeClass::Number, TypeClass::Logical}) {
      if (binding.type_class == class_name(known)) type_class = known;
    }
    if (!type_class) {
      fail(Category::UnknownType, binding.type_class, binding.span,
           fmt::format("there is no class of types `{}`", binding.type_class), {},
           "the classes are number, ordinal, logical and any");
    }
    const TypePtr variable = inference_.fresh(*type_class);
    variable->variable->leaning = InferenceVariable::Leaning::Open;
    result[binding.variable] = variable;
  }
  return result;
}

TypePtr TypeResolver::atom(std::string_view name) const {
  TypeTable& table = inference_.table();
  if (name == "int") return table.int_type();
  if (name == "float") return table.float_type();
  if (name == "bool") return table.bool_type();
  if (name == "char") return table.char_type();
  return nullptr;
}

TypePtr TypeResolver::named(const ast::TypeExpr& type, const TypeVariables& variables,
                            UnknownTypes unknown) const {
  if (const auto found = variables.find(type.name); found != variables.end()) return found->second;
  if (const TypePtr known = atom(type.name)) return known;
  if (const Datatype* datatype = session_.find_datatype(type.name)) {
    if (datatype->parameters.empty()) return inference_.record(datatype, {});
    fail(Category::Type, {}, type.span,
         fmt::format("the datatype `{}` needs {} type argument{}", type.name,
                     datatype->parameters.size(), datatype->parameters.size() == 1 ? "" : "s"));
  }
  if (unknown == UnknownTypes::Opaque) return inference_.table().opaque(type.name);
  std::string hint = hint_for_type(type.name);
  if (hint.empty()) {
    vcode::NearestWord nearest(type.name);
    for (const char* atom_name : {"int", "float", "bool", "char"}) nearest.consider(atom_name);
    const std::vector<std::string> datatypes = session_.datatype_names();
    for (const std::string& datatype : datatypes) nearest.consider(datatype);
    hint = nearest.best().empty()
               ? "a type variable is declared in the context: `(a, a) :: (a in any)`"
               : fmt::format("did you mean `{}`?", nearest.best());
  }
  fail(Category::UnknownType, type.name, type.span, fmt::format("there is no type `{}`", type.name),
       {}, std::move(hint));
}

TypePtr TypeResolver::applied(const ast::TypeExpr& type, const TypeVariables& variables,
                              UnknownTypes unknown) const {
  const Datatype* datatype = session_.find_datatype(type.name);
  if (datatype == nullptr) {
    if (unknown == UnknownTypes::Opaque) return inference_.table().opaque(type.name);
    fail(Category::UnknownType, type.name, type.span,
         fmt::format("there is no datatype `{}`", type.name));
  }
  std::vector<TypePtr> arguments;
  const ast::TypeExpr* rest = type.first.get();
  while (arguments.size() + 1 < datatype->parameters.size() &&
         rest->kind == ast::TypeExpr::Kind::Pair) {
    arguments.push_back(resolve(*rest->first, variables, unknown));
    rest = rest->second.get();
  }
  arguments.push_back(resolve(*rest, variables, unknown));
  if (arguments.size() != datatype->parameters.size()) {
    fail(Category::Type, {}, type.span,
         fmt::format("the datatype `{}` has {} type parameters, not {}", type.name,
                     datatype->parameters.size(), arguments.size()));
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const TypePtr bound = inference_.fresh(datatype->parameters[i]);
    const Inference::Clash clash = inference_.unify(bound, arguments[i]);
    if (clash != Inference::Clash::None) {
      fail_clash(clash, type.span,
                 fmt::format("a type argument of `{}` is not in the class {}", type.name,
                             class_name(datatype->parameters[i])),
                 {{"the argument", arguments[i], {}}});
    }
  }
  return inference_.record(datatype, std::move(arguments));
}

TypePtr TypeResolver::resolve(const ast::TypeExpr& type, const TypeVariables& variables,
                              UnknownTypes unknown) const {
  switch (type.kind) {
    case ast::TypeExpr::Kind::Name:
      return named(type, variables, unknown);
    case ast::TypeExpr::Kind::Apply:
      return applied(type, variables, unknown);
    case ast::TypeExpr::Kind::Sequence:
      return inference_.sequence(resolve(*type.first, variables, unknown));
    case ast::TypeExpr::Kind::Stream:
      return inference_.stream(resolve(*type.first, variables, unknown));
    case ast::TypeExpr::Kind::Pair: {
      const TypePtr first = resolve(*type.first, variables, unknown);
      return inference_.pair(first, resolve(*type.second, variables, unknown));
    }
    case ast::TypeExpr::Kind::Arrow: {
      const TypePtr argument = resolve(*type.first, variables, unknown);
      const TypePtr result = resolve(*type.second, variables, unknown);
      return inference_.function(argument, result, inference_.fresh_identity());
    }
  }
  return nullptr;
}

}  // namespace neslc
