// Kernels written down in tests without text.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vcode/kernel.hpp"

namespace kernel_test {

using vcode::ArrayId;
using vcode::Op;
using vcode::SegdesId;
using vcode::SizeId;
using vcode::Space;
using vcode::Thunk;
using vcode::ThunkNode;
using vcode::Type;

/// One thunk; expressions are numbers of nodes.
class Expressions {
 public:
  using Id = std::uint32_t;
  using Kind = ThunkNode::Kind;

  explicit Expressions(const vcode::Kernel& kernel) : kernel_(&kernel) {}

  Id index() { return add(Kind::Index, Type::Int, {}); }
  Id size(SizeId id) { return add(Kind::Size, Type::Int, {}, id); }
  Id number(std::int64_t value) {
    const Id id = add(Kind::Constant, Type::Int, {});
    thunk_.nodes[id].int_value = value;
    return id;
  }
  Id flag(bool value) {
    const Id id = number(value ? 1 : 0);
    thunk_.nodes[id].type = Type::Bool;
    return id;
  }
  Id real(double value) {
    const Id id = add(Kind::Constant, Type::Float, {});
    thunk_.nodes[id].float_value = value;
    return id;
  }
  Id at(ArrayId array, Id index) {
    return add(Kind::Subscript, kernel_->arrays[array].type, {index}, array);
  }
  Id own(ArrayId array) { return at(array, index()); }
  Id apply(Op op, Type written, std::initializer_list<Id> args) {
    const Type type = *vcode::operand_type(vcode::info(op).results[0], written);
    const Id id = add(Kind::Apply, type, args);
    thunk_.nodes[id].op = op;
    thunk_.nodes[id].written = written;
    return id;
  }
  Id choose(Id condition, Id then, Id otherwise) {
    return add(Kind::If, thunk_.nodes[then].type, {condition, then, otherwise});
  }
  Id seg_no(SegdesId segdes, Id position) {
    return add(Kind::SegNo, Type::Int, {position}, segdes);
  }
  Id seg_off(SegdesId segdes, Id position) {
    return add(Kind::SegOff, Type::Int, {position}, segdes);
  }
  Id seg_len(SegdesId segdes, Id segment) {
    return add(Kind::SegLen, Type::Int, {segment}, segdes);
  }
  Id seg_start(SegdesId segdes, Id segment) {
    return add(Kind::SegStart, Type::Int, {segment}, segdes);
  }
  Id state(std::uint32_t component, Type type) { return add(Kind::State, type, {}, component); }
  Id seg_count(SegdesId segdes) { return add(Kind::SegCount, Type::Int, {}, segdes); }

  Thunk give(std::vector<Id> results) {
    thunk_.results = std::move(results);
    return thunk_;
  }

 private:
  Id add(Kind kind, Type type, std::initializer_list<Id> args, std::uint32_t id = 0) {
    ThunkNode node;
    node.kind = kind;
    node.type = type;
    node.id = id;
    std::size_t k = 0;
    for (const Id arg : args) node.args[k++] = arg;
    thunk_.nodes.push_back(node);
    return static_cast<Id>(thunk_.nodes.size() - 1);
  }

  const vcode::Kernel* kernel_;
  Thunk thunk_;
};

/// A kernel that grows binding by binding.
class KernelBuilder {
 public:
  vcode::Kernel kernel;

  explicit KernelBuilder(std::string name = "k") { kernel.name = std::move(name); }

