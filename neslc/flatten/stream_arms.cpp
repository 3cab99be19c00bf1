#include "neslc/flatten/stream_arms.hpp"

#include <utility>

namespace neslc {

using ir::ValueId;
using ir::ValueList;
using vcode::Op;
using VectorType = vcode::Type;

StreamArms::StreamArms(Flattener& flattener, ValueId condition)
    : f_(flattener),
      streams_(flattener.streams()),
      condition_(condition),
      traversed_before_(streams_.traversed_.size()),
      begin_(streams_.next_number_),
      outside_(streams_.pending_) {}

StreamArms::~StreamArms() {
  for (std::size_t i = traversed_before_; i < streams_.traversed_.size(); ++i) {
    streams_.traversed_[i]->traversed = true;
  }
}

Value StreamArms::end(Arm arm, const Value& value) {
  const Value result = streams_.settled(value);
  std::vector<StreamPtr> given;
  for_each_leaf(result, [&](const Value& leaf) {
    if (leaf.is_stream()) given.push_back(leaf.stream);
  });
  for (StreamNode* node : Streams::upstream(given)) {
    if (node->number < begin_) continue;
    made_[arm].push_back(node);
    for_each_part_of_node(*node, [&](Value& part) { part = streams_.settled(part); });
  }
  kept_.insert(kept_.end(), given.begin(), given.end());
  begin_ = streams_.next_number_;
  streams_.settle_effects();
  streams_.pending_ = outside_;
  for (std::size_t i = traversed_before_; i < streams_.traversed_.size(); ++i) {
    streams_.traversed_[i]->traversed = false;
  }
  return result;
}

/// For each value, without streams, that the nodes of an arm consist of.
template <class Action>
void StreamArms::for_each_carried(Arm arm, const Action& action) {
  for (StreamNode* node : made_[arm]) {
    for_each_part_of_node(*node, [&](Value& part) {
      for_each_leaf(part, [&](Value& leaf) {
        if (!leaf.is_stream()) action(leaf);  // to use it there is an error
      });
    });
    if (node->chosen == ir::kNoValue) continue;
    Value chosen = Value::scalar(node->chosen, f_.serial());
    action(chosen);
    node->chosen = chosen.var;
  }
}

void StreamArms::append_parts(Arm arm, ValueList& results) {
  for (const Arm made_in : {Then, Else}) {
    for_each_carried(made_in, [&](const Value& leaf) {
      append_vars(
          made_in == arm ? leaf : f_.vectors().null_vector(leaf, f_.builder().single_constant(1)),
          results);
    });
  }
}

void StreamArms::set_parts(const ValueList& results, std::size_t& next) {
  for (const Arm arm : {Then, Else}) {
    for_each_carried(arm, [&](Value& leaf) {
      leaf = with_vars(leaf, results, next, f_.serial());
      f_.vectors().set_length(leaf, ir::kOne);
    });
  }
  for (StreamNode* node : made_[Then]) {
    if (node->chosen == ir::kNoValue) node->chosen = condition_;
  }
  for (StreamNode* node : made_[Else]) {
    if (node->chosen != ir::kNoValue) continue;
    node->chosen = f_.builder().op(Op::Not, VectorType::Bool, {condition_});
  }
}

Value StreamArms::choice(const Value& then_stream, const Value& else_stream) {
  if (then_stream.stream == else_stream.stream) return then_stream;
  StreamNode node;
  node.kind = StreamNode::Kind::Choice;
  node.element = then_stream.stream->element;
  node.inputs = {then_stream.stream, else_stream.stream};
  node.initial = Value::scalar(condition_, f_.serial());
  return streams_.add(std::move(node));
}

}  // namespace neslc
