// A direct evaluator of the typed tree: the meaning of NESL, one instance after another.
//
// It shares nothing with the compiler but the typed tree. What it does for an apply-to-each is what
// reference, section 4, says: the body for every instance, and its constant parts even when there
// are no instances.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "neslc/front/session.hpp"
#include "neslc/front/typed.hpp"
#include "value.hpp"

namespace neslc::direct {

class Interpreter {
 public:
  /// `steps`: how many expressions may be evaluated before it gives up (Unspecified).
  Interpreter(TypeTable& types, std::int64_t steps) : types_(types), steps_(steps) {}

  /// The value of a top-level expression. Throws RuntimeError and Unspecified.
  Value evaluate(const Body& body);

  /// For the library: the value of a function for an argument.
  Value call(TypePtr function_type, const Value& function, const Value& argument);
  /// Counts steps of the library.
  void spend(std::int64_t steps);

 private:
  struct Frame {
    std::vector<TypePtr> instantiation;
    std::unordered_map<const Local*, Value> locals;
  };

  Value expression(const Expr& expr, Frame& frame);
  Value call_expression(const Call& node, Frame& frame);
  Value call_definition(const Definition& definition, const std::vector<TypePtr>& instantiation,
                        TypePtr function_type, const Value& argument);
  Value apply_to_each(const ApplyToEach& node, Frame& frame);
  void constant_parts(const Expr& expr, const std::vector<TypePtr>& instantiation);
  void constant_parts_of_call(const Call& node, const std::vector<TypePtr>& instantiation);
  bool is_constant(const Expr& expr);
  void bind(const Pattern& pattern, const Value& value, Frame& frame);
  TypePtr substituted(TypePtr type, const std::vector<TypePtr>& instantiation) {
    return types_.substitute(type, instantiation);
  }

  TypeTable& types_;
  std::int64_t steps_;
  int depth_ = 0;
  std::unordered_map<const Expr*, bool> constant_;
};

/// What a library function knows of its call.
struct LibraryCall {
  Interpreter& interpreter;
  TypePtr argument_type;
  TypePtr result_type;
};

using LibraryFunction = Value (*)(const LibraryCall& call, const Value& argument);
using LibraryTable = std::map<std::string, LibraryFunction>;

/// Null if there is none of this name.
LibraryFunction find_library_function(const std::string& name);

LibraryTable scalar_functions();
LibraryTable sequence_functions();
LibraryTable selection_functions();
LibraryTable larger_functions();
LibraryTable text_functions();

}  // namespace neslc::direct
