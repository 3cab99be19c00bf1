#include "neslc/stream_loop.hpp"

#include <algorithm>
#include <functional>

#include "neslc/literals.hpp"

namespace neslc {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;
using Kind = StreamNode::Kind;

StreamLoop::StreamLoop(Flattener& outer, std::vector<FoldPtr> folds)
    : outer_(outer), loop_(outer.compiler()), folds_(std::move(folds)) {
  std::vector<StreamPtr> ends;
  for (const FoldPtr& fold : folds_) ends.push_back(fold->input);
  nodes_ = Streams::upstream(ends);
  const auto sources = std::count_if(nodes_.begin(), nodes_.end(),
                                     [](const StreamNode* node) { return node->is_source(); });
  const bool early =
      std::any_of(nodes_.begin(), nodes_.end(),
                  [](const StreamNode* node) {
                    return node->kind == Kind::Until || node->kind == Kind::Append;
                  }) ||
      std::any_of(folds_.begin(), folds_.end(), [](const FoldPtr& fold) { return fold->may_end; });
  ends_at_once_ = sources == 1 && !early;
}

// ---- Values from outside

Value StreamLoop::inside(const Value& outer) {
  Value result = outer_.streams().settled(outer);
  for_each_leaf(result, [&](Value& leaf) {
    if (leaf.is_stream()) return;  // using it there is an error
    std::vector<ValueId> vars = vars_of(leaf);
    for (ValueId& var : vars) var = inside(var);
    leaf = with_vars(leaf, vars, loop_.serial());
    loop_.vectors().set_length(leaf, ir::kOne);
  });
  return result;
}

ValueId StreamLoop::inside(ValueId outer) {
  const auto [entry, added] = known_inside_.try_emplace(outer, ir::kNoValue);
  if (!added) return entry->second;
  if (const vcode::Constant* literal = outer_.builder().known(outer)) {
    entry->second = loop_.builder().constant(*literal);
  } else {
    entry->second = loop_.builder().parameter(outer_.builder().variable(outer).type);
    arguments_.push_back(outer);
    parameters_.push_back(entry->second);
  }
  return entry->second;
}

Frame StreamLoop::inside(const Frame& frame) {
  Frame result;
  result.instantiation = frame.instantiation;
  result.scope = frame.scope;
  for (const auto& [local, value] : frame.locals) result.locals[local] = inside(value);
  return result;
}

StreamLoop::Carried StreamLoop::carry(const Value& first, bool may_be_over) {
  ir::Builder& inner = loop_.builder();
  Carried carried;
  const Value here = outer_.bring(first, outer_.serial());
  std::vector<ValueId> vars;
  const auto add = [&](ValueId outside) {
    vars.push_back(inner.parameter(outer_.builder().variable(outside).type));
    arguments_.push_back(outside);
    parameters_.push_back(vars.back());
  };
  for (const ValueId var : vars_of(here)) add(var);
  carried.state = with_vars(here, vars, loop_.serial());
  for_each_leaf(carried.state,
                [&](const Value& leaf) { loop_.vectors().set_length(leaf, ir::kOne); });
  if (may_be_over) {
    add(outer_.builder().bool_constant(false));
    carried.over = vars.back();
    inner.set_length(carried.over, ir::kOne);
  }
  return carried;
}

Value StreamLoop::first_state(const FunctionValue& begin, const Value& initial) {
  const Value given = outer_.streams().settled(initial);
  if (begin.type == nullptr) return given;
  return outer_.call(begin.type, outer_.streams().settled(begin.value), given, outer_.serial());
}

Value StreamLoop::call(const FunctionValue& function, const Value& argument) {
  return loop_.bring(loop_.call(function.type, inside(function.value), argument, loop_.serial()),
                     loop_.serial());
}

Value StreamLoop::unless(ValueId flag, const Value& idle, const std::function<Value()>& code) {
  const auto rests = [&](Context*, const std::vector<Value>&) { return idle; };
  const auto works = [&](Context*, const std::vector<Value>&) { return code(); };
  return loop_.conditional(this->flag(flag), loop_.serial(), {rests, {}}, {works, {}});
}

// ---- Nodes

Value StreamLoop::no_elements(const StreamNode& node) {
  return empty_sequence(loop_.builder(), loop_.types(), loop_.types().sequence(node.element),
                        loop_.serial());
}

/// Does no element of the source get anywhere except through that input of that node?
bool StreamLoop::comes_only_through(const StreamNode& source, const StreamNode& node,
                                    std::size_t side) const {
  std::vector<const StreamNode*> open;
  std::unordered_map<const StreamNode*, bool> seen;
  for (const FoldPtr& fold : folds_) open.push_back(fold->input.get());
  while (!open.empty()) {
    const StreamNode* const next = open.back();
    open.pop_back();
    if (next == &source) return false;
    if (!seen.emplace(next, true).second) continue;
    for (std::size_t i = 0; i < next->inputs.size(); ++i) {
      if (next != &node || i != side) open.push_back(next->inputs[i].get());
    }
  }
  return true;
}

ValueId StreamLoop::waits(const StreamNode& source) {
  ir::Builder& b = loop_.builder();
  ValueId result = ir::kNoValue;
  const auto also = [&](ValueId flag) {
    result = result == ir::kNoValue ? flag : b.op(Op::Or, VectorType::Bool, {result, flag});
  };
  for (const StreamNode* node : nodes_) {
    if (node->kind != Kind::Append && node->kind != Kind::Join) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::vector<StreamNode*> above = Streams::upstream({node->inputs[side]});
      if (std::find(above.begin(), above.end(), &source) == above.end()) continue;
      const bool alone = comes_only_through(source, *node, side);
      const Carried& carried = before_.at(node);
      if (node->kind == Kind::Append && side == 1) {
        if (!alone) {
          outer_.streams().fail(node->origin,
                                "the second operand of `++` begins when the first one has ended, "
                                "but its elements are needed before",
                                "`collect(s)` keeps all elements in memory");
        }
        also(b.op(Op::Not, VectorType::Bool, {carried.state.var}));
      } else if (node->kind == Kind::Join && alone) {
        // The side that is ahead waits for the other one.
        const auto left_over = [&](std::size_t which) {
          return loop_.vectors().lengths(carried.state.parts[which].var);
        };
        also(b.op(Op::Greater, VectorType::Int, {left_over(side), left_over(1 - side)}));
      }
    }
  }
  return result;
}

