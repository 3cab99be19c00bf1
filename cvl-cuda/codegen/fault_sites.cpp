#include "cvl-cuda/codegen/fault_sites.hpp"

#include <optional>

namespace cvl::cuda::codegen {
namespace {

KernelFault fault_of(const PlanNode& node, NodeId number) {
  KernelFault fault;
  fault.binding = node.binding;
  fault.node = number;
  fault.op = node.op;
  fault.id = node.id;
  fault.kind = node.kind == PlanNode::Kind::Apply    ? KernelFault::Kind::Division
               : node.kind == PlanNode::Kind::Gather ? KernelFault::Kind::Index
                                                     : KernelFault::Kind::Segment;
  return fault;
}

std::optional<KernelFault> fault_of(const PlanSink& sink) {
  KernelFault fault;
  fault.binding = sink.binding;
  switch (sink.kind) {
    case PlanSink::Kind::Assert:
      fault.kind = sink.index == kNone ? KernelFault::Kind::Assertion : KernelFault::Kind::Random;
      return fault;
    case PlanSink::Kind::Segments:
      fault.kind = KernelFault::Kind::Length;
      return fault;
    case PlanSink::Kind::Size:
      fault.kind = KernelFault::Kind::Size;
      fault.id = sink.size;
      return fault;
    case PlanSink::Kind::Scatter:
      fault.kind = KernelFault::Kind::Index;
      fault.id = sink.arrays.empty() ? 0 : sink.arrays[0];
      return fault;
    default:
      return std::nullopt;
  }
}

}  // namespace

FaultSites::FaultSites(const KernelPlan& plan) {
  for (std::uint32_t p = 0; p < plan.passes.size(); ++p) {
    const PlanPass& pass = plan.passes[p];
    for (NodeId k = 0; k < pass.nodes.size(); ++k) {
      if (pass.nodes[k].traps) nodes_[{p, k}] = add(p, fault_of(pass.nodes[k], k));
    }
    for (std::uint32_t k = 0; k < pass.sinks.size(); ++k) {
      if (const auto fault = fault_of(pass.sinks[k])) sinks_[{p, k}] = add(p, *fault);
    }
  }
  int next = 0;
  for (auto& [binding, rank] : ranks_) rank = next++;
}

int FaultSites::add(std::uint32_t pass, const KernelFault& fault) {
  ranks_.emplace(fault.binding, 0);
  sites_.push_back(fault);
  passes_.push_back(pass);
  return static_cast<int>(sites_.size()) - 1;
}

}  // namespace cvl::cuda::codegen
