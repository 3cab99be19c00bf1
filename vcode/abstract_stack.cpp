#include "vcode/abstract_stack.hpp"

namespace vcode {

NodeId AbstractStacks::start() {
  nodes_.clear();
  caller_nodes_.clear();
  return caller_node(0);
}

NodeId AbstractStacks::push(NodeId below, Entry entry) {
  nodes_.push_back({entry, below, nodes_[below].level + 1});
  return static_cast<NodeId>(nodes_.size() - 1);
}

NodeId AbstractStacks::below(NodeId node) {
  if (nodes_[node].below != kCaller) return nodes_[node].below;
  return caller_node(static_cast<std::size_t>(1 - nodes_[node].level));
}

NodeId AbstractStacks::caller_node(std::size_t depth) {
  while (caller_nodes_.size() <= depth) {
    const auto level = -static_cast<std::int32_t>(caller_nodes_.size());
    caller_nodes_.push_back(static_cast<NodeId>(nodes_.size()));
    nodes_.push_back({{terms_.fresh()}, kCaller, level});
  }
  return caller_nodes_[depth];
}

}  // namespace vcode
