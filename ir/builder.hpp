// Makes the code of one function: equal pure operations are computed once, scalar arithmetic on
// literals is done at once.
//
// Which values have the same length is known by *length ids*: two equal ids mean equal lengths at
// run time (the contrary is not implied), so that one descriptor serves all of them.
//
// What was computed inside a conditional is forgotten at its end: the tables are undone as blocks
// are left.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/module.hpp"
#include "ir/tools.hpp"

namespace ir {

using LengthId = std::uint32_t;
/// The length 1, that of scalars.
inline constexpr LengthId kOne = 0;

/// The constants of a module, each once.
class ConstantPool {
 public:
  explicit ConstantPool(Module& module) : module_(module), known_(Order{module}) {}
  std::uint32_t add(vcode::Constant literal);
  /// A constant that stands for component `component` of the values that the run is given.
  std::uint32_t add_given(std::int64_t component, Type type);
  /// Of each constant of the module, the component that it stands for, or -1.
  const std::vector<std::int64_t>& components() const { return components_; }

 private:
  struct Order {
    const Module& module;
    bool operator()(std::uint32_t a, std::uint32_t b) const;
  };

  std::uint32_t add_new(vcode::Constant constant, std::int64_t component);
  void drop_last();

  Module& module_;
  std::set<std::uint32_t, Order> known_;
  std::unordered_map<std::int64_t, std::uint32_t> given_;  // by component
  std::vector<std::int64_t> components_;
};

/// What the builder knows of a value.
struct Variable {
  Type type = Type::Int;
  LengthId length = kOne;  // number of elements; of a descriptor, of segments
  LengthId total = kOne;   // descriptors: number of elements described
  Definition definition;
};

class Builder {
 public:
  Builder(Module& module, ConstantPool& pool);

  const Variable& variable(ValueId value) const { return variables_[value]; }

  /// Where in the program what is made next comes from.
  Origin origin;

  /// The block that is being written.
  const Block* block() const { return block_; }

  ValueId parameter(Type type);
  LengthId new_length() { return next_length_++; }
  void set_length(ValueId value, LengthId length) { variables_[value].length = length; }
  void set_total(ValueId value, LengthId total) { variables_[value].total = total; }

  /// An operation with one result.
  ValueId op(Op op, Type type, std::initializer_list<ValueId> operands);
  /// Any operation.
  ValueList operation(Op op, Type type, ValueList operands);

  ValueId constant(vcode::Constant literal);
  ValueId int_constant(std::int64_t value);
  ValueId float_constant(double value);
  ValueId bool_constant(bool value);
  /// 0, 0.0 or F.
  ValueId null_constant(Type type);
  ValueId text_constant(const std::string& text);
  /// A vector without elements, a descriptor without segments.
  ValueId empty(Type type);
  /// A descriptor of one segment.
  ValueId single_constant(std::int64_t length);
  ValueId given_constant(std::int64_t component, Type type);

  /// The literal scalar that a value is, if it is one.
  std::optional<std::int64_t> known_int(ValueId value) const;
  std::optional<bool> known_bool(ValueId value) const;
  std::optional<double> known_float(ValueId value) const;
  /// The literal that a value is, or null.
  const vcode::Constant* known(ValueId value) const;

  /// A descriptor of one segment for vectors of that length, of which `sample` is one.
  ValueId single(LengthId length, ValueId sample);
  void remember_single(LengthId length, ValueId descriptor);
  /// From here to the end of the block both lengths are known to be equal.
  void equate(LengthId a, LengthId b);
  bool knows_single(LengthId length) const { return singles_.contains(length); }
  ValueId number_of(LengthId length, ValueId sample);  // the length as a scalar

  using Arm = std::function<ValueList()>;
  /// A conditional. Both arms give results of the same types, unless they end the run.
  ValueList conditional(ValueId condition, const Arm& then_arm, const Arm& else_arm);
  /// The same in three steps, for arms that are completed later.
  Statement begin_conditional(ValueId condition);
  void in_block(Block& block, const std::function<void()>& action);
  ValueList end_conditional(Statement conditional);

  ValueList call(std::uint32_t function, ValueList operands, const std::vector<Type>& results);
  /// What a failing program writes: a text, and behind it a value, if there is one.
  struct Written {
    std::string text;
    ValueId value = kNoValue;
    std::optional<Type> as{};  // not as the type that the value has
  };
  /// Ends the run, after these have been written. REQUIRES: in an arm of a conditional, which gives
  /// nothing.
  void fail(const std::vector<Written>& message);

  /// The function, complete; without what computes nothing that is used. The builder is at its end.
  Function finish(std::string name, const Origin& origin, ValueList results);

 private:
  using Key = std::vector<std::uint32_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const;
  };

  ValueId new_variable(Type type);
  const Statement& append(Statement statement);
  void set_lengths(const Statement& statement);
  void set_packed_lengths(const Statement& pack);
  ValueId pooled(std::uint32_t constant, Type type);
  std::optional<ValueId> folded(Op op, Type type, const ValueList& operands);

  Module& module_;
  ConstantPool& pool_;
  Function function_;
  std::vector<Variable> variables_;  // by ValueId
  Block* block_;
  LengthId next_length_ = 1;
  std::unordered_map<Key, ValueList, KeyHash> computed_;
  std::unordered_map<LengthId, ValueId> singles_;
  // What is to be forgotten at the end of the block.
  std::vector<Key> computed_trail_;
  std::vector<LengthId> singles_trail_;
};

}  // namespace ir
