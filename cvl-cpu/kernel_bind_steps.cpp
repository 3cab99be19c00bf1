// The steps of a pass: what is computed for each block, in which order, and where it is written.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Mode = BoundNode::Mode;

}  // namespace

/// `by_runs`: for the steps of this one that move runs; null: for those without.
void BoundPass::find_needed(const KernelProgram& program, const BoundProgram* by_runs) {
  // What may fail does so even if the value turns out not to matter.
  for (const NodeId node : program.order) {
    const bool safe = nodes_[node].mode == Mode::Narrow ||
                      (by_runs != nullptr && (caught_[node] || is_shared_by_runs(node, *by_runs) ||
                                              reads_row(node, *by_runs)));
    needed_[node] = pass_.nodes[node].traps && !safe;
  }
  for (const NodeId root : by_runs != nullptr ? program.run_roots : program.roots) {
    needed_[root] = true;
  }
  for (std::size_t at = program.order.size(); at-- > 0;) {
    const NodeId number = program.order[at];
    if (!needed_[number]) continue;
    const PlanNode& node = pass_.nodes[number];
    if (special_[number] == Special::Copy) {
      needed_[copied_[number]] = true;
    } else if (special_[number] == Special::Fails) {
      needed_[node.guard] = true;
    } else if (nodes_[number].mode == Mode::Slot && node.kind != Kind::Scan &&
               !compares_bytes(number) && !is_walked(pass_, number) &&
               !(by_runs != nullptr &&
                 (gathers_runs(number) || joins_runs(number) || reads_row(number, *by_runs)))) {
      for (const NodeId arg : node.args) {
        if (arg != kNone) needed_[arg] = true;
      }
      if (node.guard != kNone) needed_[node.guard] = true;
    }
  }
}

void BoundPass::bind_program(BoundProgram& bound, const KernelProgram& program) {
  bound.program = &program;
  bound.element_steps = {};
  bound.native = {};
  bound.pieces = {};
  bound.in_memory.clear();
  bound.targets.clear();
  bound.slots = program.slots;
  find_needed(program, nullptr);
  for (const NodeId number : program.order) {
    if (!needed_[number]) continue;
    if (special_[number] == Special::Fails) {
      BoundStep step;
      step.kind = BoundStep::Kind::FailIf;
      step.node = number;
      step.guard = pass_.nodes[number].guard;
      bound.element_steps.steps.push_back(step);
    } else if (nodes_[number].mode == Mode::Memory || pass_.nodes[number].kind == Kind::Scan) {
      bound.in_memory.push_back(number);
    } else if (!is_uniform(number)) {
      add_step(bound, number);
    }
  }
  bind_runs(bound);
}

void BoundPass::add_step(BoundProgram& bound, NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  BoundStep step;
  step.node = number;
  step.width = nodes_[number].width;
  step.slot = bound.program->slot[number];
  std::copy(node.args, node.args + 3, step.args);
  if (node.guard != kNone && !is_uniform(node.guard)) step.guard = node.guard;
  const auto progression = [&](std::int64_t start, std::int64_t stride) {
    step.kind = BoundStep::Kind::Progression;
    step.start = start;
    step.stride = stride;
  };
  const auto must_fit = [&](std::int64_t greatest) { make_int(state_.cpu.widths(), greatest); };
  if (nodes_[number].mode == Mode::Narrow) {
    step.kind = BoundStep::Kind::Widen;
    if (node.kind == Kind::Load) step.slot = bound.slots++;
    bound.element_steps.steps.push_back(step);
    return;
  }
  if (special_[number] == Special::Copy) {
    step.kind = BoundStep::Kind::Copy;
    step.args[0] = copied_[number];
    bound.element_steps.steps.push_back(step);
    return;
  }
  switch (node.kind) {
    case Kind::Position:
      must_fit(length_ - 1);
      progression(0, 1);
      break;
    case Kind::Load: {
      const Vector& vector = state_.arrays[node.id];
      progression(vector.progression_start(), vector.progression_step());
      step.slot = bound.slots++;
      break;
    }
    case Kind::Random:
      step.kind = BoundStep::Kind::Random;
      break;
    case Kind::Apply:
      if (compares_bytes(number)) {
        step.kind = BoundStep::Kind::CompareBytes;
      } else {
        finish_apply(step);
      }
      break;
    case Kind::FindSegment:
    case Kind::SegmentLength:
    case Kind::SegmentStart:
      if (is_walked(pass_, number)) {
        add_walk(bound, number);
        return;
      }
      must_fit(std::max(state_.segdes[node.id].count, state_.segdes[node.id].total) - 1);
      step.kind =
          node.kind == Kind::FindSegment ? BoundStep::Kind::Find : BoundStep::Kind::Property;
      step.segments = &segments(node.id);
      break;
    case Kind::Gather:
      if (is_walked(pass_, number)) {
        add_walk(bound, number);
        return;
      }
      step.kind = BoundStep::Kind::Gather;
      step.vector = &state_.arrays[node.id];
      break;
    case Kind::SegmentOffset:
      if (state_.segdes[node.id].count == 1) {
        must_fit(length_ - 1);
        progression(0, 1);
        break;
      }
      [[fallthrough]];
    default:
      add_walk(bound, number);
      return;
  }
  bound.element_steps.steps.push_back(step);
}

