#include "fcode-opt/fusion/kernel_passes.hpp"

#include <algorithm>

namespace fcode {
namespace {

// As far as this reader is concerned, may a result of its pass be written over the operand? (See
// PlanSink::over.)
bool written_over(const Node& reader, Access access) {
  if (access == Access::Length) return true;
  if (access == Access::Own) return reader.role == Role::Map || reader.role == Role::Scan;
  return access == Access::Target && reader.role == Role::Scatter;
}

bool is_moved(const Node& reader, Access access) {
  return access == Access::Own || access == Access::Target ||
         (access == Access::Foreign && !reader.one_run);
}

// Is it read by the pass that stores the defaults of a scatter?
bool is_default(const Node& reader, const Read& read) {
  return reader.target && read.access == Access::Target;
}

}  // namespace

KernelPasses::KernelPasses(const RegionGraph& graph)
    : graph_(graph), readers_(readers_of(graph)), nodes_(graph.nodes.size()) {}

void KernelPasses::append(const Schedule& schedule, std::span<const NodeIndex> members,
                          std::vector<Step>& steps) {
  schedule_ = &schedule;
  count_ = 0;
  for (const NodeIndex i : members) nodes_[i] = {kNone, 0, read_elsewhere(i)};
  for (const NodeIndex i : members) place(i);
  for (const NodeIndex i : members) keep_what_others_made(i);
  std::vector<Step::Operand> descriptors;
  for (std::uint32_t pass = 0; pass < count_; ++pass) {
    Step& step = steps.emplace_back();
    step.slot = schedule[members[0]];
    write_step(pass, step);
    for (const Step::Operand& read : step.reads) {
      if (graph_.is_segdes(read.value)) descriptors.push_back(read);
    }
  }
  if (descriptors.empty()) return;
  std::vector<Step::Operand>& reads = steps.back().reads;
  reads.insert(reads.end(), descriptors.begin(), descriptors.end());
  unite(reads);
}

// Does the result have to exist outside of the kernel that computes it?
bool KernelPasses::read_elsewhere(NodeIndex index) const {
  const auto outside = [&](NodeIndex reader) {
    return !graph_.nodes[reader].in_kernel() || (*schedule_)[reader] != (*schedule_)[index];
  };
  return graph_.nodes[index].output ||
         std::any_of(readers_[index].begin(), readers_[index].end(), outside);
}

// Is it computed with its first reader?
bool KernelPasses::waits(NodeIndex index) const {
  const Node& node = graph_.nodes[index];
  const bool harmless = node.role == Role::Map || (node.role == Role::Random && !node.may_fail);
  return harmless && !node.scalar && !nodes_[index].kept;
}

// Does the reader take the element at its own position, in the pass that makes it?
bool KernelPasses::joins(const Node& reader, const Read& read) const {
  const Node& producer = graph_.nodes[read.producer];
  return read.access == Access::Own && producer.pointwise() && !reader.scalar &&
         producer.domain == reader.domain;
}

void KernelPasses::place(NodeIndex index) {
  const Node& node = graph_.nodes[index];
  for (const Read& read : node.reads) {
    if (!inside(index, read)) continue;
    const Progress& producer = nodes_[read.producer];
    const std::uint32_t ready =
        producer.pass == kNone ? producer.ready : producer.pass + (joins(node, read) ? 0 : 1);
    nodes_[index].ready = std::max(nodes_[index].ready, ready);
  }
  if (waits(index)) return;
  if (node.target) place_defaults(index);
  nodes_[index].pass = pass_for(node.domain, node.scalar, nodes_[index].ready);
  add(index, nodes_[index].pass);
}

// The first pass over the domain from `earliest` on.
std::uint32_t KernelPasses::pass_for(std::uint32_t domain, bool once, std::uint32_t earliest) {
  std::uint32_t number = earliest;
  const auto fits = [&](const Pass& pass) {
    return pass.once == once && (once || pass.domain == domain);
  };
  while (number < count_ && !fits(passes_[number])) ++number;
  if (number < count_) return number;
  if (count_ == passes_.size()) passes_.emplace_back();
  Pass& pass = passes_[count_];
  pass.domain = domain;
  pass.once = once;
  pass.nodes.clear();
  pass.fills.clear();
  return count_++;
}

// What a scatter leaves as it is comes into its result by an earlier pass.
void KernelPasses::place_defaults(NodeIndex index) {
  const Node& node = graph_.nodes[index];
  std::uint32_t earliest = 0;
  std::vector<NodeIndex> waiting;
  for (const Read& read : node.reads) {
    if (!is_default(node, read) || !inside(index, read)) continue;
    const Progress& producer = nodes_[read.producer];
    earliest = std::max(earliest, producer.pass == kNone ? producer.ready : producer.pass);
    if (producer.pass == kNone) waiting.push_back(read.producer);
  }
  const std::uint32_t number = pass_for(*node.target, false, earliest);
  passes_[number].fills.push_back(index);
  for (const NodeIndex producer : waiting) {
    nodes_[producer].pass = number;
    add(producer, number);
  }
  nodes_[index].ready = std::max(nodes_[index].ready, number + 1);
}

// The node and what it is computed from in the same pass.
void KernelPasses::add(NodeIndex index, std::uint32_t pass) {
  passes_[pass].nodes.push_back(index);
  const Node& node = graph_.nodes[index];
  for (const Read& read : node.reads) {
    if (!inside(index, read) || nodes_[read.producer].pass != kNone) continue;
    // At other positions than its own it is computed anew.
    if (joins(node, read)) nodes_[read.producer].pass = pass;
    add(read.producer, pass);
  }
}

void KernelPasses::keep_what_others_made(NodeIndex index) {
  if (nodes_[index].pass == kNone) return;
  const Node& node = graph_.nodes[index];
  for (const Read& read : node.reads) {
    if (!inside(index, read) || is_default(node, read)) continue;
    Progress& producer = nodes_[read.producer];
    if (producer.pass != kNone && producer.pass != nodes_[index].pass) producer.kept = true;
  }
}

void KernelPasses::write_step(std::uint32_t number, Step& step) const {
  const Pass& pass = passes_[number];
  step.kernel = true;
  step.once = pass.once;
  step.domain = pass.domain;
  const auto has = [&](Role role) {
    return std::any_of(pass.nodes.begin(), pass.nodes.end(),
                       [&](NodeIndex i) { return graph_.nodes[i].role == role; });
  };
  // What several scatters write to one place is decided by their order, and a scan adds its own.
  step.in_order = has(Role::Scatter) && has(Role::Scan);
  // A selection reads its operands again when it knows where its results begin.
  const bool reread = pass.once || has(Role::Filter);
  for (const NodeIndex i : pass.fills) {
    for (const Read& read : graph_.nodes[i].reads) {
      if (!is_default(graph_.nodes[i], read)) continue;
      if (inside(i, read) && nodes_[read.producer].pass == number) continue;
      step.reads.push_back({read.value, true, true});
    }
    step.makes.push_back(i);
  }
  for (const NodeIndex i : pass.nodes) {
    const Node& node = graph_.nodes[i];
    for (const Read& read : node.reads) {
      if (is_default(node, read)) continue;
      const std::uint32_t maker = inside(i, read) ? nodes_[read.producer].pass : kNone;
      if (inside(i, read) && (maker == number || maker == kNone)) continue;
      step.reads.push_back(
          {read.value, is_moved(node, read.access), !reread && written_over(node, read.access)});
    }
    if (nodes_[i].kept && nodes_[i].pass == number && !node.target) step.makes.push_back(i);
  }
  unite(step.reads);
}

std::vector<Step> steps_of(const RegionGraph& graph, const Schedule& schedule) {
  KernelPasses passes(graph);
  std::vector<Step> steps;
  for_each_slot(graph, schedule, [&](Slot slot, auto kernel, auto instructions) {
    if (!kernel.empty()) passes.append(schedule, kernel, steps);
    for (const NodeIndex i : instructions) steps.push_back(instruction(graph, i, slot));
  });
  return steps;
}

}  // namespace fcode