void StreamLoop::step_source(const StreamNode& node, Carried& carried) {
  ir::Builder& b = loop_.builder();
  // (piece, (state, ended))
  const auto make = [&] {
    if (node.kind == Kind::Source) return call(node.step, carried.state);
    const ValueId all = inside(node.initial).var;
    const ValueId length = b.int_constant(loop_.compiler().options().piece_length);
    // Without an overflow where the last piece ends.
    const ValueId left = b.op(Op::Subtract, VectorType::Int, {all, carried.state.var});
    const ValueId ended = b.op(Op::LessEqual, VectorType::Int, {left, length});
    const ValueId taken = b.op(Op::Select, VectorType::Int, {ended, left, length});
    const ValueId end = b.op(Op::Add, VectorType::Int, {carried.state.var, taken});
    Value piece = call(node.step, Value::tuple({carried.state, flag(end)}));
    return Value::tuple({std::move(piece), Value::tuple({flag(end), flag(ended)})});
  };
  Value made;
  if (ends_at_once_) {
    made = make();
  } else {
    const ValueId wait = waits(node);
    const Value idle =
        Value::tuple({no_elements(node), Value::tuple({carried.state, flag(carried.over)})});
    const ValueId rests =
        wait == ir::kNoValue ? carried.over : b.op(Op::Or, VectorType::Bool, {carried.over, wait});
    made = unless(rests, idle, make);
  }
  carried.state = made.parts[1].parts[0];
  carried.over = loop_.bring_scalar(made.parts[1].parts[1], loop_.serial());
  pieces_[&node] = {made.parts[0], carried.over};
}

