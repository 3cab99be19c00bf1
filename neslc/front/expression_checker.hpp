// Expressions: names resolved, types inferred, the typed tree built.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "neslc/front/ast.hpp"
#include "neslc/front/failure.hpp"
#include "neslc/front/inference.hpp"
#include "neslc/front/operand_hints.hpp"
#include "neslc/front/session.hpp"
#include "neslc/front/type_resolver.hpp"
#include "neslc/front/typed.hpp"

namespace neslc {

/// The function whose body is being checked: its recursive calls are monomorphic.
struct SelfDefinition {
  std::string name;
  TypePtr type = nullptr;
  std::vector<Definition::Default> defaults;
  std::size_t positional = 1;
};

/// Builds the expressions of one body. Types contain inference variables until `finish`.
/// Every function throws `Failure` at an error.
class ExpressionChecker {
 public:
  using Typed = std::unique_ptr<Expr>;
  using TypedPattern = std::unique_ptr<Pattern>;

  /// `self` may be null, else it stays valid and may change until the first expression.
  ExpressionChecker(Session& session, Inference& inference, Body& body, const SelfDefinition* self,
                    std::string enclosing);

  /// Variables of the declared type of the function, for typed empty sequences.
  void set_type_variables(TypeVariables variables) { type_variables_ = std::move(variables); }

  Typed expression(const ast::Expr& expression);
  /// Binds the pattern's variables, visible from now on. Keyword parameters only if allowed.
  TypedPattern pattern(const ast::Pattern& pattern, bool defaults_allowed = false);
  /// Fails where no value can make the left side of a binding a pattern.
  void check_left_side(const ast::Pattern& pattern) const;
  /// Makes the type of a pattern and the type of what it is matched with equal.
  void match(const Pattern& pattern, const Expr& value);

  /// Replaces all types by interned ones. `slot` is the definition that `self` became.
  void finish(Definition* slot);
  /// A serial-only definition that the body mentions, or null.
  const Definition* serial() const { return serial_; }
  /// The text of a place, in backquotes.
  std::string quoted(Span span) const;
  /// `written`: the branch behind `else`.
  std::string hint_for_branches(const ast::Expr& written, const Expr& then_branch,
                                const Expr& else_branch) const;
  std::string_view written(Span span) const { return body_.source->text(span); }

 private:
  struct Visible {
    std::string name;
    const Local* local;
    bool wildcard = false;  // one of several `_` of a pattern: no name
  };
  struct OpenLambda {
    Lambda* lambda;
    std::size_t outside;  // how many of the visible locals were bound outside it
  };
  struct IndirectCall {
    const Expr* callee;
    Span span;
    bool parallel;   // inside an apply-to-each
    bool in_lambda;  // which may never be called
  };
  class ScopeEnd;

  template <typename Node>
  Typed make(Span span, TypePtr type, Node node);

  // The kinds of expressions.
  Typed visit(const ast::Expr& at, const ast::Name& node);
  Typed visit(const ast::Expr& at, const ast::IntLiteral& node);
  Typed visit(const ast::Expr& at, const ast::FloatLiteral& node);
  Typed visit(const ast::Expr& at, const ast::CharLiteral& node);
  Typed visit(const ast::Expr& at, const ast::StringLiteral& node);
  Typed visit(const ast::Expr& at, const ast::BoolLiteral& node);
  Typed visit(const ast::Expr& at, const ast::Tuple& node);
  Typed visit(const ast::Expr& at, const ast::Operation& node);
  Typed visit(const ast::Expr& at, const ast::Call& node);
  Typed visit(const ast::Expr& at, const ast::Field& node);
  Typed visit(const ast::Expr& at, const ast::Index& node);
  Typed visit(const ast::Expr& at, const ast::If& node);
  Typed visit(const ast::Expr& at, const ast::Let& node);
  Typed visit(const ast::Expr& at, const ast::ApplyToEach& node);
  Typed visit(const ast::Expr& at, const ast::SequenceLiteral& node);
  Typed visit(const ast::Expr& at, const ast::EmptySequence& node);
  Typed visit(const ast::Expr& at, const ast::Range& node);
  Typed visit(const ast::Expr& at, const ast::Closure& node);
  Typed visit(const ast::Expr& at, const ast::Lambda& node);
  Typed visit(const ast::Expr& at, const ast::KeywordArgument& node);
  Typed visit(const ast::Expr& at, const ast::Time& node);

  // Names.
  const Visible* find_visible(std::string_view name) const;
  Typed local_reference(Span span, const Local& local);
  Typed global_reference(Span span, Definition& definition);
  Typed self_reference(Span span);
  Typed library_function(Span span, std::string_view name);
  [[noreturn]] void fail_undefined(Span span, const std::string& name) const;
  void note_serial(const Definition& definition, Span span);
  [[noreturn]] void fail_serial(const Definition& definition, Span span) const;
  void add_reference(Definition* definition, Span span);

