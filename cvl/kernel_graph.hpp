// Building the graph of a pass: common subexpressions, guards, proofs that indices are in range.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "cvl/kernel_plan.hpp"

namespace cvl {

/// Thrown where the guards of nested conditionals would multiply without bound.
struct TooManyGuards {};

/// Adds nodes to one pass; equal nodes exist once.
class GraphBuilder {
 public:
  /// `canonical` maps sizes to their representatives. Both must outlive the builder.
  GraphBuilder(const vcode::Kernel& kernel, const std::vector<SizeId>& canonical, bool once,
               SizeId length)
      : kernel_(kernel), canonical_(canonical), once_(once), length_(length) {}

  const std::vector<PlanNode>& nodes() const { return nodes_; }
  const PlanNode& operator[](NodeId node) const { return nodes_[node]; }

  NodeId constant_int(std::int64_t number);
  NodeId size(SizeId size);
  NodeId position();
  NodeId state(const vcode::ThunkNode& component);
  /// Element of a vector at an index; the own position needs no check if the lengths are equal.
  NodeId subscript(ArrayId array, NodeId index, NodeId guard, std::uint32_t binding);
  NodeId apply(vcode::Op op, vcode::Type written, vcode::Type type, const NodeId* args,
               std::size_t arity, NodeId guard, std::uint32_t binding);
  NodeId scan(vcode::Monoid monoid, NodeId value, SegdesId under, std::uint32_t binding);
  /// Random number `draw` of the plan at the own position.
  NodeId random(std::uint32_t draw, NodeId bound, std::uint32_t binding);
  NodeId segment_number(SegdesId segdes, NodeId position, NodeId guard, std::uint32_t binding);
  NodeId segment_offset(SegdesId segdes, NodeId position, NodeId guard, std::uint32_t binding);
  /// Kind SegmentLength or SegmentStart.
  NodeId segment_property(PlanNode::Kind kind, SegdesId segdes, NodeId segment, NodeId guard,
                          std::uint32_t binding);
  NodeId at_least_one(NodeId number, std::uint32_t binding);
  NodeId constant(const vcode::ThunkNode& literal);
  NodeId both(NodeId guard, NodeId condition);
  NodeId negation(NodeId condition);

  /// A value that a thunk reads from an array that the kernel has made. May give kNone, and then
  /// the array lies in memory.
  using ArrayValue = std::function<NodeId(ArrayId)>;
  /// A value for a size that was bound in this very pass, or kNone.
  using SizeValue = std::function<NodeId(SizeId)>;
  /// Nodes for the results of a thunk. Throws TooManyGuards.
  std::vector<NodeId> lower(const vcode::Thunk& thunk, std::uint32_t binding,
                            const ArrayValue& array_value, const SizeValue& size_value);

  /// Does this size have the length of the pass?
  bool is_length(SizeId size) const { return !once_ && canonical_[size] == length_; }
  /// Descriptors that are known to have one segment need no descriptor.
  bool is_single(SegdesId segdes) const;

 private:
  struct Hash {
    std::size_t operator()(const PlanNode& node) const;
  };
  struct Same {
    bool operator()(const PlanNode& a, const PlanNode& b) const;
  };
  class Lowering;

  NodeId add(PlanNode node);
  bool in_range(NodeId index, SizeId count) const;
  bool never_zero(NodeId divisor) const;
  bool is_number_of(NodeId index, SegdesId segdes) const;

  const vcode::Kernel& kernel_;
  const std::vector<SizeId>& canonical_;
  bool once_;
  SizeId length_;
  std::vector<PlanNode> nodes_;
  std::unordered_map<PlanNode, NodeId, Hash, Same> known_;
};

}  // namespace cvl