void StreamLoop::step_through(const StreamNode& node, Carried& carried) {
  const Piece& input = pieces_.at(node.inputs[0].get());
  const bool until = node.kind == Kind::Until;
  const auto make = [&] {
    return call(node.step,
                Value::tuple({carried.state, Value::tuple({input.value, flag(input.ended)})}));
  };
  const auto state_of = [&](const Value& made) {
    return until ? made.parts[1].parts[0] : made.parts[1];
  };
  Value made;
  if (ends_at_once_) {
    made = make();
  } else {
    const Value still =
        until ? Value::tuple({carried.state, flag(loop_.builder().bool_constant(true))})
              : carried.state;
    made = unless(carried.over, Value::tuple({no_elements(node), still}), make);
  }
  carried.state = state_of(made);
  ValueId ended = input.ended;
  if (until) {
    const ValueId enough = loop_.bring_scalar(made.parts[1].parts[1], loop_.serial());
    ended = loop_.builder().op(Op::Or, VectorType::Bool, {ended, enough});
  }
  if (carried.over != ir::kNoValue) {
    ended = loop_.builder().op(Op::Or, VectorType::Bool, {ended, carried.over});
    carried.over = ended;
  }
  pieces_[&node] = {made.parts[0], ended};
}

StreamLoop::Piece StreamLoop::step_each(const StreamNode& node) {
  const Piece& first = pieces_.at(node.inputs[0].get());
  std::vector<Value> generators;
  if (node.inputs.size() == node.each->generators.size()) {
    for (const StreamPtr& input : node.inputs) generators.push_back(pieces_.at(input.get()).value);
  } else {
    // Brought together, as nested pairs.
    const Value* rest = &first.value.elements();
    const auto add = [&](const Value& elements) {
      generators.push_back(Value::sequence(first.value.var, elements, loop_.serial()));
    };
    for (std::size_t i = 1; i < node.each->generators.size(); ++i) {
      add(rest->parts[0]);
      rest = &rest->parts[1];
    }
    add(*rest);
  }
  Frame frame = inside(node.frame);
  return {loop_.each_of(*node.each, generators, frame, loop_.serial()), first.ended};
}

StreamLoop::Piece StreamLoop::step_join(const StreamNode& node, Carried& carried) {
  const Piece& a = pieces_.at(node.inputs[0].get());
  const Piece& b = pieces_.at(node.inputs[1].get());
  const auto side = [&](std::size_t which, const Piece& piece) {
    return Value::tuple(
        {carried.state.parts[which], Value::tuple({piece.value, flag(piece.ended)})});
  };
  const Value made = loop_.bring(
      loop_.call_library("stream.joined", {node.inputs[0]->element, node.inputs[1]->element},
                         Value::tuple({side(0, a), side(1, b)}), loop_.serial()),
      loop_.serial());
  carried.state = made.parts[1];
  return {made.parts[0], loop_.builder().op(Op::And, VectorType::Bool, {a.ended, b.ended})};
}

StreamLoop::Piece StreamLoop::step_append(const StreamNode& node, Carried& carried) {
  ir::Builder& b = loop_.builder();
  const Piece& first = pieces_.at(node.inputs[0].get());
  const Piece& second = pieces_.at(node.inputs[1].get());
  const Value was_over = carried.state;
  Value piece =
      loop_.conditional(was_over, loop_.serial(),
                        {[&](Context*, const std::vector<Value>&) { return second.value; }, {}},
                        {[&](Context*, const std::vector<Value>&) { return first.value; }, {}});
  const ValueId ended = b.op(Op::And, VectorType::Bool, {was_over.var, second.ended});
  carried.state = flag(b.op(Op::Or, VectorType::Bool, {was_over.var, first.ended}));
  return {std::move(piece), ended};
}