  // Calls.
  Typed apply(Span span, Typed called, Typed argument);
  Typed apply_library(Span span, std::string_view function, Typed argument);
  Typed pair(Span span, Typed first, Typed second);
  const std::vector<Definition::Default>* defaults_of(const ast::Expr& callee,
                                                      std::size_t& positional,
                                                      std::string& name) const;
  Typed argument(const ast::Call& call);
  Typed fields_argument(const ast::Call& call, const Datatype& datatype,
                        const std::vector<const ast::Expr*>& items, std::size_t positional);
  Typed default_value(const Definition::Default& parameter, Span call);

  // Records with named fields.
  const Datatype& datatype_of_field(const Expr& record, const ast::Field& field);
  const Datatype* constructed_by(const ast::Expr& callee) const;

  // Messages about calls.
  [[noreturn]] void fail_argument(Inference::Clash clash, Span span, const Expr& callee,
                                  TypePtr parameter, const Expr& argument);
  void note_spelling(Span span, const Local& local);
  [[noreturn]] void fail_literal_call(const ast::Call& call) const;
  [[noreturn]] void fail_clash(Inference::Clash clash, Span span, std::string message,
                               const std::vector<Evidence>& evidence,
                               std::vector<vcode::Note> more_notes = {},
                               std::string hint = {}) const;
  std::string callee_name(const Expr& callee) const;
  std::string missing_end(Span callee, Span argument) const;
  std::string call_hint(const Expr& callee, const Expr& argument) const;
  std::string operands_hint(const Expr& callee, TypePtr parameter, const Expr& argument,
                            const std::vector<const Expr*>& operands);
  /// How the function of the library that is called is named; empty for one of the program.
  std::string_view library_name(const Expr& callee) const;
  Evidence evidence(const Expr& expression) const;
  Operand operand(const Expr& expression) const;
  /// What an operand is, where its text does not say it.
  std::vector<vcode::Note> operand_notes(const Expr& operand, Span error) const;

  // Patterns.
  [[noreturn]] void fail_left_side(const ast::Pattern& pattern, bool binding) const;
  void check_generators(const ast::ApplyToEach& node) const;
  const Local* bind(const ast::Pattern& pattern);
  const Local* new_local(std::string name, Span span);
  TypedPattern pattern_below(const ast::Pattern& pattern, bool defaults_allowed);
  TypedPattern record_pattern(const ast::Pattern& pattern);
  Typed pattern_value(const Pattern& pattern);
  [[noreturn]] void fail_mixed_generators(const Expr& first, const Expr& other) const;
  /// What is called by that name where it is given streams.
  Typed for_streams(Typed callee, const Expr& argument);
  Definition* for_streams(Definition& function, TypePtr argument);
  TypePtr without_streams(TypePtr type);
  void check_bool(const Expr& condition, std::string_view what);
  void check_int(const Expr& bound);

  Session& session_;
  Inference& inference_;
  Body& body_;
  const SelfDefinition* self_;
  std::string enclosing_;
  TypeVariables type_variables_;
  std::vector<Visible> visible_;
  std::vector<OpenLambda> lambdas_;
  std::vector<TypePtr*> open_types_;  // to be replaced by `finish`
  std::vector<Typed> replaced_;       // whose types are among these
  std::vector<GlobalRef*> self_references_;
  std::vector<IndirectCall> indirect_calls_;  // of function values
  std::size_t pattern_begin_ = 0;             // where the variables of the present pattern begin
  std::unordered_map<const Expr*, std::string> filled_in_;  // default values, by their parameter
  const Session::ForStreams* not_for_streams_ = nullptr;    // why not, where the call will fail
  const Definition* serial_ = nullptr;
  int parallel_depth_ = 0;
  bool timed_ = false;
  const ast::Expr* next_argument_ = nullptr;         // of the call whose callee is checked
  const ast::ApplyToEach* generators_of_ = nullptr;  // whose sequences are checked
  const ast::Pattern* binding_ = nullptr;            // of the `let` whose value is checked
  std::optional<vcode::Note> confused_;  // a name that differs in case from what it means
  Span default_span_;                    // inside a default value: the call, whose source is ours
};

template <typename Node>
ExpressionChecker::Typed ExpressionChecker::make(Span span, TypePtr type, Node node) {
  auto typed = std::make_unique<Expr>();
  typed->type = type;
  typed->span = default_span_ ? default_span_ : span;
  typed->node = std::move(node);
  open_types_.push_back(&typed->type);
  return typed;
}

}  // namespace neslc
