// What each node and each fold does in a round of the loop.
#include <algorithm>
#include <functional>

#include "neslc/flatten/literals.hpp"
#include "neslc/flatten/stream_loop.hpp"

namespace neslc {

using ir::ValueId;
using vcode::Op;
using VectorType = vcode::Type;
using Kind = StreamNode::Kind;

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
    if (node->inputs.size() != 2 || node->kind == Kind::Each) continue;
    for (std::size_t side = 0; side < 2; ++side) {
      const std::vector<StreamNode*> above = Streams::upstream({node->inputs[side]});
      if (std::find(above.begin(), above.end(), &source) == above.end()) continue;
      const bool alone = comes_only_through(source, *node, side);
      if (node->kind == Kind::Choice) {
        const ValueId first = inside(node->initial).var;
        if (alone) also(side == 1 ? first : b.op(Op::Not, VectorType::Bool, {first}));
        continue;
      }
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

/// How many of all elements that are counted there are in a piece. Where shorter ones are tried, as
/// the memory has not been enough for longer ones, they do not become so many that the time they
/// take by themselves shows: if the result needs the memory, they do not help.
ValueId StreamLoop::piece_length(ValueId all) {
  constexpr std::int64_t kMostPieces = 16384;
  ir::Builder& b = loop_.builder();
  const CompileOptions& options = loop_.compiler().options();
  const ValueId length = b.int_constant(options.piece_length);
  if (!options.in_pieces) return length;
  const ValueId least = b.op(Op::Divide, VectorType::Int, {all, b.int_constant(kMostPieces)});
  const ValueId longest = b.int_constant(kPieceLength);
  const auto smaller = [&](ValueId x, ValueId y, ValueId a, ValueId c) {
    return b.op(Op::Select, VectorType::Int, {b.op(Op::Less, VectorType::Int, {x, y}), a, c});
  };
  const ValueId raised = smaller(length, least, least, length);
  return smaller(longest, raised, longest, raised);
}

void StreamLoop::step_source(const StreamNode& node, Carried& carried) {
  ir::Builder& b = loop_.builder();
  // (piece, (state, ended))
  const auto make = [&] {
    if (node.kind == Kind::Source) return call(node.step, carried.state);
    const ValueId all = inside(node.initial).var;
    const ValueId length = piece_length(all);
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
  return {
      if_chosen(node, no_elements(node),
                [&] { return loop_.each_of(*node.each, generators, {}, frame, loop_.serial()); }),
      first.ended};
}

StreamLoop::Piece StreamLoop::step_join(const StreamNode& node, Carried& carried) {
  const Piece& a = pieces_.at(node.inputs[0].get());
  const Piece& b = pieces_.at(node.inputs[1].get());
  const auto side = [&](std::size_t which, const Piece& piece) {
    return Value::tuple(
        {carried.state.parts[which], Value::tuple({piece.value, flag(piece.ended)})});
  };
  const Value made = if_chosen(node, Value::tuple({no_elements(node), carried.state}), [&] {
    return loop_.bring(
        loop_.call_library("stream.joined", {node.inputs[0]->element, node.inputs[1]->element},
                           Value::tuple({side(0, a), side(1, b)}), loop_.serial()),
        loop_.serial());
  });
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

StreamLoop::Piece StreamLoop::step_choice(const StreamNode& node) {
  const Piece& first = pieces_.at(node.inputs[0].get());
  const Piece& second = pieces_.at(node.inputs[1].get());
  const Value condition = inside(node.initial);
  return {
      unless(condition.var, first.value, [&] { return second.value; }),
      loop_.builder().op(Op::Select, VectorType::Bool, {condition.var, first.ended, second.ended})};
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
    case Kind::Choice:
      pieces_[&node] = step_choice(node);
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

}  // namespace neslc
