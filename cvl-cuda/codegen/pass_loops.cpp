// Loops at a position: a thread keeps the state in its registers until it has come to its end.

#include <fmt/format.h>

#include "cvl-cuda/codegen/node_text.hpp"
#include "cvl-cuda/codegen/pass_writer.hpp"

namespace cvl::cuda::codegen {
namespace {

using Kind = PlanNode::Kind;

std::string state_name(std::size_t component) {
  return fmt::format("s{}", component);
}
std::string body_name(NodeId node) {
  return fmt::format("b{}", node);
}

}  // namespace

void PassWriter::write_iteration(const PlanSink& sink) {
  const PlanLoop& loop = plan_.loops[sink.loop];
  const PlanSink& step = loop.step();
  line("{");
  for (std::size_t k = 0; k < sink.values.size(); ++k) {
    line(fmt::format("  [[maybe_unused]] {} {} = {};", type_text(node(sink.values[k]).type),
                     state_name(k), value_name(sink.values[k])));
  }
  line(fmt::format("  for (std::int64_t round = 0; round < {}LL; ++round) {{", loop.rounds));
  const std::vector<bool> asked = needed(loop.body, {step.flag});
  const std::vector<bool> computed = needed(loop.body, step.values);
  for (NodeId k = 0; k < asked.size(); ++k) {
    if (asked[k]) write_body_node(loop.body.nodes[k], k);
  }
  line(fmt::format("    if ({} == 0) break;", body_name(step.flag)));
  for (NodeId k = 0; k < asked.size(); ++k) {
    if (computed[k] && !asked[k]) write_body_node(loop.body.nodes[k], k);
  }
  for (std::size_t k = 0; k < step.values.size(); ++k) {
    if (!loop.keeps(k)) line(fmt::format("    {} = {};", state_name(k), body_name(step.values[k])));
  }
  line("  }");
  for (std::size_t k = 0; k < sink.arrays.size(); ++k) {
    if (sink.arrays[k] == kNone) continue;
    line(fmt::format("  {} = {};", stored(sink.arrays[k], is_late(sink)), state_name(k)));
  }
  line("}");
}

void PassWriter::write_body_node(const PlanNode& node, NodeId number) {
  std::string value;
  switch (node.kind) {
    case Kind::Constant:
      value = constant_text(node);
      break;
    case Kind::Size:
      value = fmt::format("static_cast<Int>({})", size(node.id));
      break;
    case Kind::State:
      value = state_name(node.id);
      break;
    case Kind::Gather:
      value =
          fmt::format("{0} >= 0 && {0} < {1} ? {2}[{0}] : {3}{{0}}", body_name(node.args[0]),
                      size(kernel_.arrays[node.id].length), source(node.id), type_text(node.type));
      break;
    default:
      value = apply_text(node, body_name);
      break;
  }
  line(fmt::format("    [[maybe_unused]] const {} {} = {};", type_text(node.type),
                   body_name(number), value));
}

}  // namespace cvl::cuda::codegen
