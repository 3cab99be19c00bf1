// Expressions, patterns and types: the inner part of the grammar (reference, section 2).
#pragma once

#include "neslc/front/ast.hpp"
#include "neslc/front/token_stream.hpp"

namespace neslc {

/// Recursive descent with a bound on the depth. Every function throws `Failure` at an error.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ast::ExprPtr expression();
  ast::TypeDef type_definition();
  /// The same for a datatype, whose fields may have names.
  ast::TypeDef record_definition(std::vector<ast::DatatypeForm::FieldName>& fields);
  /// At an `=` behind what was read as the end of a binding: says what separates the two.
  [[noreturn]] void fail_separator(const char* rule) const;
  /// Reads an expression as the pattern that it looks like.
  static ast::PatternPtr to_pattern(ast::ExprPtr expression);

 private:
  class Guard;

  ast::ExprPtr element();
  ast::ExprPtr infix(int level);
  ast::ExprPtr unary();
  ast::ExprPtr postfix();
  ast::ExprPtr primary();
  ast::ExprPtr literal();
  ast::ExprPtr conditional();
  ast::ExprPtr let();
  ast::ExprPtr closure();
  ast::ExprPtr apply_to_each();
  ast::ExprPtr pattern_value(std::size_t first, const ast::Pattern& pattern);
  ast::ExprPtr serial_each(std::size_t first, int below, ast::ApplyToEach each);
  ast::ExprPtr bracket();
  ast::ExprPtr time();
  bool at_negative_number() const;
  bool at_juxtaposed() const;
  ast::Binding binding();
  ast::Binding generator(std::size_t first, ast::ExprPtr left);

  bool at_closing() const;
  void expect_after_comma() const;
  void expect_operand() const;
  [[noreturn]] void fail_missing_expression() const;
  [[noreturn]] void fail_no_then(std::size_t first) const;
  [[noreturn]] void fail_no_else(std::size_t first, std::size_t branch);
  [[noreturn]] void fail_no_in(std::size_t first, const ast::Expr& left) const;
  void fail_without_in(std::size_t first, std::size_t begin);
  void resume_at(std::size_t begin);

  ast::TypeExprPtr type();
  ast::TypeExprPtr arrow_type();
  ast::TypeExprPtr atom_type();
  ast::TypeExprPtr make_type(ast::TypeExpr::Kind kind, std::size_t first, ast::TypeExprPtr left,
                             ast::TypeExprPtr right);
  void context(ast::TypeDef& definition);

  template <typename Node>
  ast::ExprPtr make(std::size_t first, int depth_below, Node node) const;

  TokenStream& tokens_;
  int depth_ = 0;
};

}  // namespace neslc