  SizeId size(std::string name) {
    kernel.sizes.push_back({std::move(name), std::nullopt});
    return static_cast<SizeId>(kernel.sizes.size() - 1);
  }
  SizeId literal(std::int64_t value) {
    kernel.sizes.push_back({"", value});
    return static_cast<SizeId>(kernel.sizes.size() - 1);
  }
  ArrayId array(std::string name, Type type, SizeId length) {
    kernel.arrays.push_back({std::move(name), type, length});
    return static_cast<ArrayId>(kernel.arrays.size() - 1);
  }
  SegdesId segdes(std::string name, SizeId count, SizeId total) {
    kernel.segdes.push_back({std::move(name), count, total});
    return static_cast<SegdesId>(kernel.segdes.size() - 1);
  }
  ArrayId in(std::string name, Type type, SizeId length) {
    const ArrayId id = array(std::move(name), type, length);
    kernel.inputs.push_back({false, id});
    return id;
  }
  SegdesId in_segdes(std::string name, SizeId count, SizeId total) {
    const SegdesId id = segdes(std::move(name), count, total);
    kernel.inputs.push_back({true, id});
    return id;
  }
  void out(ArrayId array) { kernel.outputs.push_back({false, array}); }
  void out_segdes(SegdesId segdes) { kernel.outputs.push_back({true, segdes}); }

  Expressions thunk() const { return Expressions(kernel); }
  static Space flat(SizeId size) { return {false, size}; }
  static Space under(SegdesId segdes) { return {true, segdes}; }

  vcode::Binding& bind(vcode::Binding::Kind kind, Space space = {}) {
    kernel.bindings.emplace_back();
    kernel.bindings.back().kind = kind;
    kernel.bindings.back().space = space;
    return kernel.bindings.back();
  }
  ArrayId map(std::string name, Space space, Type type, Thunk elements) {
    const ArrayId id = array(std::move(name), type, length_of(space));
    vcode::Binding& binding = bind(vcode::Binding::Kind::Map, space);
    binding.arrays = {id};
    binding.elements = std::move(elements);
    return id;
  }
  ArrayId random(std::string name, Space space, Thunk bounds) {
    const ArrayId id = map(std::move(name), space, Type::Int, std::move(bounds));
    kernel.bindings.back().kind = vcode::Binding::Kind::Random;
    return id;
  }
  /// An array over `into`; without `defaults` places that nothing is written to are zero.
  ArrayId scatter(std::string name, Space space, Space into, Type type, Thunk elements, Thunk index,
                  std::optional<Thunk> defaults = std::nullopt) {
    const ArrayId id = array(std::move(name), type, length_of(into));
    vcode::Binding& binding = bind(vcode::Binding::Kind::Scatter, space);
    binding.arrays = {id};
    binding.into = into;
    binding.elements = std::move(elements);
    binding.index = std::move(index);
    if (defaults) binding.defaults = *std::move(defaults);
    return id;
  }
  ArrayId scan(std::string name, Space space, Op reduce, Type type, Thunk elements) {
    const ArrayId id = map(std::move(name), space, type, std::move(elements));
    kernel.bindings.back().kind = vcode::Binding::Kind::Scan;
    kernel.bindings.back().monoids = {{reduce, type}};
    return id;
  }
  ArrayId reduce(std::string name, Space space, Op op, Type type, Thunk elements) {
    const SizeId count = space.segmented ? kernel.segdes[space.id].count : literal(1);
    const ArrayId id = array(std::move(name), type, count);
    vcode::Binding& binding = bind(vcode::Binding::Kind::Reduce, space);
    binding.arrays = {id};
    binding.elements = std::move(elements);
    binding.monoids = {{op, type}};
    return id;
  }
  /// Arrays, called `name` and a number, of the last states.
  std::vector<ArrayId> iterate(const std::string& name, Space space, Thunk elements,
                               Thunk condition, Thunk next, std::int64_t rounds) {
    std::vector<ArrayId> arrays;
    for (const std::uint32_t result : elements.results) {
      arrays.push_back(array(name + std::to_string(arrays.size()), elements.nodes[result].type,
                             length_of(space)));
    }
    vcode::Binding& binding = bind(vcode::Binding::Kind::Iterate, space);
    binding.arrays = arrays;
    binding.elements = std::move(elements);
    binding.flags = std::move(condition);
    binding.next = std::move(next);
    binding.rounds = rounds;
    return arrays;
  }
  SizeId length_of(Space space) const {
    return space.segmented ? kernel.segdes[space.id].total : space.id;
  }
};

}  // namespace kernel_test
