// Making passes in place of those of a plan (kernel_columns.hpp, kernel_panels.hpp, …).
#pragma once

#include <cstdint>
#include <initializer_list>

#include "cvl/kernel_plan.hpp"

namespace cvl::cpu {

/// Adds nodes and sinks to a pass.
class PassBuilder {
 public:
  explicit PassBuilder(PlanPass& pass) : pass_(pass) {}

  NodeId add(const PlanNode& node) {
    pass_.nodes.push_back(node);
    return static_cast<NodeId>(pass_.nodes.size() - 1);
  }
  NodeId number(std::int64_t value) {
    PlanNode node;
    node.uniform = true;
    node.int_value = value;
    return add(node);
  }
  NodeId position() {
    PlanNode node;
    node.kind = PlanNode::Kind::Position;
    return add(node);
  }
  NodeId state(std::uint32_t component, vcode::Type type) {
    PlanNode node;
    node.kind = PlanNode::Kind::State;
    node.type = type;
    node.id = component;
    return add(node);
  }
  NodeId apply(vcode::Op op, vcode::Type written, std::initializer_list<NodeId> args);
  /// total op value, as the reduction `op` combines them; NaN included, of which the first one
  /// stays.
  NodeId combined(vcode::Op reduction, vcode::Type type, NodeId total, NodeId value);
  /// What is wanted in the end.
  void store(NodeId value) {
    PlanSink sink;
    sink.values = {value};
    sink.arrays = {kNone};
    pass_.sinks.push_back(sink);
  }

 private:
  PlanPass& pass_;
};

}  // namespace cvl::cpu