void StreamLoop::step(const StreamNode& node) {
  const ir::Origin origin = loop_.builder().origin;
  loop_.builder().origin = node.origin;
  switch (node.kind) {
    case Kind::Counted:
    case Kind::Source:
      step_source(node, carried_.at(&node));
      break;
    case Kind::Through:
    case Kind::Until:
      step_through(node, carried_.at(&node));
      break;
    case Kind::Each:
      pieces_[&node] = step_each(node);
      break;
    case Kind::Join:
      pieces_[&node] = step_join(node, carried_.at(&node));
      break;
    case Kind::Append:
      pieces_[&node] = step_append(node, carried_.at(&node));
      break;
  }
  loop_.builder().origin = origin;
}

void StreamLoop::step(const StreamFold& fold, Carried& carried) {
  ir::Builder& b = loop_.builder();
  const ir::Origin origin = b.origin;
  b.origin = fold.origin;
  const Piece& input = pieces_.at(fold.input.get());
  const auto make = [&] { return call(fold.step, Value::tuple({carried.state, input.value})); };
  if (ends_at_once_) {
    carried.state = make();
    carried.over = input.ended;
  } else {
    const Value still =
        fold.may_end ? Value::tuple({carried.state, flag(b.bool_constant(true))}) : carried.state;
    const Value made = unless(carried.over, still, make);
    const ValueId was_over = carried.over;
    carried.over = b.op(Op::Or, VectorType::Bool, {was_over, input.ended});
    carried.state = made;
    if (fold.may_end) {
      carried.state = made.parts[0];
      carried.over = b.op(Op::Or, VectorType::Bool,
                          {carried.over, loop_.bring_scalar(made.parts[1], loop_.serial())});
    }
  }
  b.origin = origin;
}

// ---- The loop

/// Two functions: one makes pieces, at most as many as a round has, and calls itself; the other
/// calls it for round after round. So calls are nested only as deep as there are rounds.
std::vector<ValueId> StreamLoop::traverse(ValueId done,
                                          const std::unordered_map<ValueId, ValueId>& next_values,
                                          const std::vector<ValueId>& wanted) {
  constexpr std::int64_t kPiecesOfRound = 1000;
  Compiler& compiler = loop_.compiler();
  const ir::Origin origin = loop_.builder().origin;
  const auto name = [](std::uint32_t function) { return "STREAM_" + std::to_string(function); };
  const std::uint32_t round = compiler.new_function();
  const std::uint32_t rounds = compiler.new_function();
  const auto type_of = [&](ValueId value) { return loop_.builder().variable(value).type; };

  // The round gives whether all is done, and what is carried on.
  ir::Builder& b = loop_.builder();
  const ValueId left = b.parameter(VectorType::Int);
  b.set_length(left, ir::kOne);
  std::vector<ValueId> next_arguments = parameters_;
  std::vector<ValueId> results = {done};
  std::vector<VectorType> types = {VectorType::Bool};
  std::unordered_map<ValueId, std::size_t> place;  // of what is carried, among the results
  for (ValueId& argument : next_arguments) {
    const auto found = next_values.find(argument);
    if (found == next_values.end()) continue;
    place[argument] = results.size();
    types.push_back(type_of(argument));
    argument = found->second;
    results.push_back(argument);
  }
  const ValueId one = b.int_constant(1);
  next_arguments.push_back(b.op(Op::Subtract, VectorType::Int, {left, one}));
  const ValueId last = b.op(Op::LessEqual, VectorType::Int, {left, one});
  const std::vector<ValueId> given = b.conditional(
      b.op(Op::Or, VectorType::Bool, {done, last}), [&] { return results; },
      [&] { return b.call(round, next_arguments, types); });

  std::vector<VectorType> wanted_types;
  for (const ValueId value : wanted) wanted_types.push_back(type_of(value));
  ir::Builder outer(compiler.module(), compiler.pool());
  outer.origin = origin;
  std::vector<ValueId> arguments;
  for (const ValueId parameter : parameters_) {
    arguments.push_back(outer.parameter(type_of(parameter)));
  }
  std::vector<ValueId> of_round = arguments;
  of_round.push_back(outer.int_constant(kPiecesOfRound));
  const std::vector<ValueId> made = outer.call(round, of_round, types);
  outer.set_length(made[0], ir::kOne);
  std::vector<ValueId> found;
  for (const ValueId value : wanted) found.push_back(made[place.at(value)]);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto carried = place.find(parameters_[i]); carried != place.end()) {
      arguments[i] = made[carried->second];
    }
  }
  const std::vector<ValueId> at_the_end = outer.conditional(
      made[0], [&] { return found; }, [&] { return outer.call(rounds, arguments, wanted_types); });
  compiler.set_function(round, b.finish(name(round), origin, given));
  compiler.set_function(rounds, outer.finish(name(rounds), origin, at_the_end));
  return outer_.builder().call(rounds, arguments_, wanted_types);
}

