#include "vcode/abstract_stack.hpp"

namespace vcode {

NodeId AbstractStacks::start() {
  nodes_.clear();
  caller_nodes_.clear();
  return caller_node(0);
}

NodeId AbstractStacks::make_caller_node(std::size_t depth) {
  while (caller_nodes_.size() <= depth) {
    const auto level = -static_cast<std::int32_t>(caller_nodes_.size());
    caller_nodes_.push_back(static_cast<NodeId>(nodes_.size()));
    nodes_.push_back({{terms_.fresh()}, kCaller, level});
  }
  return caller_nodes_[depth];
}

}  // namespace vcode
