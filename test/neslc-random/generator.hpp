// Random well-typed programs.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "program.hpp"

namespace neslc::random_test {

class Generator {
 public:
  /// Equal seeds give equal programs. Names of functions contain the seed.
  explicit Generator(std::uint64_t seed) : seed_(seed), random_(seed) {}

  Program program();

 private:
  struct Variable {
    std::string name;
    Type type;
  };
  struct Function {
    std::string name;
    std::vector<Type> parameters;
    Type result;
    bool counts_down = false;  // its first argument is a depth, to be kept small
  };
  using Maker = Node (Generator::*)(const Type&, int);

  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }
  std::string fresh(const char* prefix) { return prefix + std::to_string(next_name_++); }

  Type type(int depth);
  Type scalar_type();

  Node function();
  Node recursive_function();
  Node dividing_function();
  Node top_level_variable();
  std::string parameter_text(const std::vector<Variable>& parameters);

  /// An expression of a type; `fuel` bounds its size.
  Node expression(const Type& type, int fuel);
  Node literal(const Type& type);
  Node variable(const Type& type);
  Node compound(const Type& type, int fuel);
  Node conditional(const Type& type, int fuel);
  Node let(const Type& type, int fuel);
  Node call(const Type& type, int fuel);
  Node higher_order(const Type& type, int fuel);
  Node element(const Type& type, int fuel);
  Node any_type(const Type& type, int fuel);
  Node int_expression(const Type& type, int fuel);
  Node float_expression(const Type& type, int fuel);
  Node bool_expression(const Type& type, int fuel);
  Node char_expression(const Type& type, int fuel);
  Node sequence_expression(const Type& type, int fuel);
  Node int_sequence(const Type& type, int fuel);
  Node nested_sequence(const Type& type, int fuel);
  Node string_expression(const Type& type, int fuel);
  Node apply_to_each(const Type& type, int fuel);
  Node record_expression(const Type& type, int fuel);

  /// A pattern that binds new variables of a type, which come into scope.
  std::string pattern(const Type& type);
  Node small_number(int limit, int fuel);
  /// That number, in a way in which only the run knows it.
  std::string from_outside(int number);

  /// `format` with a `$` for each operand.
  Node form(const Type& type, const std::string& format, std::vector<Node> operands);
  /// The same; the operands are expressions of the given types.
  Node operation(const Type& type, int fuel, const std::string& format,
                 const std::vector<Type>& operands);

  std::uint64_t seed_;
  std::mt19937_64 random_;
  int next_name_ = 0;
  std::vector<Variable> scope_;
  std::vector<Variable> top_level_;
  std::vector<Function> functions_;
};

}  // namespace neslc::random_test
