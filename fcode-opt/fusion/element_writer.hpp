// Scalar expressions for elements of values: the pull thunks of a kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/graph.hpp"
#include "vcode/kernel.hpp"

namespace fcode {

/// What the expressions of one kernel share: its tables, and which value is which of its operands.
class KernelTables {
 public:
  KernelTables(const RegionGraph& graph, const Function& function, const Module& module,
               Shapes& shapes)
      : graph(graph), function(function), module(module), shapes(shapes) {}

  /// A vector or descriptor that exists before the kernel runs; it becomes an operand.
  vcode::ArrayId array(ValueId value);
  vcode::SegdesId segdes(ValueId value);
  vcode::SizeId size(const Linear& length);
  vcode::ArrayId new_array(Type type, const Linear& length, char letter);
  vcode::ArrayId new_array(Type type, vcode::SizeId length, char letter);
  vcode::SegdesId new_segdes(const Linear& count, vcode::SizeId total, char letter);
  /// The size that a binding introduces for a data length: never one that was there before.
  /// `only_one`: whatever else has this length gets the same size.
  vcode::SizeId new_size(const Linear& length, bool only_one);
  enum class Bound : std::uint8_t { No, Later, Before };  // in a binding, or before all of them
  Bound bound(vcode::SizeId size) const { return bound_[size]; }
  void bind(vcode::SizeId size, Bound how) { bound_[size] = std::max(bound_[size], how); }

  /// A size that must get its number before the kernel's bindings run, and a value that tells it:
  /// the length of a vector or the data length of a descriptor.
  struct SizeWanted {
    vcode::SizeId size = 0;
    ValueId from = 0;
    bool described = false;
  };
  vcode::SizeId wanted_size(const Linear& length, ValueId from, bool described);

  const RegionGraph& graph;
  const Function& function;
  const Module& module;
  Shapes& shapes;
  vcode::Kernel kernel;
  ValueList operands;                        // of kernel.inputs
  std::map<ValueId, vcode::ArrayId> arrays;  // operands, and what the kernel has made
  std::map<ValueId, vcode::SegdesId> segments;
  std::vector<SizeWanted> wanted;

  /// Is the node computed by this kernel?
  std::vector<char> inside;  // by NodeIndex

 private:
  vcode::SizeId add_size(const Linear& known);

  std::string new_name(char letter);

  std::map<Linear, vcode::SizeId> sizes_;
  std::vector<Bound> bound_;  // by SizeId, so far
  std::uint32_t numbers_[256] = {};
};

/// Writes one thunk.
class ElementWriter {
 public:
  explicit ElementWriter(KernelTables& tables) : tables_(tables) {}

  /// The element of `value` at the thunk's index, or its only element if it is a scalar.
  std::uint32_t own(ValueId value);
  void result(ValueId value) { thunk_.results.push_back(own(value)); }
  void result_node(std::uint32_t node) { thunk_.results.push_back(node); }
  vcode::Thunk take() { return std::move(thunk_); }
  std::uint32_t apply(Op op, Type written, std::vector<std::uint32_t> arguments);

 private:
  using Node = vcode::ThunkNode;

  std::uint32_t element(ValueId value, std::uint32_t at);
  std::uint32_t compute(const Statement& statement, std::uint32_t at);
  std::uint32_t operation(const Statement& statement, std::uint32_t at);
  std::uint32_t index_element(const Statement& statement, std::uint32_t at);
  std::uint32_t fetch(ValueId source, std::uint32_t index, ValueId segdes, std::uint32_t segment);
  std::uint32_t placed(const Statement& statement, std::uint32_t at);
  std::uint32_t joined(const View& join, std::uint32_t at);
  std::uint32_t part(ValueId source, std::uint32_t at);
  std::uint32_t checked(ValueId source, std::uint32_t at);
  std::uint32_t per_segment(ValueId value, ValueId segdes, std::uint32_t at);
  std::uint32_t segment_node(Node::Kind kind, ValueId segdes, std::uint32_t at);
  std::uint32_t uniform_segment(Node::Kind kind, std::int64_t length, std::uint32_t at);
  std::uint32_t length_of(ValueId value, bool described);
  std::uint32_t literal(const vcode::Constant& constant);
  std::uint32_t number(std::int64_t value);
  std::uint32_t subscript(vcode::ArrayId array, std::uint32_t at);
  std::uint32_t index();
  std::uint32_t zero() { return number(0); }
  std::uint32_t add(Node node);
  bool is_number(std::uint32_t node, std::int64_t value) const;
  static bool is_value(const fcode::Node& maker);
  bool readable(const fcode::Node& maker, std::uint32_t at) const;

  KernelTables& tables_;
  vcode::Thunk thunk_;
  std::map<std::pair<ValueId, std::uint32_t>, std::uint32_t> known_;  // (value, position) -> node
};

}  // namespace fcode
