// Functions that call themselves last, or only combine what that gives with a number, on each
// element of vectors: a loop in a kernel.
//
// What the front end makes of such a function for many instances calls itself once for each round,
// and in each packs, computes and merges vectors. Where it knows a function for one instance that
// does the same (Function::serial), that one says what a round is, and a kernel does all rounds of
// an element in one go. So it does for that function itself, whose rounds are calls of the machine
// otherwise, each with operations on single numbers. Elements that fail, or that go on for very
// long, are left to the function as it was, which knows what to say.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fcode-opt/fusion/canonical.hpp"
#include "fcode-opt/fusion/spec_writer.hpp"
#include "fcode-opt/passes/loop_body.hpp"
#include "fcode-opt/passes/passes.hpp"
#include "ir/tools.hpp"

namespace fcode {
namespace {

using vcode::Binding;
using vcode::ThunkNode;

/// Behind so many rounds the function itself goes on, from the start: it stops where recursion is
/// too deep, which nearly always is a mistake by then. It takes seconds: not every device can be
/// interrupted before.
constexpr std::int64_t kMostIterations = 10'000'000;

/// For one instance a call that comes last takes no room: it may go on as long as anybody waits.
constexpr std::int64_t kMostSerialIterations = 1'000'000'000;

/// Rounds of loops inside say little of how deep a recursion is.
constexpr std::int64_t kMostWithInnerLoops = 100'000'000;

/// Nor do those of a stack, whose depth is what counts, or those of a loop that counts its own.
constexpr std::int64_t kMostOfAll = 1'000'000'000'000'000;

std::int64_t most_iterations(const LoopBody& body, bool serial) {
  if (body.stack || body.counted) return kMostOfAll;
  if (!serial) return body.has_inner_loops ? kMostWithInnerLoops : kMostIterations;
  return body.collects && !body.has_inner_loops ? LoopBody::kMostDepth : kMostSerialIterations;
}

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
    iterate();
    if (body_.results) results();
    if (body_.gives_state()) last_state();
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

  /// Is there a state that is not the last?
  void left() {
    Binding left;
    left.kind = Binding::Kind::Reduce;
    left.space = {false, kLength};
    Expressions expressions = body_.expressions;
    const ExpressionId unfinished = expressions.either(body_.goes_on, body_.fails);
    left.elements = at_index(expressions.thunk({unfinished}));
    left.monoids = {{Op::OrReduce, Type::Bool}};
    left.arrays = {array("left", 0, Type::Bool, kOne)};
    kernel_.outputs.push_back({false, left.arrays[0]});
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
  std::vector<Sequence> sequences_;    // by number (LoopBody)
  vcode::ArrayId own_segment_ = 0;     // which one it is, if anything is fetched
  vcode::ArrayId limit_ = 0;           // of rounds, if they are counted
  std::vector<vcode::ArrayId> first_;  // what the components begin with that are operands
  std::vector<vcode::ArrayId> last_;   // the last states
  std::map<vcode::ArrayId, vcode::ArrayId> become_;  // operands that tables begin as
};

/// Is a parameter among what the last state is made of?
bool is_in_state(const LoopBody& body, std::uint32_t parameter) {
  return body.component[parameter] != LoopBody::kNone || body.writes_into(parameter);
}

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
      const ValueId zero = push(type == Type::Float  ? float_constant(0)
                                : type == Type::Bool ? bool_constant(false)
                                                     : int_constant(0));
      spec.body.statements.push_back(
          make_op(spec, Op::Distribute, type, {zero, spec.parameters[all]}, origin));
      give(spec.body.statements.back().results[0]);
    }
  }
  // Of a single instance: what it is made of are the first operands.
  for (std::uint32_t k = 0; body.gives_state() && k < serial.parameters.size(); ++k) {
    if (is_in_state(body, k)) give(spec.parameters[k]);
  }
  if (body.counted) give(push(int_constant(0)));
  if (body.tells_whether_it_ended()) give(push(bool_constant(true)));
  set_spec(std::move(spec), module, kernel);
}

class LoopMaker {
 public:
  explicit LoopMaker(Module& module) : module_(module), pool_(module) {}

