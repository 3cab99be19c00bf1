#include "neslc/flatten/stream_loop.hpp"

#include <algorithm>
#include <functional>

#include "neslc/flatten/literals.hpp"

namespace neslc {

using ir::ValueId;
using ir::ValueList;
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
                    return node->kind == Kind::Until || node->kind == Kind::Append ||
                           node->kind == Kind::Choice || node->chosen != ir::kNoValue;
                  }) ||
      std::any_of(folds_.begin(), folds_.end(), [](const FoldPtr& fold) { return fold->may_end; });
  ends_at_once_ = sources == 1 && !early;
}

// ---- Values from outside

Value StreamLoop::inside(const Value& outer) {
  Value result = outer_.streams().settled(outer);
  for_each_leaf(result, [&](Value& leaf) {
    if (leaf.is_stream()) return;  // using it there is an error
    ValueList vars = vars_of(leaf);
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

ValueId StreamLoop::over_at_first(ValueId chosen) {
  ir::Builder& outer = outer_.builder();
  if (ends_at_once_) return ir::kNoValue;
  return chosen == ir::kNoValue ? outer.bool_constant(false)
                                : outer.op(Op::Not, VectorType::Bool, {chosen});
}

StreamLoop::Carried StreamLoop::carry(const Value& first, ValueId over_at_first) {
  ir::Builder& inner = loop_.builder();
  Carried carried;
  const Value here = outer_.bring(first, outer_.serial());
  ValueList vars;
  const auto add = [&](ValueId outside) {
    vars.push_back(inner.parameter(outer_.builder().variable(outside).type));
    arguments_.push_back(outside);
    parameters_.push_back(vars.back());
  };
  for (const ValueId var : vars_of(here)) add(var);
  carried.state = with_vars(here, vars, loop_.serial());
  for_each_leaf(carried.state,
                [&](const Value& leaf) { loop_.vectors().set_length(leaf, ir::kOne); });
  if (over_at_first != ir::kNoValue) {
    add(over_at_first);
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

Value StreamLoop::first_state(const StreamNode& node) {
  const auto code = [&] {
    return outer_.bring(first_state(node.begin, node.initial), outer_.serial());
  };
  if (node.chosen == ir::kNoValue) return code();
  ir::Builder& b = outer_.builder();
  ir::Statement conditional = b.begin_conditional(node.chosen);
  Value result;
  b.in_block(*conditional.then_block, [&] {
    result = code();
    conditional.then_block->results = vars_of(result);
  });
  b.in_block(*conditional.else_block, [&] {
    conditional.else_block->results =
        vars_of(outer_.vectors().null_vector(result, b.single_constant(1)));
  });
  result = with_vars(result, b.end_conditional(std::move(conditional)), outer_.serial());
  for_each_leaf(result, [&](const Value& leaf) { outer_.vectors().set_length(leaf, ir::kOne); });
  return result;
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

Value StreamLoop::if_chosen(const StreamNode& node, const Value& idle,
                            const std::function<Value()>& code) {
  if (node.chosen == ir::kNoValue) return code();
  const Value chosen = inside(Value::scalar(node.chosen, outer_.serial()));
  return unless(loop_.builder().op(Op::Not, VectorType::Bool, {chosen.var}), idle, code);
}

// ---- The loop

/// Two functions: one makes pieces, at most as many as a round has, and calls itself; the other
/// calls it for round after round. So calls are nested only as deep as there are rounds.
ValueList StreamLoop::traverse(ValueId done,
                               const std::unordered_map<ValueId, ValueId>& next_values,
                               const ValueList& wanted) {
  constexpr std::int64_t kPiecesOfRound = 1000;
  Compiler& compiler = loop_.compiler();
  const ir::Origin origin = loop_.builder().origin;
  const auto name = [](std::uint32_t function) {
    return std::string(kStreamFunction) + std::to_string(function);
  };
  const std::uint32_t round = compiler.new_stream_function();
  const std::uint32_t rounds = compiler.new_stream_function();
  const auto type_of = [&](ValueId value) { return loop_.builder().variable(value).type; };

  // The round gives whether all is done, and what is carried on.
  ir::Builder& b = loop_.builder();
  const ValueId left = b.parameter(VectorType::Int);
  b.set_length(left, ir::kOne);
  ValueList next_arguments = parameters_;
  ValueList results = {done};
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
  const ValueList given = b.conditional(
      b.op(Op::Or, VectorType::Bool, {done, last}), [&] { return results; },
      [&] { return b.call(round, next_arguments, types); });

  std::vector<VectorType> wanted_types;
  for (const ValueId value : wanted) wanted_types.push_back(type_of(value));
  ir::Builder outer(compiler.module(), compiler.pool());
  outer.origin = origin;
  ValueList arguments;
  for (const ValueId parameter : parameters_) {
    arguments.push_back(outer.parameter(type_of(parameter)));
  }
  ValueList of_round = arguments;
  of_round.push_back(outer.int_constant(kPiecesOfRound));
  const ValueList made = outer.call(round, of_round, types);
  outer.set_length(made[0], ir::kOne);
  ValueList found;
  for (const ValueId value : wanted) found.push_back(made[place.at(value)]);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (const auto carried = place.find(parameters_[i]); carried != place.end()) {
      arguments[i] = made[carried->second];
    }
  }
  const ValueList at_the_end = outer.conditional(
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
    const ValueId over = over_at_first(node->chosen);
    switch (node->kind) {
      case Kind::Counted:
        carried_[node] =
            carry(Value::scalar(outer_.builder().int_constant(0), outer_.serial()), over);
        break;
      case Kind::Source:
        carried_[node] = carry(first_state(*node), over);
        break;
      case Kind::Through:
      case Kind::Until:
        carried_[node] = carry(outer_.streams().settled(node->initial), over);
        break;
      case Kind::Each:
      case Kind::Choice:
        break;
      case Kind::Join: {
        std::vector<Value> rests;
        for (const StreamPtr& input : node->inputs) {
          rests.push_back(empty_sequence(outer_.builder(), outer_.types(),
                                         outer_.types().sequence(input->element), outer_.serial()));
        }
        carried_[node] = carry(Value::tuple(std::move(rests)), ir::kNoValue);
        break;
      }
      case Kind::Append:
        carried_[node] = carry(
            Value::scalar(outer_.builder().bool_constant(false), outer_.serial()), ir::kNoValue);
        break;
    }
  }
  for (const FoldPtr& fold : folds_) {
    of_folds_.push_back(
        carry(first_state(fold->begin, fold->initial), over_at_first(ir::kNoValue)));
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
    const ValueList from = vars_of(before.state);
    const ValueList to = vars_of(loop_.bring(after.state, loop_.serial()));
    for (std::size_t i = 0; i < from.size(); ++i) next_values[from[i]] = to[i];
    if (before.over != ir::kNoValue) next_values[before.over] = after.over;
  };
  for (const auto& [node, before] : before_) carry_on(before, carried_.at(node));
  for (std::size_t i = 0; i < folds_.size(); ++i) carry_on(folds_before[i], of_folds_[i]);
  ValueList wanted;
  for (const Carried& fold : folds_before) append_vars(fold.state, wanted);
  const ValueList outside = traverse(done, next_values, wanted);
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
