// Makes the code of one function: equal pure operations are computed once, scalar arithmetic on
// literals is done at compile time.
//
// What was computed inside a conditional is forgotten at its end: the tables are undone as blocks
// are left.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "neslc/ir.hpp"

namespace neslc::ir {

/// The constants of a program, each once.
class ConstantPool {
 public:
  explicit ConstantPool(Module& module) : module_(module) {}
  std::uint32_t add(vcode::Constant literal);
  std::uint32_t add_value(std::int64_t component, vcode::Type type);

 private:
  Module& module_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

class Builder {
 public:
  Builder(Module& module, ConstantPool& pool, Function& function);

  Module& module() { return module_; }
  Function& function() { return function_; }
  const Variable& variable(Var var) const { return function_.variables[var]; }

  /// The place in the program of what is made next.
  Place place;

  Var parameter(vcode::Type type);
  Var new_variable(vcode::Type type);
  LengthId new_length() { return next_length_++; }
  void set_length(Var var, LengthId length) { function_.variables[var].length = length; }
  void set_total(Var var, LengthId total) { function_.variables[var].total = total; }

  /// An operation with one result.
  Var op(vcode::Op op, vcode::Type type, std::initializer_list<Var> in);
  /// Any operation.
  std::vector<Var> operation(vcode::Op op, vcode::Type type, std::vector<Var> in);

  Var constant(vcode::Constant literal);
  Var constant(std::uint32_t pool_index, vcode::Type type);
  Var int_constant(std::int64_t value);
  Var float_constant(double value);
  Var bool_constant(bool value);
  /// A vector without elements, a descriptor without segments.
  Var empty(vcode::Type type);
  Var single_constant(std::int64_t length);
  Var value_constant(std::int64_t component, vcode::Type type);
  ConstantPool& pool() { return pool_; }

  /// The literal scalar that a variable is, if it is one.
  std::optional<std::int64_t> known_int(Var var) const;
  std::optional<bool> known_bool(Var var) const;
  std::optional<double> known_float(Var var) const;
  const vcode::Constant* known(Var var) const;

  /// A descriptor of one segment for vectors of that length, of which `sample` is one.
  Var single(LengthId length, Var sample);
  void remember_single(LengthId length, Var descriptor);
  /// From here to the end of the block both lengths are known to be equal.
  void equate(LengthId a, LengthId b);
  bool knows_single(LengthId length) const { return singles_.contains(length); }
  Var number_of(LengthId length, Var sample);  // the length as a scalar

  using Arm = std::function<std::vector<Var>()>;
  /// A conditional; both arms give results of the same types.
  std::vector<Var> conditional(Var condition, const Arm& then_arm, const Arm& else_arm);
  /// The same in three steps, for arms that are completed later.
  Instr* begin_conditional(Var condition);
  void in_block(Block& block, const std::function<void()>& action);
  std::vector<Var> end_conditional(Instr* conditional);

  std::vector<Var> call(const Function& callee, std::vector<Var> in,
                        const std::vector<vcode::Type>& results);
  /// Ends the run with a message and values that explain it.
  void fail(Failure failure, std::vector<Var> values);

 private:
  using Key = std::vector<std::uint32_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  Instr& append(Instr instr);
  void set_lengths(const Instr& instr);
  std::optional<Var> folded(vcode::Op op, vcode::Type type, const std::vector<Var>& in);

  Module& module_;
  ConstantPool& pool_;
  Function& function_;
  Block* block_;
  LengthId next_length_ = 1;
  std::unordered_map<Key, std::vector<Var>, KeyHash> computed_;
  std::unordered_map<LengthId, Var> singles_;
  // What is to be forgotten at the end of the block.
  std::vector<Key> computed_trail_;
  std::vector<LengthId> singles_trail_;
};

}  // namespace neslc::ir