  bool run() {
    // All are read first: functions of one instance are what the others are made of.
    const std::vector<Function>& functions = module_.functions;
    const auto has_serial = [](const Function& function) { return function.serial.has_value(); };
    if (std::none_of(functions.begin(), functions.end(), has_serial)) return false;
    const std::vector<std::vector<std::uint32_t>> groups = call_groups(module_);
    const std::vector<bool> recursive = recursive_functions(module_, groups);
    group_.resize(functions.size());
    for (std::uint32_t k = 0; k < groups.size(); ++k) {
      for (const std::uint32_t function : groups[k]) group_[function] = k;
    }
    std::vector<Loop> loops;
    for (std::uint32_t k = 0; k < functions.size(); ++k) {
      const auto& serial = functions[k].serial;
      if (!serial) continue;
      auto body = loop_body(module_, recursive, *serial);
      if (!body && has_scalar_results(functions[serial->function])) {
        body = recursion_body(module_, recursive, *serial);
      }
      if (!body) continue;
      // Where each instance makes one call after the other, many do well side by side.
      if (body->stack && !body->stack->branches && !serial->single) continue;
      loops.push_back({k, *serial, std::move(*body)});
    }
    remove_copying(loops, recursive);
    for (const Loop& loop : loops) make(loop.function, loop.serial, loop.body);
    for (const Made& made : made_) go_on_in_rests(made);
    return !made_.empty();
  }

 private:
  struct Loop {
    std::uint32_t function;
    SerialFunction serial;
    LoopBody body;
  };

  /// A loop inside of which loops write copies what it changes, as it may have to begin anew. Where
  /// the rounds of another one, which is no kernel, call it, that may be more than all its work.
  void remove_copying(std::vector<Loop>& loops, const std::vector<bool>& recursive) const {
    const auto is_removed = [&](const Loop& loop) {
      if (!loop.body.counted) return false;
      std::vector<bool> seen(module_.functions.size());
      for (const Loop& made : loops) seen[made.function] = true;
      for (std::uint32_t k = 0; k < recursive.size(); ++k) {
        if (recursive[k] && !seen[k] && calls(k, loop.function, seen)) return true;
      }
      return false;
    };
    for (bool again = true; again;) {
      const auto removed = std::find_if(loops.begin(), loops.end(), is_removed);
      again = removed != loops.end();
      if (again) loops.erase(removed);
    }
  }

  /// Does a call of one function lead to the other, but for ways through functions that have been
  /// seen?
  bool calls(std::uint32_t from, std::uint32_t to, std::vector<bool>& seen) const {
    seen[from] = true;
    bool found = false;
    for_each_statement(module_.functions[from].body, [&](const Statement& statement) {
      if (found || statement.kind != Statement::Kind::Call) return;
      found = statement.index == to || (!seen[statement.index] && calls(statement.index, to, seen));
    });
    return found;
  }

  static bool has_scalar_results(const Function& function) {
    return std::all_of(
        function.result_types.begin(), function.result_types.end(),
        [](const std::optional<Type>& type) { return type && vcode::is_data(*type); });
  }

  /// A function that runs a loop now, and the one that it was.
  struct Made {
    std::uint32_t function, rest, serial;
  };

  /// What is left to a function as it was goes on in such functions, also where the call is that of
  /// a version for other parameters, or of a function that calls this one.
  void go_on_in_rests(const Made& made) {
    for_each_statement(module_.functions[made.rest].body, [&](Statement& statement) {
      if (statement.kind != Statement::Kind::Call) return;
      for (const Made& other : made_) {
        const bool again = group_[other.serial] == group_[made.serial];
        if (other.function != statement.index || !again) continue;
        statement.index = other.rest;
        break;
      }
    });
  }