void BoundPass::add_walk(BoundProgram& bound, NodeId number) {
  const PlanNode& node = pass_.nodes[number];
  const SegdesId id = walked_segdes(pass_, number);
  const Segments& own = segments(id);
  if (node.kind != Kind::Gather)
    make_int(state_.cpu.widths(), std::max(own.count(), own.total()) - 1);
  // Walked nodes come first and those of one descriptor need not be neighbours: a walk for each run
  // of them.
  auto& [steps, all_walked] = bound.element_steps;
  if (steps.empty() || steps.back().kind != BoundStep::Kind::Walk ||
      steps.back().segments != &own) {
    BoundStep walk;
    walk.kind = BoundStep::Kind::Walk;
    walk.segments = &own;
    walk.first = walk.last = static_cast<std::uint32_t>(all_walked.size());
    steps.push_back(walk);
  }
  all_walked.push_back(walked_node(number, bound.program->slot[number]));
  steps.back().last = static_cast<std::uint32_t>(all_walked.size());
}

void BoundPass::leave_out(BoundProgram& program, NodeId node) {
  for (BoundSteps* list : {&program.element_steps, &program.run_steps}) {
    for (BoundStep& step : list->steps) step.left_out |= step.node == node;
  }
}

const PlanSink* BoundPass::store_of(NodeId node) const {
  const auto stores = [&](const PlanSink& sink) {
    return sink.kind == PlanSink::Kind::Store && sink.values[0] == node;
  };
  const auto found = std::find_if(pass_.sinks.begin(), pass_.sinks.end(), stores);
  return found == pass_.sinks.end() ? nullptr : &*found;
}

bool BoundPass::ends_in_memory(NodeId node) const {
  if (nodes_[node].mode != Mode::Slot) return nodes_[node].mode == Mode::Memory;
  // Positions are never written out, and narrow values not in their width.
  return pass_.nodes[node].kind == Kind::Apply && store_of(node) != nullptr && !fits_bytes_[node];
}

const std::byte* BoundPass::final_values(NodeId node) const {
  if (nodes_[node].mode == Mode::Memory) return nodes_[node].base;
  return elements<std::byte>(state_.arrays[store_of(node)->arrays[0]]);
}

void BoundPass::add_target(BoundProgram& program, Target target, bool in_steps) {
  const auto number = static_cast<std::uint32_t>(program.targets.size());
  if (in_steps && !target.streamed && nodes_[target.node].mode == Mode::Slot) {
    // Whichever list is run must write there: what a walk reads off rows has no step of its own.
    std::vector<BoundStep*> found;
    bool in_all = true;
    for (BoundSteps* list : {&program.element_steps, &program.run_steps}) {
      if (list->steps.empty()) continue;
      const auto step =
          std::find_if(list->steps.begin(), list->steps.end(), [&](const BoundStep& candidate) {
            return candidate.node == target.node && candidate.target == kNone;
          });
      if (step == list->steps.end()) {
        in_all = false;
      } else {
        found.push_back(&*step);
      }
    }
    target.direct = in_all && !found.empty();
    if (target.direct) {
      for (BoundStep* step : found) step->target = number;
    }
  }
  program.targets.push_back(target);
}

}  // namespace cvl::cpu
