// The typed tree: what the back half compiles.
//
// Every expression carries its type; every name is resolved to the local variable or the definition
// that it means; operators, indexing, ranges and keyword arguments have become ordinary calls.
// Types are in terms of the Generics of the enclosing definition's scheme: to specialise a
// definition, replace them by `TypeTable::substitute` with one instantiation, everywhere.
//
// Serial-only functions. A mention of one inside an apply-to-each, and a call there of a function
// value that is known to be one, have been refused. What only specialisation can show (a serial
// function handed to a function that applies its parameter in parallel) is left to the back half:
// `serial_function` (session.hpp) answers for a type.
//
// What became what
//   a + b, -a, #a, @a       Call of the definition of the library function (operators.def)
//   a[i]                    Call of `elt` with the pair (a, i)
//   [a:b], [a:b:d]          Call of `iseq` with (a, d, b)
//   f(x, k := e)            Call with the full tuple of arguments, defaults filled in
//   p.x                     Let that takes the record apart
//   {x in s}                ApplyToEach with the body x
//   {a + 1 : a}             generator `a in a`
//
// Chains of operators. `a + b + c ...` may have any length, and is a tree of that depth: a call of
// a pair whose first part is such a call again. What goes through trees must not recur there.
//
// Calls. A `Call` whose callee is a `GlobalRef` of a function or constructor is a direct one. For
// any other callee look at the identity of the callee's (substituted) function type: it says which
// function is called and, by its kind, what the callee's value is made of (types.hpp). The direct
// case is the same: identity and `GlobalRef` agree.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "neslc/front/deep_delete.hpp"
#include "neslc/front/types.hpp"
#include "vcode/source.hpp"

namespace neslc {

using vcode::Span;

struct Expr;
struct Pattern;
using ExprPtr = std::unique_ptr<const Expr, DeepDelete<const Expr>>;
using PatternPtr = std::unique_ptr<const Pattern>;

/// A local variable: a parameter, or bound by a let, a generator or a lambda. Every binding
/// occurrence has its own object, so shadowed names are different locals.
struct Local {
  std::string name;
  TypePtr type = nullptr;
  Span span;
  std::uint32_t number = 0;  // unique within its body, in order of the text
};

struct Pattern {
  enum class Kind : std::uint8_t { Variable, Pair, Record };
  Kind kind = Kind::Variable;
  TypePtr type = nullptr;
  Span span;
  const Local* local = nullptr;  // Variable
  PatternPtr first;              // Pair; Record: the pattern of the fields
  PatternPtr second;             // Pair
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
struct LocalRef {
  const Local* local;
};
/// A top-level function, constructor, variable or library function. `instantiation` has one type
/// for each variable of `definition->scheme`.
struct GlobalRef {
  Definition* definition;
  std::vector<TypePtr> instantiation;
};
struct Pair {
  ExprPtr first;
  ExprPtr second;
};
struct Call {
  ExprPtr callee;
  ExprPtr argument;
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
struct Let {  // bindings in order, each visible in the later ones and in the body
  std::vector<Binding> bindings;
  ExprPtr body;
  bool field = false;  // made of `record.name`
};
/// { body : generators | sieve }. The generators do not see each other's variables. The sieve does
/// not guard the body: both are evaluated for every instance.
struct ApplyToEach {
  ExprPtr body;
  std::vector<Binding> generators;
  ExprPtr sieve;  // null: none
};
struct SequenceLiteral {
  std::vector<ExprPtr> elements;  // at least one
};
struct EmptySequence {};  // the element type is that of the expression's type
/// The value of a `p => e`: the captured variables, in the order of `lambda->captures`.
struct LambdaRef {
  const Lambda* lambda;
};
/// closure(function, value): of type `b -> c` when function is `(a, b) -> c` and value is `a`.
struct Partial {
  ExprPtr function;
  ExprPtr value;
};
struct Time {  // time(body): the pair of the body's value and the seconds it took
  ExprPtr body;
};

/// A call that the code of a function has been put in the place of.
struct InlinedCall {
  const Definition* function;
  Span span;              // of the call
  const InlinedCall* of;  // in whose code the call stands; null: in that of the body itself
};

struct Expr {
  TypePtr type = nullptr;
  Span span;  // the whole expression as written, in the source of its body
  const InlinedCall* inlined = nullptr;  // if it is code of that function, whose source it is
  std::variant<IntLiteral, FloatLiteral, CharLiteral, StringLiteral, BoolLiteral, LocalRef,
               GlobalRef, Pair, Call, If, Let, ApplyToEach, SequenceLiteral, EmptySequence,
               LambdaRef, Partial, Time>
      node;
};

/// A `p => e`. Its types are in terms of the scheme of the definition that encloses it, at whatever
/// depth; a LambdaIdentity carries the instantiation of that scheme.
struct Lambda {
  std::uint64_t number = 0;  // unique within the session
  PatternPtr parameter;
  ExprPtr body;
  /// The local variables of the surroundings that are free in it, each once, in order of first use.
  /// Those of an inner lambda that come from outside this one are included.
  std::vector<const Local*> captures;
  Span span;
  std::string enclosing;  // name of the enclosing definition; empty at top level
  std::shared_ptr<const vcode::Source> source;
  bool library = false;
  /// A serial-only definition that it mentions (reference 3.8), or null.
  const Definition* serial = nullptr;
};

/// The code of a function, or the expression of a top-level form; owns all that it mentions.
struct Body {
  std::shared_ptr<const vcode::Source> source;  // of all the spans
  PatternPtr parameter;                         // null if not a function
  ExprPtr expression;
  std::vector<std::unique_ptr<Local>> locals;
  std::vector<std::unique_ptr<Lambda>> lambdas;
  /// The definitions that it mentions, each once, and where first.
  struct Reference {
    Definition* definition;
    Span span;
  };
  std::vector<Reference> references;
};

}  // namespace neslc
