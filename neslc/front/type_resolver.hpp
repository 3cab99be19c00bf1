// Types as written to types.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "neslc/front/ast.hpp"
#include "neslc/front/inference.hpp"
#include "neslc/front/types.hpp"

namespace neslc {

class Session;

/// The type variables of a context.
using TypeVariables = std::map<std::string, TypePtr, std::less<>>;

/// What an undeclared name in a type is.
enum class UnknownTypes : std::uint8_t { Rejected, Opaque };

class TypeResolver {
 public:
  TypeResolver(Session& session, Inference& inference) : session_(session), inference_(inference) {}

  /// Fresh variables for a context. Throws `Failure` for a class that does not exist.
  TypeVariables variables(const std::vector<ast::TypeBinding>& context) const;
  TypePtr resolve(const ast::TypeExpr& type, const TypeVariables& variables,
                  UnknownTypes unknown) const;

 private:
  TypePtr named(const ast::TypeExpr& type, const TypeVariables& variables,
                UnknownTypes unknown) const;
  TypePtr applied(const ast::TypeExpr& type, const TypeVariables& variables,
                  UnknownTypes unknown) const;
  TypePtr atom(std::string_view name) const;

  Session& session_;
  Inference& inference_;
};

}  // namespace neslc
