#include "cvl/kernel_passes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace cvl {
namespace {

using SinkKind = PlanSink::Kind;

/// Calls visit(array) for what the loop of a sink reads.
template <class Visit>
void for_gathers(const KernelPlan& plan, const PlanSink& sink, const Visit& visit) {
  if (sink.kind != SinkKind::Iterate) return;
  for (const PlanLoop::Table& table : plan.loops[sink.loop].tables) visit(table.operand);
  for (const PlanNode& node : plan.loops[sink.loop].body.nodes) {
    if (node.kind == PlanNode::Kind::Gather) visit(node.id);
  }
}

void find_reuse(KernelPlan& plan, std::uint32_t number) {
  const vcode::Kernel& kernel = *plan.kernel;
  PlanPass& pass = plan.passes[number];
  // A selection reads its operands again when it knows where its results begin; scatters may be
  // evaluated by several threads, each of which writes a part of the targets.
  const bool reread = std::any_of(pass.sinks.begin(), pass.sinks.end(), [](const PlanSink& sink) {
    return sink.kind == SinkKind::Filter || sink.kind == SinkKind::Split;
  });
  if (pass.once || reread) return;
  std::vector<bool> candidate(kernel.arrays.size());
  for (const PlanNode& node : pass.nodes) {
    if (node.kind == PlanNode::Kind::Load) candidate[node.id] = plan.last_read[node.id] == number;
  }
  for (const PlanNode& node : pass.nodes) {
    if (node.kind == PlanNode::Kind::Gather) candidate[node.id] = false;
  }
  for (const PlanSink& sink : pass.sinks) {
    for_gathers(plan, sink, [&](ArrayId array) { candidate[array] = false; });
  }
  for (const vcode::KernelParameter& output : kernel.outputs) {
    if (!output.segdes) candidate[output.id] = false;
  }
  for (PlanSink& sink : pass.sinks) {
    if (sink.kind != SinkKind::Store) continue;
    for (ArrayId array = 0; array < candidate.size(); ++array) {
      const vcode::Type from = kernel.arrays[array].type;
      const vcode::Type to = kernel.arrays[sink.arrays[0]].type;
      const bool fits = from == to || (from != vcode::Type::Bool && to != vcode::Type::Bool);
      if (candidate[array] && fits) sink.over.push_back(array);
    }
  }
}

}  // namespace

PlanPass finish_pass(PassDraft& draft) {
  PlanPass pass;
  pass.once = draft.once;
  pass.length = draft.length;
  std::stable_sort(draft.sinks.begin(), draft.sinks.end(),
                   [](const PlanSink& a, const PlanSink& b) { return a.binding < b.binding; });
  pass.sinks = std::move(draft.sinks);
  const std::vector<PlanNode>& nodes = draft.graph.nodes();
  std::vector<NodeId> place(nodes.size(), kNone);
  const auto want = [&](NodeId node) {
    if (node != kNone) place[node] = 0;
  };
  for (const PlanSink& sink : pass.sinks) {
    want(sink.flag);
    want(sink.index);
    for (const NodeId value : sink.values) want(value);
  }
  for (std::size_t k = nodes.size(); k-- > 0;) {
    if (place[k] == kNone) continue;
    for (const NodeId arg : nodes[k].args) want(arg);
    want(nodes[k].guard);
  }
  const auto move = [&](NodeId& node) {
    if (node != kNone) node = place[node];
  };
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (place[k] == kNone) continue;
    place[k] = static_cast<NodeId>(pass.nodes.size());
    pass.nodes.push_back(nodes[k]);
    for (NodeId& arg : pass.nodes.back().args) move(arg);
    move(pass.nodes.back().guard);
    pass.has_scan |= nodes[k].kind == PlanNode::Kind::Scan;
  }
  for (PlanSink& sink : pass.sinks) {
    move(sink.flag);
    move(sink.index);
    for (NodeId& value : sink.values) move(value);
  }
  for (const PlanNode& node : pass.nodes) {
    if (node.traps) pass.first_fault = std::min(pass.first_fault, node.binding);
  }
  for (const PlanSink& sink : pass.sinks) {
    const bool fails = sink.kind == SinkKind::Scatter || sink.kind == SinkKind::Segments ||
                       sink.kind == SinkKind::Assert || sink.kind == SinkKind::Size;
    if (fails) pass.first_fault = std::min(pass.first_fault, sink.binding);
  }
  return pass;
}

void find_lifetimes(KernelPlan& plan) {
  plan.scattered.resize(plan.kernel->arrays.size());
  plan.last_read.assign(plan.kernel->arrays.size(), kNone);
  for (std::uint32_t p = 0; p < plan.passes.size(); ++p) {
    for (const PlanNode& node : plan.passes[p].nodes) {
      if (node.kind == PlanNode::Kind::Load || node.kind == PlanNode::Kind::Gather) {
        plan.last_read[node.id] = p;
      }
    }
    for (const PlanSink& sink : plan.passes[p].sinks) {
      for_gathers(plan, sink, [&](ArrayId array) { plan.last_read[array] = p; });
      if (sink.kind != SinkKind::Scatter) continue;
      for (const ArrayId array : sink.arrays) {
        plan.scattered[array] = true;
        plan.last_read[array] = p;
      }
    }
  }
  for (std::uint32_t p = 0; p < plan.passes.size(); ++p) find_reuse(plan, p);
}

}  // namespace cvl
