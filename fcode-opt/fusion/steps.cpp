#include "fcode-opt/fusion/steps.hpp"

#include <algorithm>
#include <utility>

namespace fcode {
namespace {

using vcode::Family;

// May an operation by itself write its result over this operand?
bool written_over_alone(const Statement& statement, std::size_t operand) {
  if (statement.kind != Statement::Kind::Op) return false;
  switch (vcode::info(statement.op).family) {
    case Family::Elementwise:
      return true;
    case Family::Scan:
    case Family::Random:
    case Family::Replace:
      return operand == 0;
    default:
      return false;
  }
}

// As far as this reader is concerned, may a result of its pass be written over the operand? (See
// PlanSink::over.)
bool written_over(const Node& reader, Access access) {
  if (access == Access::Length) return true;
  if (access == Access::Own) return reader.role == Role::Map || reader.role == Role::Scan;
  return access == Access::Target && reader.role == Role::Scatter;
}

bool is_moved(Access access) {
  return access == Access::Own || access == Access::Target || access == Access::Foreign;
}

// One entry for each value.
void unite(std::vector<Step::Operand>& reads) {
  std::sort(reads.begin(), reads.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  std::size_t count = 0;
  for (const Step::Operand& read : reads) {
    if (count == 0 || reads[count - 1].value != read.value) {
      reads[count++] = read;
      continue;
    }
    reads[count - 1].moved |= read.moved;
    reads[count - 1].over &= read.over;
  }
  reads.resize(count);
}

Step instruction(const RegionGraph& graph, NodeIndex index, Slot slot) {
  const Statement& statement = *graph.nodes[index].statement;
  Step step;
  step.slot = slot;
  for (std::size_t i = 0; i < statement.operands.size(); ++i) {
    step.reads.push_back({statement.operands[i], true, written_over_alone(statement, i)});
  }
  unite(step.reads);
  step.makes.push_back(index);
  return step;
}

/// The passes of the kernels of a schedule.
class Passes {
 public:
  Passes(const RegionGraph& graph, const Schedule& schedule, NodeIndex end)
      : graph_(graph),
        schedule_(schedule),
        kept_(stored(graph, schedule, end)),
        home_(end, kNone),
        ready_(end) {
    for (NodeIndex i = 0; i < end; ++i) {
      if (graph.nodes[i].in_kernel()) place(i);
    }
    for (NodeIndex i = 0; i < end; ++i) {
      if (graph.nodes[i].in_kernel()) keep_what_others_made(i);
    }
  }

  Slot slots() const { return static_cast<Slot>(kernels_.size()); }

  void append_steps(Slot slot, std::vector<Step>& steps) const {
    if (slot >= kernels_.size()) return;
    std::vector<Step::Operand> descriptors;
    for (std::uint32_t pass = 0; pass < kernels_[slot].size(); ++pass) {
      steps.push_back(step(slot, pass));
      for (const Step::Operand& read : steps.back().reads) {
        if (graph_.is_segdes(read.value)) descriptors.push_back(read);
      }
    }
    if (descriptors.empty()) return;
    std::vector<Step::Operand>& reads = steps.back().reads;
    reads.insert(reads.end(), descriptors.begin(), descriptors.end());
    unite(reads);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Pass {
    std::uint32_t domain = 0;
    bool once = false;
    std::vector<NodeIndex> nodes;
    std::vector<NodeIndex> fills;  // scatters whose defaults it stores
  };

  bool inside(NodeIndex reader, const Read& read) const {
    return in_same_kernel(graph_, schedule_, reader, read);
  }

  // Is it read by the pass that stores the defaults of a scatter?
  static bool is_default(const Node& reader, const Read& read) {
    return reader.target && read.access == Access::Target;
  }

  // Is computed with its first reader.
  bool waits(NodeIndex index) const {
    const Node& node = graph_.nodes[index];
    const bool harmless = node.role == Role::Map || (node.role == Role::Random && !node.may_fail);
    return harmless && !node.scalar && !kept_[index];
  }

  // Does the reader take the element at its own position, in the pass that makes it?
  bool joins(const Node& reader, const Read& read) const {
    const Node& producer = graph_.nodes[read.producer];
    return read.access == Access::Own && producer.pointwise() && !reader.scalar &&
           producer.domain == reader.domain;
  }

  void place(NodeIndex index) {
    const Node& node = graph_.nodes[index];
    for (const Read& read : node.reads) {
      if (!inside(index, read)) continue;
      const std::uint32_t home = home_[read.producer];
      const std::uint32_t ready =
          home == kNone ? ready_[read.producer] : home + (joins(node, read) ? 0 : 1);
      ready_[index] = std::max(ready_[index], ready);
    }
    if (waits(index)) return;
    const Slot slot = schedule_[index];
    if (slot >= kernels_.size()) kernels_.resize(slot + 1);
    if (node.target) place_defaults(index);
    home_[index] = pass_for(kernels_[slot], node.domain, node.scalar, ready_[index]);
    add(index, kernels_[slot][home_[index]], home_[index]);
  }

  // The first pass over the domain from `earliest` on.
  static std::uint32_t pass_for(std::vector<Pass>& passes, std::uint32_t domain, bool once,
                                std::uint32_t earliest) {
    std::uint32_t number = earliest;
    const auto fits = [&](const Pass& pass) {
      return pass.once == once && (once || pass.domain == domain);
    };
    while (number < passes.size() && !fits(passes[number])) ++number;
    if (number < passes.size()) return number;
    passes.push_back({domain, once, {}, {}});
    return static_cast<std::uint32_t>(passes.size() - 1);
  }

  // What a scatter leaves as it is comes into its result by an earlier pass.
  void place_defaults(NodeIndex index) {
    const Node& node = graph_.nodes[index];
    std::vector<Pass>& passes = kernels_[schedule_[index]];
    std::uint32_t earliest = 0;
    std::vector<NodeIndex> waiting;
    for (const Read& read : node.reads) {
      if (!is_default(node, read) || !inside(index, read)) continue;
      const std::uint32_t home = home_[read.producer];
      earliest = std::max(earliest, home == kNone ? ready_[read.producer] : home);
      if (home == kNone) waiting.push_back(read.producer);
    }
    const std::uint32_t number = pass_for(passes, *node.target, false, earliest);
    passes[number].fills.push_back(index);
    for (const NodeIndex producer : waiting) {
      home_[producer] = number;
      add(producer, passes[number], number);
    }
    ready_[index] = std::max(ready_[index], number + 1);
  }

  // The node and what it is computed from in the same pass.
  void add(NodeIndex index, Pass& pass, std::uint32_t number) {
    pass.nodes.push_back(index);
    const Node& node = graph_.nodes[index];
    for (const Read& read : node.reads) {
      if (!inside(index, read) || home_[read.producer] != kNone) continue;
      // At other positions than its own it is computed anew.
      if (joins(node, read)) home_[read.producer] = number;
      add(read.producer, pass, number);
    }
  }

  void keep_what_others_made(NodeIndex index) {
    if (home_[index] == kNone) return;
    const Node& node = graph_.nodes[index];
    for (const Read& read : node.reads) {
      if (!inside(index, read) || is_default(node, read)) continue;
      const std::uint32_t home = home_[read.producer];
      if (home != kNone && home != home_[index]) kept_[read.producer] = true;
    }
  }

  Step step(Slot slot, std::uint32_t number) const {
    const Pass& pass = kernels_[slot][number];
    Step step;
    step.slot = slot;
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
        if (inside(i, read) && home_[read.producer] == number) continue;
        step.reads.push_back({read.value, true, true});
      }
      step.makes.push_back(i);
    }
    for (const NodeIndex i : pass.nodes) {
      const Node& node = graph_.nodes[i];
      for (const Read& read : node.reads) {
        if (is_default(node, read)) continue;
        const bool made_here =
            inside(i, read) && (home_[read.producer] == number || home_[read.producer] == kNone);
        if (made_here) continue;
        step.reads.push_back(
            {read.value, is_moved(read.access), !reread && written_over(node, read.access)});
      }
      if (kept_[i] && home_[i] == number && !node.target) step.makes.push_back(i);
    }
    unite(step.reads);
    return step;
  }

  const RegionGraph& graph_;
  const Schedule& schedule_;
  std::vector<bool> kept_;            // by node: is a vector outside of its pass
  std::vector<std::uint32_t> home_;   // by node: its pass; kNone: no pass so far
  std::vector<std::uint32_t> ready_;  // by node: the first pass in which all it reads is there
  std::vector<std::vector<Pass>> kernels_;  // by slot
};

}  // namespace

std::vector<Step> steps_of(const RegionGraph& graph) {
  std::vector<Step> steps;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) steps.push_back(instruction(graph, i, 0));
  return steps;
}

