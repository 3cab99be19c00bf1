#include "fcode-opt/passes/loop_kernel.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/spec_writer.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Binding;
using vcode::ThunkNode;

class LoopKernel {
 public:
  LoopKernel(const Module& module, const LoopBody& body, const SerialFunction& signature,
             std::int64_t most_iterations)
      : module_(module),
        body_(body),
        serial_(module.functions[signature.function]),
        signature_(signature),
        most_iterations_(most_iterations) {
    // What a frame consists of comes first.
    if (body_.stack) order_ = body_.stack->components;
    for (std::uint32_t k = 0; k < body_.state.size(); ++k) {
      if (std::find(order_.begin(), order_.end(), k) == order_.end()) order_.push_back(k);
    }
    position_.resize(order_.size());
    for (std::uint32_t k = 0; k < order_.size(); ++k) position_[order_[k]] = k;
    kernel_.sizes = {{"n", std::nullopt}, {"", 1}};
    kernel_.segdes = {{"all", kOne, kLength}};
  }

  vcode::Kernel run() {
    for (std::size_t k = 0; k < signature_.own; ++k) add_parameter(k);
    if (signature_.fetches()) own_segment_ = add_vector("own", Type::Int, kLength);
    kernel_.inputs.push_back({true, 0});
    for (std::size_t k = signature_.own; k < signature_.parameters.size(); ++k) add_parameter(k);
    for (std::size_t k = 0; k < body_.constants.size(); ++k) add_constant(k);
    if (body_.counted) limit_ = add_vector("limit", Type::Int, kOne);
    for (const std::uint32_t list : body_.lists) {
      const std::string digits = std::to_string(list);
      const vcode::ArrayId first = add_vector("b" + digits, Type::Int, kOne);
      places_[list] = {first, add_vector("l" + digits, Type::Int, kOne)};
    }
    iterate();
    if (body_.results) results();
    if (body_.gives_state()) last_state();
    for (const std::uint32_t list : body_.lists) {
      const std::uint32_t first = body_.own_segment[list];
      kernel_.outputs.push_back({false, last_[position_[first]]});
      kernel_.outputs.push_back({false, last_[position_[first + 1]]});
    }
    if (body_.counted) {
      kernel_.outputs.push_back({false, last_[position_[body_.counted->rounds]]});
    }
    if (body_.tells_whether_it_ended()) left();
    return std::move(kernel_);
  }

 private:
  using Parameter = SerialFunction::Parameter;
  static constexpr vcode::SizeId kLength = 0, kOne = 1;

  /// A sequence that the loop reads: its vector, which is so long, or its descriptor, whose
  /// segments are so long together.
  struct Sequence {
    std::uint32_t id = 0;
    vcode::SizeId size = 0;
  };

  vcode::SizeId new_size(std::string name) {
    kernel_.sizes.push_back({std::move(name), std::nullopt});
    return static_cast<vcode::SizeId>(kernel_.sizes.size() - 1);
  }

  void add_parameter(std::size_t number) {
    const Type type = *serial_.values[serial_.parameters[number]].type;
    const Parameter& parameter = signature_.parameters[number];
    const std::string digits = std::to_string(number);
    if (type == Type::Segdes) {
      const vcode::SizeId segments = parameter.kind == Parameter::Kind::Uniform ? kOne
                                     : parameter.kind == Parameter::Kind::Each
                                         ? kLength
                                         : new_size("c" + digits);
      sequences_.push_back(add_descriptor("d" + digits, segments, new_size("m" + digits)));
    } else if (parameter.descriptor) {
      const vcode::SizeId size = sequences_[*parameter.descriptor].size;
      sequences_.push_back({add_vector("v" + digits, type, size), size});
    } else {
      const bool uniform = parameter.kind == Parameter::Kind::Uniform;
      add_component(add_vector("x" + digits, type, uniform ? kOne : kLength), number);
    }
  }

