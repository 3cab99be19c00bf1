// The syntax tree: what the text says, before names and types are resolved.
//
// Names are in lower case (NESL does not distinguish case). A span covers a whole expression; of an
// expression of several lines it covers the part in its first line. Trees are at most kMaxDepth
// deep, so that recursion over them is safe; but a chain of infix operators, `a + b + c`, may have
// any length and counts as one level: it leans to the left, and is gone through in a loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "neslc/front/deep_delete.hpp"
#include "vcode/source.hpp"

namespace neslc::ast {

using vcode::Span;

inline constexpr int kMaxDepth = 500;
/// The most elements that a sequence literal may have (100 in the classic system).
inline constexpr std::size_t kMaxElements = 10'000;

struct Expr;
struct Pattern;
struct TypeExpr;
using ExprPtr = std::unique_ptr<Expr, DeepDelete<Expr>>;
using PatternPtr = std::unique_ptr<Pattern>;
using TypeExprPtr = std::unique_ptr<TypeExpr>;

// ---- Types as written

struct TypeExpr {
  enum class Kind : std::uint8_t { Name, Apply, Sequence, Stream, Pair, Arrow };
  Kind kind = Kind::Name;
  Span span;
  std::string name;    // Name, Apply (a datatype)
  TypeExprPtr first;   // Apply: argument; Sequence: element; Pair, Arrow: left
  TypeExprPtr second;  // Pair, Arrow: right
};

/// `variable in class` of a context.
struct TypeBinding {
  std::string variable;
  std::string type_class;
  Span span;
};

/// A type with its context.
struct TypeDef {
  TypeExprPtr type;
  std::vector<TypeBinding> context;
};

// ---- Patterns

struct Pattern {
  enum class Kind : std::uint8_t {
    Name,      // `name`
    Pair,      // `first`, `second`
    Record,    // `name` ( `first` )
    Default,   // `name` := `value`, only in the argument of a function
    Constant,  // `name` is "t" or "f": reserved
    Other,     // anything else: not a pattern; `value` is the expression
  };
  Kind kind = Kind::Name;
  Span span;
  std::string name;
  PatternPtr first;
  PatternPtr second;
  ExprPtr value;
};

// ---- Expressions

struct Name {
  std::string name;
};
struct IntLiteral {
  std::int64_t value;
};
struct FloatLiteral {
  double value;
};
struct CharLiteral {
  unsigned char value;
};
struct StringLiteral {
  std::string text;
};
struct BoolLiteral {
  bool value;
};
struct Tuple {  // (first, second); longer ones are nested to the right
  ExprPtr first;
  ExprPtr second;
};
/// A prefix or infix operator. `function` is the library function that it stands for.
struct Operation {
  std::string spelling;
  std::string function;
  ExprPtr left;  // null for a prefix operator
  ExprPtr right;
};
struct Call {  // f(x) or f x
  ExprPtr callee;
  ExprPtr argument;
};
struct Field {  // record.name
  ExprPtr record;
  std::string name;
  Span name_span;
};
struct Index {  // sequence[position]
  ExprPtr sequence;
  ExprPtr position;
};
struct If {
  ExprPtr condition;
  ExprPtr then_branch;
  ExprPtr else_branch;
};
struct Binding {
  PatternPtr pattern;
  ExprPtr value;
};
struct Let {
  std::vector<Binding> bindings;
  ExprPtr body;
};
struct ApplyToEach {
  ExprPtr body;  // null: the first generator's pattern
  std::vector<Binding> generators;
  ExprPtr sieve;  // null: none
};
struct SequenceLiteral {
  std::vector<ExprPtr> elements;  // at least one
};
struct EmptySequence {
  TypeExprPtr element;
};
struct Range {  // [first : last] or [first : last : stride]
  ExprPtr first;
  ExprPtr last;
  ExprPtr stride;  // null: 1
};
struct Closure {  // closure(function, value)
  ExprPtr function;
  ExprPtr value;
};
struct Lambda {
  PatternPtr parameter;
  ExprPtr body;
};
struct KeywordArgument {  // name := value, inside the argument of a call
  std::string name;
  ExprPtr value;
};
struct Time {
  ExprPtr body;
};

struct Expr {
  Span span;
  int depth = 1;  // height of the tree below, where a chain of infix operators is one level
  std::variant<Name, IntLiteral, FloatLiteral, CharLiteral, StringLiteral, BoolLiteral, Tuple,
               Operation, Call, Field, Index, If, Let, ApplyToEach, SequenceLiteral, EmptySequence,
               Range, Closure, Lambda, KeywordArgument, Time>
      node;
};

// ---- Top-level forms

struct FunctionForm {
  std::string name;
  Span name_span;
  PatternPtr argument;
  std::optional<TypeDef> type;
  std::string documentation;
  ExprPtr body;  // null: a forward declaration
};
struct DatatypeForm {
  struct FieldName {
    std::string name;
    Span span;
  };
  std::string name;
  Span name_span;
  TypeDef type;
  std::vector<FieldName> fields;  // datatype d(name: type, ...); empty: they have no names
};
struct BindingForm {
  enum class Kind : std::uint8_t {
    Value,         // =
    FileVariable,  // |=
    Background,    // &=
  };
  PatternPtr pattern;
  ExprPtr value;
  Kind kind = Kind::Value;
  std::vector<Binding> options;  // Background: keyword arguments (`max_time := 10`)
};
struct ExpressionForm {
  ExprPtr value;
};
/// A command of reference, section 9. `name` is its word; "help" for `?`.
struct CommandForm {
  struct Word {
    enum class Kind : std::uint8_t { Name, Number, String, Punctuation };
    Kind kind;
    std::string text;
    Span span;
  };
  std::string name;
  std::vector<Word> words;       // what follows, up to the expression or the end of the form
  ExprPtr expression;            // load, dump vcode
  std::vector<Binding> options;  // keyword arguments (`print := t`)
};

struct Form {
  std::shared_ptr<const vcode::Source> source;
  Span span;              // the first line of the form
  std::size_t begin = 0;  // the text of the form in the source, without its terminator
  std::size_t end = 0;
  std::variant<FunctionForm, DatatypeForm, BindingForm, ExpressionForm, CommandForm> node;

  std::string_view text() const { return source->text().substr(begin, end - begin); }
};

/// The pattern as results show it: `((p, q), r)`.
std::string pattern_text(const Pattern& pattern);
/// Does the pattern bind this name?
bool binds(const Pattern& pattern, std::string_view name);

/// A name that a form defines, and the line of the form where it does.
struct DefinedName {
  std::string name;
  std::uint32_t line = 0;
};
std::vector<DefinedName> defined_names(const Form& form);

}  // namespace neslc::ast