  void make(std::uint32_t number, const SerialFunction& serial, const LoopBody& body) {
    const auto rest = static_cast<std::uint32_t>(module_.functions.size());
    module_.functions.emplace_back();
    Function& function = module_.functions[number];
    const bool is_serial = serial.single;
    vcode::Kernel kernel =
        LoopKernel(module_, body, serial, most_iterations(body, is_serial)).run();
    add_spec(module_, kernel, body, serial, function.origin);
    const std::uint32_t loop = pool_.add(std::move(kernel), function, function.origin);

    Function wrapper;
    wrapper.name = function.name;
    wrapper.origin = function.origin;
    wrapper.result_types = function.result_types;
    for (const ValueId parameter : function.parameters) {
      wrapper.parameters.push_back(
          new_value(wrapper, function.values[parameter].type, function.origin));
    }
    ValueList operands = wrapper.parameters;
    if (is_serial) operands = with_one_instance(std::move(operands), serial.own, wrapper);
    for (const std::uint32_t constant : body.constants) {
      Statement pushed = make_const(module_, wrapper, constant, function.origin);
      if (is_given(module_, constant)) pushed.kind = Statement::Kind::Given;
      operands.push_back(pushed.results[0]);
      wrapper.body.statements.push_back(std::move(pushed));
    }
    if (body.counted) {
      const std::uint32_t most = add_constant(module_, int_constant(kMostSerialIterations));
      wrapper.body.statements.push_back(make_const(module_, wrapper, most, function.origin));
      operands.push_back(wrapper.body.statements.back().results[0]);
    }
    Statement run = make_run(module_, wrapper, loop, operands, function.origin);
    Statement call = call_of(wrapper, rest, run, body);
    std::optional<Statement> again;
    if (body.counted) {
      operands.back() = run.results[run.results.size() - 2];
      again = make_run(module_, wrapper, loop, std::move(operands), function.origin);
    }
    wrapper.body.statements.push_back(std::move(run));
    if (body.tells_whether_it_ended()) {
      choose(wrapper, std::move(call), std::move(again), body);
    } else {
      wrapper.body.results = call.results;
      wrapper.body.statements.push_back(std::move(call));
    }

    made_.push_back({number, rest, serial.function});
    function.name += "_REST";
    function.serial.reset();
    function.fallback = body.results.has_value();
    module_.functions[rest] = std::exchange(module_.functions[number], std::move(wrapper));
  }

  /// The results of the loop that has been run, or of the call of the function as it was, where a
  /// state has not come to its end. `again`: runs the loop up to the last whole round.
  static void choose(Function& wrapper, Statement call, std::optional<Statement> again,
                     const LoopBody& body) {
    const ValueList found = wrapper.body.statements.back().results;
    Statement choice;
    choice.kind = Statement::Kind::If;
    choice.origin = wrapper.origin;
    choice.operands = {found.back()};
    choice.then_block = std::make_unique<Block>();
    choice.else_block = std::make_unique<Block>();
    if (body.results) {
      auto scalar = found.begin();
      for (const ExpressionId result : *body.results) {
        choice.else_block->results.push_back(result < LoopBody::kSequences
                                                 ? *scalar++
                                                 : call.operands[result - LoopBody::kSequences]);
      }
    } else {
      choice.else_block->results = call.results;
    }
    Statement rest;
    if (again) {
      rest = call_of(wrapper, call.index, *again, body);
      choice.then_block->statements.push_back(std::move(*again));
      if (!body.results) choice.else_block->statements.push_back(std::move(call));
    } else {
      rest = std::move(call);
    }
    for (const ValueId result : rest.results) {
      choice.results.push_back(new_value(wrapper, wrapper.values[result].type, wrapper.origin));
    }
    choice.then_block->results = rest.results;
    choice.then_block->statements.push_back(std::move(rest));
    wrapper.body.results = choice.results;
    wrapper.body.statements.push_back(std::move(choice));
  }

  /// A call of the function as it was, from the last state of the loop on, or from the beginning.
  static Statement call_of(Function& wrapper, std::uint32_t function, const Statement& run,
                           const LoopBody& body) {
    Statement call;
    call.kind = Statement::Kind::Call;
    call.index = function;
    call.origin = wrapper.origin;
    for (const std::optional<Type>& type : wrapper.result_types) {
      call.results.push_back(new_value(wrapper, type, wrapper.origin));
    }
    call.operands = wrapper.parameters;
    if (!body.gives_state()) return call;
    auto last = run.results.end();
    if (body.counted) --last;
    if (body.tells_whether_it_ended()) --last;
    for (std::uint32_t k = static_cast<std::uint32_t>(call.operands.size()); k-- > 0;) {
      if (is_in_state(body, k)) call.operands[k] = *--last;
    }
    return call;
  }

  /// The operands with a descriptor of one segment of one element behind the first `own` of them.
  ValueList with_one_instance(ValueList operands, std::uint32_t own, Function& wrapper) {
    std::vector<Statement>& statements = wrapper.body.statements;
    const std::uint32_t one = add_constant(module_, int_constant(1));
    statements.push_back(make_const(module_, wrapper, one, wrapper.origin));
    statements.push_back(make_op(wrapper, Op::MakeSegdes, Type::Int, {statements.back().results[0]},
                                 wrapper.origin));
    operands.insert(operands.begin() + own, statements.back().results[0]);
    return operands;
  }

  Module& module_;
  KernelPool pool_;
  std::vector<Made> made_;
  std::vector<std::uint32_t> group_;  // of functions that call each other, by function
};

}  // namespace

bool make_loops(Module& module) {
  return LoopMaker(module).run();
}

}  // namespace fcode