  void add_constant(std::size_t k) {
    const Type type = module_.constants[body_.constants[k]].type;
    const std::size_t number = signature_.parameters.size() + k;
    const std::string digits = std::to_string(k);
    if (body_.component[number] != LoopBody::kNone) {
      add_component(add_vector("g" + digits, type, kOne), number);
    } else if (type == Type::Segdes) {
      sequences_.push_back(add_descriptor("e" + digits, kOne, new_size("k" + digits)));
    } else {
      const vcode::SizeId size = new_size("k" + digits);
      sequences_.push_back({add_vector("w" + digits, type, size), size});
    }
  }

  Sequence add_descriptor(std::string name, vcode::SizeId segments, vcode::SizeId size) {
    kernel_.segdes.push_back({std::move(name), segments, size});
    const auto id = static_cast<std::uint32_t>(kernel_.segdes.size() - 1);
    kernel_.inputs.push_back({true, id});
    return {id, size};
  }

  /// The parameter or constant is where the component begins.
  void add_component(vcode::ArrayId vector, std::size_t number) {
    first_.resize(body_.state.size());
    first_[body_.component[number]] = vector;
    sequences_.emplace_back();
  }

  vcode::ArrayId add_vector(std::string name, Type type, vcode::SizeId length) {
    kernel_.arrays.push_back({std::move(name), type, length});
    const auto id = static_cast<vcode::ArrayId>(kernel_.arrays.size() - 1);
    kernel_.inputs.push_back({false, id});
    return id;
  }

  vcode::ArrayId array(const char* letter, std::size_t number, Type type, vcode::SizeId length) {
    kernel_.arrays.push_back({letter + std::to_string(number), type, length});
    return static_cast<vcode::ArrayId>(kernel_.arrays.size() - 1);
  }

  /// A function of the state, which reads what the kernel takes.
  vcode::Thunk of_state(const std::vector<ExpressionId>& results) const {
    vcode::Thunk thunk = body_.expressions.thunk(results);
    for (ThunkNode& node : thunk.nodes) place(node);
    return thunk;
  }

  void place(ThunkNode& node) const {
    if (node.kind == ThunkNode::Kind::Size) node.id = sequences_[node.id].size;
    if (node.kind == ThunkNode::Kind::Subscript) node.id = sequences_[node.id].id;
    if (node.kind == ThunkNode::Kind::State) node.id = position_[node.id];
  }

  void iterate() {
    Binding binding;
    binding.kind = Binding::Kind::Iterate;
    binding.space = {false, kLength};
    ThunkNode index, zero;
    index.kind = ThunkNode::Kind::Index;
    vcode::Thunk& elements = binding.elements;
    elements.nodes = {index, zero};
    elements.results.resize(body_.state.size());
    const auto begin_with = [&](std::uint32_t component, const ThunkNode& node) {
      elements.results[position_[component]] = static_cast<std::uint32_t>(elements.nodes.size());
      elements.nodes.push_back(node);
    };
    for (const std::uint32_t component : body_.component) {
      if (component == LoopBody::kNone) continue;
      const vcode::ArrayId operand = first_[component];
      begin_with(component, element(operand, kernel_.arrays[operand].length == kOne ? 1 : 0));
    }
    std::uint32_t fetched = 0;  // the number of the own segment among others
    if (signature_.fetches()) {
      fetched = static_cast<std::uint32_t>(elements.nodes.size());
      elements.nodes.push_back(element(own_segment_, 0));
    }
    for (std::size_t k = 0; k < body_.own_segment.size(); ++k) {
      const std::uint32_t component = body_.own_segment[k];
      if (component == LoopBody::kNone) continue;
      if (const auto place = places_.find(k); place != places_.end()) {
        for (std::uint32_t part = 0; part < 2; ++part) {
          begin_with(component + part, element(place->second[part], 1));
        }
        continue;
      }
      ThunkNode node;
      node.id = sequences_[k].id;
      const Parameter::Kind kind = signature_.parameters[k].kind;
      node.args[0] = kind == Parameter::Kind::Fetched ? fetched : kind == Parameter::Kind::Uniform;
      node.kind = ThunkNode::Kind::SegStart;
      begin_with(component, node);
      node.kind = ThunkNode::Kind::SegLen;
      begin_with(component + 1, node);
    }
    for (const LoopBody::Begun& begun : body_.begun) begin_with(begun.component, begun.number);
    if (body_.counted) begin_with(body_.counted->limit, element(limit_, 1));
    std::vector<ExpressionId> next;
    for (const std::uint32_t component : order_) {
      last_.push_back(array("z", last_.size(), body_.state[component], kLength));
      next.push_back(body_.next[component]);
    }
    binding.arrays = last_;
    binding.flags = of_state({body_.goes_on});
    binding.next = of_state(next);
    binding.rounds = most_iterations_;
    if (body_.stack) {
      std::vector<ExpressionId> push = body_.stack->frame;
      push.insert(push.begin(), body_.stack->push);
      binding.push = of_state(push);
      binding.pop = of_state({body_.stack->pop});
      binding.depth = LoopBody::kMostDepth;
    }
    for (const LoopBody::Write& write : body_.writes) {
      const vcode::ArrayId operand = sequences_[write.vector].id;
      binding.writes.push_back({operand, of_state({write.condition, write.place, write.element})});
    }
    for (const vcode::ArrayId operand : vcode::tables_of(binding)) {
      const vcode::KernelArray begun = kernel_.arrays[operand];
      binding.arrays.push_back(array("t", binding.arrays.size(), begun.type, begun.length));
      become_.emplace(operand, binding.arrays.back());
    }
    kernel_.bindings.push_back(std::move(binding));
  }

