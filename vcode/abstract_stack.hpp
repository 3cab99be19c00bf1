// The verifier's picture of the stack: immutable lists that share their lower parts.
//
// Both arms of a conditional start from the same list, so that comparing their results only costs
// what they have changed, however deep the stack and the nesting are.
#pragma once

#include <cstdint>
#include <vector>

#include "vcode/type_terms.hpp"

namespace vcode {

/// What is known of a value, beside its type.
enum class Truth : std::uint8_t { Unknown, False, True };

struct Entry {
  TermId type;
  Truth truth = Truth::Unknown;
  bool operator==(const Entry&) const = default;
};

using NodeId = std::uint32_t;

/// Stacks of one function. Below what the function has pushed lie the entries of its caller, made
/// as they are asked for; their number has no end.
class AbstractStacks {
 public:
  explicit AbstractStacks(TypeTerms& terms) : terms_(terms) {}

  /// Forgets all stacks and returns the one that a function starts with.
  NodeId start();

  NodeId push(NodeId below, Entry entry) {
    nodes_.push_back({entry, below, nodes_[below].level + 1});
    return static_cast<NodeId>(nodes_.size() - 1);
  }
  const Entry& top(NodeId node) const { return nodes_[node].entry; }
  NodeId below(NodeId node) {
    const Node& top = nodes_[node];
    return top.below != kCaller ? top.below : caller_node(static_cast<std::size_t>(1 - top.level));
  }
  /// Number of entries above (negative: below) the stack that the function started with.
  std::int64_t level(NodeId node) const { return nodes_[node].level; }
  /// The type of the caller's entry at that depth, 0 being its top.
  TermId caller_entry(std::size_t depth) { return top(caller_node(depth)).type; }

 private:
  static constexpr NodeId kCaller = 0xFFFFFFFF;  // `below` of the caller's entries

  struct Node {
    Entry entry;
    NodeId below;
    std::int32_t level;  // the budget of a verification keeps it small
  };

  NodeId caller_node(std::size_t depth) {
    return depth < caller_nodes_.size() ? caller_nodes_[depth] : make_caller_node(depth);
  }
  NodeId make_caller_node(std::size_t depth);

  TypeTerms& terms_;
  std::vector<Node> nodes_;
  std::vector<NodeId> caller_nodes_;
};

}  // namespace vcode
