// One top-level form: what it defines, and whether it may.
#pragma once

#include <memory>
#include <string>

#include "neslc/front/expression_checker.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

class FormChecker {
 public:
  FormChecker(Session& session, std::shared_ptr<const ast::Form> form)
      : session_(session), form_(std::move(form)), inference_(session.types()) {}

  Checked check();
  /// The form being a function without a declared type: what it is when it is given an argument of
  /// that type, in which all that is not a stream may be anything.
  Checked check_for_streams(TypePtr argument);

 private:
  CheckedForm check_node(const ast::FunctionForm& form);
  CheckedForm check_node(const ast::DatatypeForm& form);
  CheckedForm check_node(const ast::BindingForm& form);
  CheckedForm check_node(const ast::ExpressionForm& form);
  CheckedForm check_node(const ast::CommandForm& form);

  void check_name(const std::string& name, Span span) const;
  void collect_defaults(const ast::Pattern& argument, SelfDefinition& self) const;
  void check_defaults(const SelfDefinition& self);
  CheckedForm declaration(const ast::FunctionForm& form, SelfDefinition self,
                          const TypeVariables& variables);
  CheckedForm definition(const ast::FunctionForm& form, SelfDefinition self,
                         const TypeVariables& variables, TypePtr streams = nullptr);
  TypePtr with_streams_of(TypePtr argument);
  template <class Check>
  Checked checked(const Check& check);
  void apply_declared_type(const ast::TypeExpr& declared, const TypeVariables& variables,
                           Pattern& parameter, TypePtr result);
  Definition function_contents(const ast::FunctionForm& form, const SelfDefinition& self) const;
  Scheme function_scheme(TypePtr argument, TypePtr result);
  CheckedForm::Change change(Definition contents);
  CheckedForm value(CheckedForm::Kind kind, const ast::Pattern* left, const ast::Expr& right);
  std::shared_ptr<Body> new_body() const;
  void check_bodies(const Body& body) const;

  Session& session_;
  std::shared_ptr<const ast::Form> form_;
  Inference inference_;
  std::string where_;     // "function f"
  std::string function_;  // "f"
};

}  // namespace neslc
