// Plans as text, for tests and reports.

#include <fmt/format.h>

#include "cvl/kernel_plan.hpp"

namespace cvl {
namespace {

using Kind = PlanNode::Kind;

std::string node_text(const vcode::Kernel& kernel, const PlanNode& node) {
  const auto array = [&] { return kernel.arrays[node.id].name; };
  const auto segdes = [&] { return kernel.segdes[node.id].name; };
  switch (node.kind) {
    case Kind::Constant:
      if (node.type == vcode::Type::Float) return fmt::format("{}", node.float_value);
      return fmt::format("{}", node.int_value);
    case Kind::Size:
      return kernel.sizes[node.id].name;
    case Kind::Position:
      return "position";
    case Kind::Load:
      return fmt::format("load {}", array());
    case Kind::Gather:
      return fmt::format("{}[%{}]", array(), node.args[0]);
    case Kind::Random:
      return fmt::format("random {} below %{}", node.id, node.args[0]);
    case Kind::Apply: {
      std::string text(vcode::info(node.op).text);
      for (const NodeId arg : node.args) {
        if (arg != kNone) text += fmt::format(" %{}", arg);
      }
      return text;
    }
    case Kind::SegmentNumber:
      return fmt::format("segment of {}", segdes());
    case Kind::SegmentOffset:
      return fmt::format("offset in {}", segdes());
    case Kind::FindSegment:
      return fmt::format("segment of {} at %{}", segdes(), node.args[0]);
    case Kind::SegmentLength:
      return fmt::format("length of {}[%{}]", segdes(), node.args[0]);
    case Kind::SegmentStart:
      return fmt::format("start of {}[%{}]", segdes(), node.args[0]);
    case Kind::State:
      return fmt::format("state {}", node.id);
    case Kind::Scan:
      return fmt::format("{} %{}{}", vcode::info(node.op).text, node.args[0],
                         node.id == kNone ? "" : " under " + segdes());
  }
  return {};
}

std::string sink_text(const vcode::Kernel& kernel, const PlanSink& sink) {
  static constexpr const char* kNames[] = {"store",    "reduce", "filter", "split",  "scatter",
                                           "segments", "assert", "size",   "iterate"};
  std::string text = kNames[static_cast<int>(sink.kind)];
  if (sink.kind == PlanSink::Kind::Reduce) {
    text += fmt::format(" {}", vcode::info(sink.op).text);
  }
  for (const NodeId value : sink.values) text += fmt::format(" %{}", value);
  if (sink.flag != kNone) text += fmt::format(" by %{}", sink.flag);
  if (sink.index != kNone) text += fmt::format(" at %{}", sink.index);
  if (sink.under != kNone) text += fmt::format(" under {}", kernel.segdes[sink.under].name);
  for (const ArrayId array : sink.arrays) {
    text += fmt::format(" -> {}", array == kNone ? "-" : kernel.arrays[array].name);
  }
  for (const SegdesId segdes : sink.segdes) {
    text += fmt::format(" -> {}", kernel.segdes[segdes].name);
  }
  if (sink.kind == PlanSink::Kind::Iterate) text += fmt::format(" in loop {}", sink.loop);
  if (sink.kind == PlanSink::Kind::Size)
    text += fmt::format(" -> {}", kernel.sizes[sink.size].name);
  for (const ArrayId array : sink.over) text += fmt::format(" over {}", kernel.arrays[array].name);
  return text;
}

std::string pass_text(const vcode::Kernel& kernel, const PlanPass& pass) {
  std::string text;
  for (std::size_t k = 0; k < pass.nodes.size(); ++k) {
    const PlanNode& node = pass.nodes[k];
    text += fmt::format("  %{} = {}", k, node_text(kernel, node));
    if (node.guard != kNone) text += fmt::format(" if %{}", node.guard);
    if (node.traps) text += " (may fail)";
    text += '\n';
  }
  for (const PlanSink& sink : pass.sinks) text += fmt::format("  {}\n", sink_text(kernel, sink));
  return text;
}

}  // namespace

std::string describe(const KernelPlan& plan) {
  const vcode::Kernel& kernel = *plan.kernel;
  std::string text;
  for (const PlanPass& pass : plan.passes) {
    const vcode::KernelSize& length = kernel.sizes[pass.length];
    text += pass.once ? "once\n"
                      : fmt::format("pass {}\n", length.literal ? fmt::format("{}", *length.literal)
                                                                : length.name);
    text += pass_text(kernel, pass);
  }
  for (std::size_t k = 0; k < plan.loops.size(); ++k) {
    text += fmt::format("loop {}, {} rounds at most\n", k, plan.loops[k].rounds);
    text += pass_text(kernel, plan.loops[k].body);
  }
  return text;
}

}  // namespace cvl
