// NESL types: shared, immutable, one object per type.
//
// Every type that leaves the type checker is *interned* in the `TypeTable` of its session: two
// types are equal exactly when their pointers are equal, so a `TypePtr` is a good key of a map. The
// table lives as long as the session and never frees a type.
//
// Function values have singleton types (reference, 3.5): a function type carries, besides argument
// and result, an *identity* that says which function it is. An identity is itself a type term:
//
//   FunctionIdentity  a named function at an instantiation of its scheme      no run-time data
//   LambdaIdentity    one `p => e` of the program, at an instantiation of     its captured
//   variables
//                     the scheme of the definition that encloses it
//   PartialIdentity   `closure(f, x)`                                         data of f, then of x
//   Generic           still open: a function that is a parameter
//
// Once the generics of a definition are replaced by types without generics, every identity is one
// of the first three, and each call through a function value is resolved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace neslc {

struct Definition;  // session.hpp
struct Lambda;      // typed.hpp
struct Datatype;
struct Type;
struct InferenceVariable;
using TypePtr = const Type*;

/// The classes of reference 3.2. `Number` is contained in `Ordinal`, and all in `Any`.
enum class TypeClass : std::uint8_t { Any, Ordinal, Number, Logical };

/// "number", "any" ...
const char* class_name(TypeClass type_class);

enum class TypeKind : std::uint8_t {
  Int,
  Float,
  Bool,
  Char,
  Sequence,          // arguments: element
  Stream,            // arguments: element; computed in pieces (streams.hpp)
  Pair,              // arguments: first, second; n-tuples are right-nested pairs
  Record,            // `datatype`; arguments: its type parameters
  Function,          // arguments: argument, result, identity
  FunctionIdentity,  // `function`; arguments: instantiation of the scheme of the definition
  LambdaIdentity,    // `lambda`; arguments: instantiation of the enclosing definition's scheme
  PartialIdentity,   // arguments: type of the function, type of the value
  Generic,           // `index`: variable number `index` of the enclosing definition's scheme
  Opaque,            // `name`: an undeclared name in an explicit type; equal only to itself
  Variable,          // only inside the type checker: not yet known
};

struct Type {
  TypeKind kind = TypeKind::Int;
  bool has_generics = false;       // a Generic occurs in it
  bool has_variables = false;      // a Variable occurs in it (never outside the checker)
  std::uint32_t index = 0;         // Generic
  std::vector<TypePtr> arguments;  // by kind, as listed above
  const Datatype* datatype = nullptr;
  const Definition* function = nullptr;
  const Lambda* lambda = nullptr;
  std::string name;                       // Opaque
  InferenceVariable* variable = nullptr;  // Variable

  TypePtr element() const { return arguments[0]; }   // Sequence, Stream
  TypePtr first() const { return arguments[0]; }     // Pair
  TypePtr second() const { return arguments[1]; }    // Pair
  TypePtr argument() const { return arguments[0]; }  // Function
  TypePtr result() const { return arguments[1]; }    // Function
  TypePtr identity() const { return arguments[2]; }  // Function
};

/// A record type. Its constructor is the function `name : fields -> name(parameters)`.
/// Nominal: two datatypes of one name are different types.
struct Datatype {
  std::string name;
  std::vector<TypeClass> parameters;  // classes of the type parameters, in order
  TypePtr fields = nullptr;           // the tuple of fields; Generic(i) is parameter i
  std::vector<std::string> names;     // of the fields; empty: they have none
  Definition* constructor = nullptr;
  std::uint32_t number = 0;  // unique within the session
};

/// A type generalised over `variables`: Generic(i) in `type` has class `variables[i]`. Generics are
/// numbered in the order of their first occurrence, those that are only in identities last; so
/// equal schemes compare equal.
struct Scheme {
  std::vector<TypeClass> variables;
  TypePtr type = nullptr;
  bool operator==(const Scheme&) const = default;
};

/// Makes types, one object per type.
class TypeTable {
 public:
  TypeTable();
  ~TypeTable();
  TypeTable(const TypeTable&) = delete;
  TypeTable& operator=(const TypeTable&) = delete;

  TypePtr int_type() const { return atoms_[0]; }
  TypePtr float_type() const { return atoms_[1]; }
  TypePtr bool_type() const { return atoms_[2]; }
  TypePtr char_type() const { return atoms_[3]; }
  TypePtr sequence(TypePtr element);
  TypePtr stream(TypePtr element);
  TypePtr pair(TypePtr first, TypePtr second);
  TypePtr record(const Datatype* datatype, std::vector<TypePtr> arguments);
  TypePtr function(TypePtr argument, TypePtr result, TypePtr identity);
  TypePtr function_identity(const Definition* function, std::vector<TypePtr> instantiation);
  TypePtr lambda_identity(const Lambda* lambda, std::vector<TypePtr> instantiation);
  TypePtr partial_identity(TypePtr function_type, TypePtr value);
  TypePtr generic(std::uint32_t index);
  TypePtr opaque(const std::string& name);
  /// A type like `model`, but with these arguments.
  TypePtr same_kind(const Type& model, std::vector<TypePtr> arguments);

  /// `type` with Generic(i) replaced by `instantiation[i]`. Shared parts stay shared.
  /// REQUIRES: every generic of the type has its entry.
  TypePtr substitute(TypePtr type, std::span<const TypePtr> instantiation);

  /// The type of the fields of a value of type Record.
  TypePtr fields_of(TypePtr record);

 private:
  struct Index;
  TypePtr intern(Type type);

  std::unique_ptr<Index> index_;
  TypePtr atoms_[4];
};

/// May a value of this type stand where a variable of this class is? REQUIRES: not a variable.
bool belongs_to(TypePtr type, TypeClass type_class);

/// Does a function type occur in it? REQUIRES: depth as of a written type.
bool contains_function(TypePtr type);

/// Is a value of this type made of streams, in parts at least? Of functions, what they have
/// captured does not count.
bool contains_stream(TypePtr type);
/// Numbers, characters, truth values, and tuples of such.
bool is_scalar_type(TypePtr type);

/// The type in the notation of reference, section 7: `(int, [char])`, `[a] -> int`. A tuple at the
/// outermost level has no parentheses. Identities are not shown.
std::string type_text(TypePtr type);

/// The type with its context: `(a, [b]) -> c :: (a in number; b in any; c in any)`.
std::string scheme_text(const Scheme& scheme);

}  // namespace neslc