  ThunkNode element(vcode::ArrayId vector, std::uint32_t index) const {
    ThunkNode node;
    node.kind = ThunkNode::Kind::Subscript;
    node.type = kernel_.arrays[vector].type;
    node.id = vector;
    node.args[0] = index;
    return node;
  }

  /// What has become of the parameters in the end: of scalars, and of vectors that are written.
  void last_state() {
    for (std::uint32_t k = 0; k < signature_.parameters.size(); ++k) {
      const std::uint32_t component = body_.component[k];
      if (component != LoopBody::kNone) {
        kernel_.outputs.push_back({false, last_[position_[component]]});
      } else if (body_.writes_into(k)) {
        kernel_.outputs.push_back({false, become_.at(sequences_[k].id)});
      }
    }
  }

  /// What the last states give but for sequences.
  void results() {
    std::vector<ExpressionId> scalars;
    for (const ExpressionId result : *body_.results) {
      if (result < LoopBody::kSequences) scalars.push_back(result);
    }
    if (scalars.empty()) return;
    Binding map;
    map.kind = Binding::Kind::Map;
    map.space = {false, kLength};
    map.elements = at_index(scalars);
    for (std::size_t k = 0; k < scalars.size(); ++k) {
      map.arrays.push_back(array("y", k, body_.expressions[scalars[k]].type, kLength));
      kernel_.outputs.push_back({false, map.arrays.back()});
    }
    kernel_.bindings.push_back(std::move(map));
  }

  /// Is there a state that is not the last, and are there lists that are full?
  void left() {
    Binding left;
    left.kind = Binding::Kind::Reduce;
    left.space = {false, kLength};
    Expressions expressions = body_.expressions;
    std::vector<ExpressionId> conditions;
    if (body_.is_full) conditions.push_back(*body_.is_full);
    if (body_.is_nearly_full) conditions.push_back(*body_.is_nearly_full);
    conditions.push_back(expressions.either(body_.goes_on, body_.fails));
    left.elements = at_index(expressions.thunk(conditions));
    for (std::size_t k = 0; k < conditions.size(); ++k) {
      left.monoids.push_back({Op::OrReduce, Type::Bool});
      left.arrays.push_back(array("left", k, Type::Bool, kOne));
      kernel_.outputs.push_back({false, left.arrays.back()});
    }
    kernel_.bindings.push_back(std::move(left));
  }

  vcode::Thunk at_index(const std::vector<ExpressionId>& results) const {
    return at_index(body_.expressions.thunk(results));
  }

