#include "cvl-cpu/kernel_program.hpp"

#include <algorithm>
#include <utility>

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;

bool reads_own_segment(const PlanPass& pass, const PlanNode& node) {
  const bool by_segment = node.kind == Kind::Gather || node.kind == Kind::SegmentLength ||
                          node.kind == Kind::SegmentStart;
  return by_segment && !node.traps && pass.nodes[node.args[0]].kind == Kind::SegmentNumber;
}

/// Calls visit(node) for what must have been evaluated before a node.
template <class Visit>
void for_operands(const PlanPass& pass, NodeId number, const Visit& visit) {
  const PlanNode& node = pass.nodes[number];
  if (node.kind == Kind::Scan || is_walked(pass, number)) return;
  for (const NodeId arg : node.args) {
    if (arg != kNone) visit(arg);
  }
  if (node.guard != kNone) visit(node.guard);
}

bool needs_slot(const PlanNode& node) {
  return node.kind != Kind::Constant && node.kind != Kind::Size && node.kind != Kind::Load &&
         node.kind != Kind::Scan && node.kind != Kind::State;
}

bool is_selection(const PlanSink& sink) {
  return sink.kind == PlanSink::Kind::Filter || sink.kind == PlanSink::Kind::Split;
}

/// What a program is made for, with indices and where runs may take their place.
struct Roots {
  std::vector<NodeId> all, by_runs;

  void add(NodeId node) {
    all.push_back(node);
    by_runs.push_back(node);
  }
  void add(const PlanPass& pass, const PlanSink& sink, bool index_by_runs);
};

void Roots::add(const PlanPass& pass, const PlanSink& sink, bool index_by_runs) {
  if (is_selection(sink)) {
    const std::vector<ClassDecision> decisions = class_decisions(pass, sink);
    for (const ClassDecision& decision : decisions) {
      if (decision.condition != kNone) add(decision.condition);
    }
    if (decisions.empty()) add(sink.flag);
    return;
  }
  if (sink.flag != kNone) add(sink.flag);
  for (const NodeId value : sink.values) add(value);
  if (sink.index == kNone) return;
  all.push_back(sink.index);
  if (!index_by_runs) by_runs.push_back(sink.index);
}

}  // namespace

bool divides_ints(const PlanNode& node) {
  return node.type == vcode::Type::Int &&
         (node.op == vcode::Op::Divide || node.op == vcode::Op::Modulo);
}

bool is_walked(const PlanPass& pass, NodeId number) {
  const PlanNode& node = pass.nodes[number];
  return node.kind == Kind::SegmentNumber || node.kind == Kind::SegmentOffset ||
         reads_own_segment(pass, node);
}

std::optional<SharedRead> shared_read(const PlanPass& pass, NodeId number) {
  const PlanNode& node = pass.nodes[number];
  const bool reads = node.kind == Kind::Gather || node.kind == Kind::SegmentLength ||
                     node.kind == Kind::SegmentStart;
  if (!reads || node.guard != kNone) return std::nullopt;
  const PlanNode& index = pass.nodes[node.args[0]];
  if (index.kind != Kind::Apply || index.op != vcode::Op::Divide) return std::nullopt;
  const PlanNode& number_of_segment = pass.nodes[index.args[0]];
  const PlanNode& divisor = pass.nodes[index.args[1]];
  if (number_of_segment.kind != Kind::SegmentNumber || divisor.kind != Kind::Constant ||
      divisor.int_value <= 0) {
    return std::nullopt;
  }
  return SharedRead{number_of_segment.id, divisor.int_value};
}

SegdesId walked_segdes(const PlanPass& pass, NodeId number) {
  const PlanNode& node = pass.nodes[number];
  return reads_own_segment(pass, node) ? pass.nodes[node.args[0]].id : node.id;
}

std::vector<ClassDecision> class_decisions(const PlanPass& pass, const PlanSink& split) {
  std::vector<ClassDecision> decisions;
  if (split.kind != PlanSink::Kind::Split) return decisions;
  const PlanNode* node = &pass.nodes[split.flag];
  while (node->applies(vcode::Op::Select)) {
    const PlanNode& chosen = pass.nodes[node->args[1]];
    if (chosen.kind != Kind::Constant) return {};
    decisions.push_back({node->args[0], chosen.int_value});
    node = &pass.nodes[node->args[2]];
  }
  if (node->kind != Kind::Constant) return {};
  decisions.push_back({kNone, node->int_value});
  return decisions;
}

bool is_after_scan(const PlanPass& pass, const PlanSink& sink) {
  const auto depends = [&](NodeId node) { return node != kNone && pass.nodes[node].after_scan; };
  return depends(sink.flag) || depends(sink.index) ||
         std::any_of(sink.values.begin(), sink.values.end(), depends);
}

namespace {

KernelProgram make_program(const PlanPass& pass, Roots given) {
  KernelProgram program;
  program.roots = std::move(given.all);
  program.run_roots = std::move(given.by_runs);
  const std::vector<NodeId>& roots = program.roots;
  const std::size_t count = pass.nodes.size();
  std::vector<bool> wanted(count);
  for (const NodeId root : roots) wanted[root] = true;
  for (std::size_t k = count; k-- > 0;) {
    if (!wanted[k]) continue;
    for_operands(pass, static_cast<NodeId>(k), [&](NodeId operand) { wanted[operand] = true; });
  }
  for (const bool walked : {true, false}) {
    for (NodeId k = 0; k < count; ++k) {
      if (wanted[k] && is_walked(pass, k) == walked) program.order.push_back(k);
    }
  }
  // A slot is free again behind the last reader. Results are read at the end.
  const std::size_t end = program.order.size();
  std::vector<std::size_t> last(count, 0);
  for (std::size_t at = 0; at < end; ++at) {
    last[program.order[at]] = at;
    for_operands(pass, program.order[at], [&](NodeId operand) { last[operand] = at; });
  }
  for (const NodeId root : roots) last[root] = end;
  std::vector<std::vector<NodeId>> dying(end + 1);
  for (const NodeId node : program.order) dying[last[node]].push_back(node);
  program.slot.assign(count, kNone);
  std::vector<std::uint32_t> free;
  for (std::size_t at = 0; at < end; ++at) {
    const NodeId node = program.order[at];
    // Operands that die here give up their slots afterwards only: kernels read elements of one
    // width and may write another.
    if (needs_slot(pass.nodes[node])) {
      if (free.empty()) free.push_back(program.slots++);
      program.slot[node] = free.back();
      free.pop_back();
    }
    for (const NodeId dead : dying[at]) {
      if (program.slot[dead] != kNone) free.push_back(program.slot[dead]);
    }
  }
  return program;
}

}  // namespace

PassPrograms make_programs(const PlanPass& pass,
                           const std::function<bool(const PlanSink&)>& by_runs) {
  Roots main, epilogue, selected;
  for (const PlanNode& node : pass.nodes) {
    if (node.kind == Kind::Scan) main.add(node.args[0]);
  }
  for (const PlanSink& sink : pass.sinks) {
    (is_after_scan(pass, sink) ? epilogue : main).add(pass, sink, by_runs(sink));
    if (!is_selection(sink)) continue;
    for (std::size_t k = 0; k < sink.arrays.size(); ++k) {
      if (sink.arrays[k] != kNone) selected.add(sink.values[k % sink.values.size()]);
    }
  }
  return {make_program(pass, std::move(main)), make_program(pass, std::move(epilogue)),
          make_program(pass, std::move(selected))};
}

}  // namespace cvl::cpu
