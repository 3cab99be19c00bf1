// Inference variables and unification.
//
// While a form is checked its types may contain Variables. Types without any are interned at once;
// the others live in the arena of the form's `Inference` and are turned into interned types by
// `finish`, when the variables that remain are generalised.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "neslc/front/types.hpp"

namespace neslc {

struct InferenceVariable {
  TypePtr binding = nullptr;  // null: not known
  TypeClass type_class = TypeClass::Any;
  bool is_identity = false;
  /// What it becomes if nothing decides: the result of `error` a bool, as in NESL 3.1, unless its
  /// type is declared to be open.
  enum class Leaning : std::uint8_t { None, Bool, Open } leaning = Leaning::None;
  std::int64_t generic = -1;  // its number after generalisation
};

/// The type behind bound variables, as far as the outermost constructor.
TypePtr resolved(TypePtr type);

class Inference {
 public:
  explicit Inference(TypeTable& table) : table_(table) {}
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  TypeTable& table() { return table_; }

  TypePtr fresh(TypeClass type_class = TypeClass::Any);
  TypePtr fresh_identity();
  TypePtr sequence(TypePtr element);
  TypePtr stream(TypePtr element);
  TypePtr pair(TypePtr first, TypePtr second);
  TypePtr record(const Datatype* datatype, std::vector<TypePtr> arguments);
  TypePtr function(TypePtr argument, TypePtr result, TypePtr identity);
  TypePtr partial_identity(TypePtr function_type, TypePtr value);
  /// Identities of the definition being checked: they get the generics of its scheme as arguments
  /// by `finish`; up to then there is only one instantiation of it.
  TypePtr own_function_identity();
  TypePtr own_lambda_identity(const Lambda* lambda);
  /// The type with fresh variables for the generics, which are appended to `instantiation`.
  TypePtr instantiate(const Scheme& scheme, std::vector<TypePtr>& instantiation);
  /// The same with given types.
  TypePtr instantiate(TypePtr type, std::span<const TypePtr> instantiation);

  enum class Clash : std::uint8_t {
    None,
    Different,  // two constructors, or a type outside a class
    Identity,   // two functions of equal type, but not the same function
    Classes,    // two classes of which neither contains the other
    Infinite,   // a type that contains itself
    TooLarge,   // too much work: types that grow exponentially
  };
  /// Makes two types equal; after a clash nothing is changed.
  Clash unify(TypePtr a, TypePtr b);

  /// Numbers the unknown variables of these types, in order of appearance, those of identities
  /// last, and returns their classes. Variables found later are set to a default.
  std::vector<TypeClass> generalize(std::span<const TypePtr> types);
  /// The interned type. `self` is the slot of the definition that has been checked. Null if the
  /// type is too large.
  TypePtr finish(TypePtr type, const Definition* self);

 private:
  struct Undo {
    InferenceVariable* variable;
    TypePtr binding;
    TypeClass type_class;
  };

  TypePtr in_arena(Type type);
  TypePtr rebuilt(const Type& model, std::vector<TypePtr> arguments);
  TypePtr instantiated(TypePtr type, std::span<const TypePtr> instantiation);
  Clash unified(TypePtr a, TypePtr b, int depth);
  Clash bind(TypePtr variable, TypePtr type, int depth);
  Clash merge(TypePtr a, TypePtr b);
  Clash unify_postponed();
  Clash occurs(const InferenceVariable* variable, TypePtr type, int depth);
  void set(InferenceVariable* variable, TypePtr binding, TypeClass type_class);
  struct Numbering {
    bool identities;   // also the variables in identities
    bool in_argument;  // of a function: whoever calls it decides
  };
  bool number_variables(TypePtr type, Numbering numbering, int depth,
                        std::vector<TypeClass>& classes);
  TypePtr finished(TypePtr type, const Definition* self, int depth);
  bool exhausted(int depth) { return ++steps_ > kMaxSteps || depth > kMaxTypeDepth; }

  static constexpr std::int64_t kMaxSteps = 4'000'000;
  static constexpr int kMaxTypeDepth = 1500;

  TypeTable& table_;
  std::deque<Type> types_;
  std::deque<InferenceVariable> variables_;
  std::vector<Undo> trail_;
  /// Variables whose classes have no order, as far as they are known yet.
  std::vector<std::pair<TypePtr, TypePtr>> postponed_;
  std::unordered_map<TypePtr, TypePtr> finished_;
  std::size_t generics_ = 0;
  std::int64_t steps_ = 0;
};

}  // namespace neslc