void StreamLoop::run() {
  ir::Builder& b = loop_.builder();
  const ir::Origin origin = outer_.builder().origin;
  b.origin = origin;
  for (const StreamNode* node : nodes_) {
    const bool may_be_over = !ends_at_once_;
    switch (node->kind) {
      case Kind::Counted:
        carried_[node] =
            carry(Value::scalar(outer_.builder().int_constant(0), outer_.serial()), may_be_over);
        break;
      case Kind::Source:
        carried_[node] = carry(first_state(node->begin, node->initial), may_be_over);
        break;
      case Kind::Through:
      case Kind::Until:
        carried_[node] = carry(outer_.streams().settled(node->initial), may_be_over);
        break;
      case Kind::Each:
        break;
      case Kind::Join: {
        std::vector<Value> rests;
        for (const StreamPtr& input : node->inputs) {
          rests.push_back(empty_sequence(outer_.builder(), outer_.types(),
                                         outer_.types().sequence(input->element), outer_.serial()));
        }
        carried_[node] = carry(Value::tuple(std::move(rests)), false);
        break;
      }
      case Kind::Append:
        carried_[node] =
            carry(Value::scalar(outer_.builder().bool_constant(false), outer_.serial()), false);
        break;
    }
  }
  for (const FoldPtr& fold : folds_) {
    of_folds_.push_back(carry(first_state(fold->begin, fold->initial), !ends_at_once_));
  }
  before_ = carried_;
  const std::vector<Carried> folds_before = of_folds_;

  for (const StreamNode* node : nodes_) step(*node);
  for (std::size_t i = 0; i < folds_.size(); ++i) step(*folds_[i], of_folds_[i]);

  ValueId done = of_folds_[0].over;
  for (const Carried& fold : of_folds_) {
    if (fold.over != done) done = b.op(Op::And, VectorType::Bool, {done, fold.over});
  }
  std::unordered_map<ValueId, ValueId> next_values;
  const auto carry_on = [&](const Carried& before, const Carried& after) {
    const std::vector<ValueId> from = vars_of(before.state);
    const std::vector<ValueId> to = vars_of(loop_.bring(after.state, loop_.serial()));
    for (std::size_t i = 0; i < from.size(); ++i) next_values[from[i]] = to[i];
    if (before.over != ir::kNoValue) next_values[before.over] = after.over;
  };
  for (const auto& [node, before] : before_) carry_on(before, carried_.at(node));
  for (std::size_t i = 0; i < folds_.size(); ++i) carry_on(folds_before[i], of_folds_[i]);
  std::vector<ValueId> wanted;
  for (const Carried& fold : folds_before) append_vars(fold.state, wanted);
  const std::vector<ValueId> outside = traverse(done, next_values, wanted);
  std::size_t at = 0;
  for (std::size_t i = 0; i < folds_.size(); ++i) {
    const Value state = with_vars(of_folds_[i].state, outside, at, outer_.serial());
    for_each_leaf(state, [&](const Value& leaf) { outer_.vectors().set_length(leaf, ir::kOne); });
    StreamFold& fold = *folds_[i];
    fold.result = outer_.call(fold.finish.type, outer_.streams().settled(fold.finish.value), state,
                              outer_.serial());
    fold.done = true;
  }
}

}  // namespace neslc