std::vector<Step> steps_of(const RegionGraph& graph, const Schedule& schedule, NodeIndex end) {
  const Passes passes(graph, schedule, end);
  std::vector<std::vector<NodeIndex>> instructions;
  Slot slots = passes.slots();
  for (NodeIndex i = 0; i < end; ++i) {
    const Node& node = graph.nodes[i];
    if (!node.scheduled() || node.in_kernel()) continue;
    slots = std::max(slots, schedule[i] + 1);
    instructions.resize(slots);
    instructions[schedule[i]].push_back(i);
  }
  instructions.resize(slots);
  std::vector<Step> steps;
  for (Slot slot = 0; slot < slots; ++slot) {
    passes.append_steps(slot, steps);
    for (const NodeIndex i : instructions[slot]) steps.push_back(instruction(graph, i, slot));
  }
  return steps;
}

std::vector<Step> spec_steps_of(const RegionGraph& graph, const Schedule& schedule) {
  // Instructions come behind the kernel of their slot.
  std::vector<std::pair<std::pair<Slot, bool>, NodeIndex>> order;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.scheduled()) order.push_back({{schedule[i], !node.in_kernel()}, i});
  }
  std::sort(order.begin(), order.end());
  std::vector<Step> steps;
  std::vector<Slot> generated(graph.nodes.size(), ~Slot{0});
  const auto append = [&](const auto& self, NodeIndex index, Slot slot) -> void {
    for (const ValueId operand : graph.nodes[index].statement->operands) {
      const NodeIndex made = graph.producer(operand);
      const bool here = made != kOutside && !graph.nodes[made].scheduled();
      if (here && std::exchange(generated[made], slot) != slot) self(self, made, slot);
    }
    steps.push_back(instruction(graph, index, slot));
  };
  for (const auto& [place, index] : order) append(append, index, place.first);
  return steps;
}

}  // namespace fcode