  /// A function of the state as one of the index.
  vcode::Thunk at_index(vcode::Thunk thunk) const {
    for (ThunkNode& node : thunk.nodes) {
      for (int a = 0; a < vcode::argument_count(node); ++a) ++node.args[a];
    }
    for (ThunkNode& node : thunk.nodes) {
      place(node);
      if (node.kind == ThunkNode::Kind::State) node = element(last_[node.id], 0);
    }
    for (std::uint32_t& result : thunk.results) ++result;
    ThunkNode index;
    index.kind = ThunkNode::Kind::Index;
    thunk.nodes.insert(thunk.nodes.begin(), index);
    return thunk;
  }

  const Module& module_;
  const LoopBody& body_;
  const Function& serial_;
  const SerialFunction& signature_;
  const std::int64_t most_iterations_;
  std::vector<std::uint32_t> order_, position_;  // of components in the kernel
  vcode::Kernel kernel_;
  std::vector<Sequence> sequences_;  // by number (LoopBody)
  vcode::ArrayId own_segment_ = 0;   // which one it is, if anything is fetched
  vcode::ArrayId limit_ = 0;         // of rounds, if they are counted
  /// Where lists begin, and how long they are, by their descriptors.
  std::map<std::uint32_t, std::array<vcode::ArrayId, 2>> places_;
  std::vector<vcode::ArrayId> first_;  // what the components begin with that are operands
  std::vector<vcode::ArrayId> last_;   // the last states
  std::map<vcode::ArrayId, vcode::ArrayId> become_;  // operands that tables begin as
};

/// A library that does not have the kernel says that no element has come to its end, and leaves the
/// state as it is.
void add_spec(Module& module, vcode::Kernel& kernel, const LoopBody& body,
              const SerialFunction& serial, const Origin& origin) {
  const std::uint32_t all = serial.own + (serial.fetches() ? 1 : 0);
  Function spec;
  for (const vcode::KernelParameter& input : kernel.inputs) {
    spec.parameters.push_back(new_value(spec, vcode::parameter_type(kernel, input), origin));
  }
  const auto push = [&](vcode::Constant constant) {
    spec.body.statements.push_back(
        make_const(module, spec, add_constant(module, std::move(constant)), origin));
    return spec.body.statements.back().results[0];
  };
  const auto give = [&](ValueId value) {
    spec.result_types.push_back(spec.values[value].type);
    spec.body.results.push_back(value);
  };
  if (body.results) {
    for (const ExpressionId result : *body.results) {
      if (result >= LoopBody::kSequences) continue;
      const Type type = body.expressions[result].type;
      const ValueId zero = push(null_constant(type));
      spec.body.statements.push_back(
          make_op(spec, Op::Distribute, type, {zero, spec.parameters[all]}, origin));
      give(spec.body.statements.back().results[0]);
    }
  }
  // Of a single instance: what it is made of are the first operands.
  for (std::uint32_t k = 0; body.gives_state() && k < serial.parameters.size(); ++k) {
    if (is_in_state(body, k)) give(spec.parameters[k]);
  }
  // As are the last ones, where its lists are.
  for (std::size_t k = 2 * body.lists.size(); k > 0; --k) {
    give(spec.parameters[spec.parameters.size() - k]);
  }
  if (body.counted) give(push(int_constant(0)));
  if (body.is_full) give(push(bool_constant(false)));
  if (body.is_nearly_full) give(push(bool_constant(false)));
  if (body.tells_whether_it_ended()) give(push(bool_constant(true)));
  set_spec(std::move(spec), module, kernel);
}

}  // namespace

bool is_in_state(const LoopBody& body, std::uint32_t parameter) {
  return body.component[parameter] != LoopBody::kNone || body.writes_into(parameter);
}

vcode::Kernel loop_kernel(Module& module, const LoopBody& body, const SerialFunction& serial,
                          std::int64_t most_iterations, const Origin& origin) {
  vcode::Kernel kernel = LoopKernel(module, body, serial, most_iterations).run();
  add_spec(module, kernel, body, serial, origin);
  return kernel;
}

}  // namespace fcode
