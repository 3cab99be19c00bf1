// The runs of a pass with the operands of one run of the kernel, and the steps that use them.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {
namespace {

using Kind = PlanNode::Kind;
using Mode = BoundNode::Mode;

}  // namespace

void BoundPass::find_run_indices() {
  run_indices_.resize(pass_.nodes.size());
  for (NodeId k = 0; k < pass_.nodes.size(); ++k) {
    const PlanNode& node = pass_.nodes[k];
    if (node.kind != Kind::Gather || node.guard != kNone || is_walked(pass_, k)) continue;
    run_indices_[node.args[0]] = find_run_index(pass_, node.args[0]);
  }
  joined_.resize(pass_.nodes.size());
  for (NodeId k = 0; k < pass_.nodes.size(); ++k) {
    std::optional<JoinedRead> read = find_joined_read(pass_, k);
    if (!read) continue;
    std::optional<RunIndex>& index = run_indices_[read->index];
    if (!index) index = find_run_index(pass_, read->index);
    if (!index || (index->backwards && read->has_fills())) continue;
    joined_[k] = std::move(read);
  }
  for (const PlanSink& sink : pass_.sinks) {
    if (sink.kind != PlanSink::Kind::Scatter || sink.flag != kNone) continue;
    std::optional<RunIndex>& index = run_indices_[sink.index];
    index = find_run_index(pass_, sink.index);
    // Several elements might go to the one place.
    const bool several = index && (!index->choices.empty() || index->backwards ||
                                   (index->otherwise && index->from_zero));
    if (several) index.reset();
    if (index) index->otherwise.reset();
  }
}

bool BoundPass::gathers_runs(NodeId number) const {
  const PlanNode& node = pass_.nodes[number];
  return node.kind == Kind::Gather && node.guard == kNone && !is_walked(pass_, number) &&
         run_indices_[node.args[0]].has_value();
}

bool BoundPass::joins_runs(NodeId number) const {
  return joined_[number] && nodes_[number].mode == Mode::Slot && special_[number] == Special::None;
}

bool BoundPass::scatters_runs(const PlanSink& sink) const {
  if (sink.kind != PlanSink::Kind::Scatter || sink.flag != kNone) return false;
  const std::optional<RunIndex>& index = run_indices_[sink.index];
  if (!index || sink.under == kNone || sink.under == index->segdes) return index.has_value();
  return index->row_length != 0 && index->stages.empty();
}

std::uint32_t BoundPass::scatter_runs(const BoundProgram& program, const PlanSink& sink) const {
  if (!scatters_runs(sink)) return kNone;
  for (std::size_t k = 0; k < program.runs.size(); ++k) {
    const BoundRuns& runs = program.runs[k];
    const bool fits = runs.under == kNone || runs.under == sink.under;
    if (runs.index == sink.index && runs.into == sink.into && fits) {
      return static_cast<std::uint32_t>(k);
    }
  }
  return kNone;
}

WalkedNode BoundPass::walked_node(NodeId number, std::uint32_t slot) {
  const PlanNode& node = pass_.nodes[number];
  WalkedNode walked;
  walked.node = number;
  walked.slot = slot;
  walked.kind = node.kind;
  walked.type = node.type;
  if (node.kind == Kind::Gather) walked.vector = &state_.arrays[node.id];
  if (const auto shared = shared_read(pass_, number)) walked.divisor = shared->divisor;
  if (node.kind == Kind::SegmentLength || node.kind == Kind::SegmentStart) {
    walked.segments = &segments(node.id);
  }
  return walked;
}

/// Finds out which runs a program has; by_runs says whether it can do without the indices of all.
void BoundPass::bind_runs(BoundProgram& bound) {
  bound.runs.clear();
  bound.joins.clear();
  bound.run_steps = {};
  bound.rows.reset();
  bound.by_runs = false;
  bound.run_able = true;
  for (const BoundStep& step : bound.element_steps.steps) {
    if (step.kind == BoundStep::Kind::Gather && gathers_runs(step.node)) {
      bound.run_able &= add_runs(bound, step.args[0]) != kNone;
    } else if (step.kind == BoundStep::Kind::Apply && joins_runs(step.node)) {
      bound.run_able &= add_runs(bound, joined_[step.node]->index) != kNone;
    }
  }
  for (const PlanSink& sink : pass_.sinks) {
    const bool here = &bound == (is_after_scan(pass_, sink) ? &epilogue : &main);
    if (!here || !scatters_runs(sink)) continue;
    bound.run_able &= add_runs(bound, sink.index, &sink) != kNone;
  }
  find_rows(bound);
  bound.run_able &= !bound.runs.empty() || bound.row_length != 0;
  if (!bound.run_able) return;
  add_run_steps(bound);
  renew_runs(bound);
}

/// Of stages of these runs.
BoundSum BoundPass::bound_sum(const BoundRuns& runs, const RunSum& sum) {
  BoundSum bound;
  bound.step = sum.step;
  for (std::uint32_t k = sum.first; k < sum.last; ++k) {
    const BoundStage& own = runs.stages[k];
    const auto first =
        std::find_if(runs.stages.begin(), runs.stages.end(),
                     [&](const BoundStage& stage) { return stage.walked.node == own.walked.node; });
    (own.uniform ? bound.uniform : bound.others)
        .push_back({static_cast<std::uint32_t>(first - runs.stages.begin()),
                    own.kind == RunStage::Kind::Add});
  }
  return bound;
}

/// Where RowNumbers has the number of the last one of these stages, which others may share.
std::uint32_t BoundPass::row_place(const BoundProgram& bound, const BoundRuns& last,
                                   const BoundStage& added) {
  std::uint32_t next = 0, found = kNone;
  const auto visit = [&](const BoundRuns& runs) {
    for (const BoundStage& stage : runs.stages) {
      if (!stage.row || stage.row_place == kNone) continue;
      next = std::max(next, stage.row_place + 1);
      const bool same =
          stage.walked.node == added.walked.node && stage.row->segdes == added.row->segdes;
      if (same) found = stage.row_place;
    }
  };
  for (const BoundRuns& runs : bound.runs) visit(runs);
  visit(last);
  if (found != kNone) return found;
  return next < RowNumbers::kMostStages ? next : kNone;
}

std::uint32_t BoundPass::add_runs(BoundProgram& bound, NodeId index, const PlanSink* scatter) {
  const RunIndex& form = *run_indices_[index];
  const SegdesId into = scatter != nullptr ? scatter->into : kNone;
  const SegdesId under =
      scatter != nullptr && form.row_length != 0 ? scatter->under : SegdesId{kNone};
  const auto same = [&](const BoundRuns& runs) {
    return runs.index == index && runs.into == into && runs.under == under;
  };
  const auto found = std::find_if(bound.runs.begin(), bound.runs.end(), same);
  if (found != bound.runs.end()) return static_cast<std::uint32_t>(found - bound.runs.begin());
  BoundRuns runs;
  runs.index = index;
  runs.into = into;
  runs.under = under;
  runs.otherwise = form.otherwise;
  runs.from_zero = form.from_zero;
  runs.backwards = form.backwards;
  if (form.segdes != kNone && state_.segdes[form.segdes].count != 1) {
    runs.segments = &segments(form.segdes);
  }
  if (under != kNone) runs.segments = &segments(under);
  for (const RunStage& stage : form.stages) {
    BoundStage& own = runs.stages.emplace_back();
    own.kind = stage.kind;
    own.uniform = is_uniform(stage.node);
    if (!own.uniform && form.row_length != 0) {
      own.row = find_row_number(pass_, stage.node, form.row_length);
    } else if (!own.uniform && !is_walked(pass_, stage.node) && !shared_read(pass_, stage.node)) {
      own.row = find_segment_number(pass_, stage.node);
      if (!own.row) return kNone;
    }
    own.walked = walked_node(stage.node, kNone);
    if (!own.row) continue;
    own.walked.divisor = 1;  // a row finds out for itself what it may read
    own.row_place = row_place(bound, runs, own);
  }
  for (const RunChoice& choice : form.choices) {
    runs.choices.push_back({choice.op, bound_sum(runs, choice.left), bound_sum(runs, choice.right),
                            bound_sum(runs, choice.then)});
  }
  if (!form.choices.empty()) runs.rest = bound_sum(runs, form.rest);
  if (into != kNone) {
    WalkedNode walked;
    walked.type = Type::Int;
    walked.segments = &segments(into);
    walked.kind = Kind::SegmentLength;
    runs.stages.push_back({RunStage::Kind::Check, false, 0, walked});
    walked.kind = Kind::SegmentStart;
    runs.stages.push_back({RunStage::Kind::Add, false, 0, walked});
  }
  bound.runs.push_back(std::move(runs));
  return static_cast<std::uint32_t>(bound.runs.size() - 1);
}

/// The steps without those that only indices of runs need.
void BoundPass::add_run_steps(BoundProgram& bound) {
  caught_.assign(caught_.size(), false);
  for (const BoundRuns& runs : bound.runs) {
    for (const BoundStage& stage : runs.stages) {
      if (!stage.row) continue;
      for (const RowNumber::Item& item : stage.row->items) {
        if (item.kind == RowNumber::Item::Kind::Element) caught_[item.node] = true;
      }
    }
  }
  for (const BoundStep& step : bound.element_steps.steps) {
    if (step.kind != BoundStep::Kind::Apply || !joins_runs(step.node)) continue;
    for (const JoinedRead::Part& part : joined_[step.node]->parts) caught_[part.read] = true;
  }
  find_needed(*bound.program, &bound);
  auto& [steps, all_walked] = bound.run_steps;
  for (BoundStep step : bound.element_steps.steps) {
    if (step.kind == BoundStep::Kind::Walk) {
      const auto from = bound.element_steps.walked.begin();
      const auto first = static_cast<std::uint32_t>(all_walked.size());
      std::copy_if(from + step.first, from + step.last, std::back_inserter(all_walked),
                   [&](const WalkedNode& walked) { return needed_[walked.node]; });
      step.first = first;
      step.last = static_cast<std::uint32_t>(all_walked.size());
      if (step.first != step.last) steps.push_back(step);
      continue;
    }
    if (!needed_[step.node]) continue;
    if (reads_row(step.node, bound)) {
      add_row_walk(bound, step);
      continue;
    }
    if (step.kind == BoundStep::Kind::Gather && gathers_runs(step.node)) {
      step.kind = BoundStep::Kind::GatherRuns;
      step.runs = add_runs(bound, step.args[0]);
    } else if (step.kind == BoundStep::Kind::Apply && joins_runs(step.node)) {
      step.kind = BoundStep::Kind::JoinedRuns;
      step.runs = add_runs(bound, joined_[step.node]->index);
      step.join = static_cast<std::uint32_t>(bound.joins.size());
      BoundJoin& join = bound.joins.emplace_back();
      join.form = &*joined_[step.node];
      join.vectors.resize(join.form->parts.size());
      join.fills.resize(join.form->parts.size());
      join.copies.resize(join.form->parts.size());
    }
    steps.push_back(step);
  }
}

/// Where joined vectors lie. False if they cannot be moved as runs.
bool BoundPass::renew_join(BoundJoin& join) const {
  constexpr std::int64_t kUnbounded = std::int64_t{1} << 62;
  const std::vector<JoinedRead::Part>& parts = join.form->parts;
  const auto vector_of = [&](const JoinedRead::Part& part) {
    return part.fills ? nullptr : &state_.arrays[pass_.nodes[part.read].id];
  };
  const auto is_narrow = [&](const JoinedRead::Part& part) {
    const Vector* vector = vector_of(part);
    return vector != nullptr && vector->form == Form::Narrow;
  };
  const Type type = pass_.nodes[parts[0].read].type;
  join.narrow = std::any_of(parts.begin(), parts.end(), is_narrow);
  join.shift = std::countr_zero(join.narrow ? 1u : unsigned{width_of(type)});
  std::int64_t begin = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const JoinedRead::Part& part = parts[k];
    const Vector* vector = vector_of(part);
    std::int64_t end = kUnbounded;
    if (part.end != kNone) {
      if (!is_uniform(part.end)) return false;
      end = uniform_int(part.end);
      if (end < begin) return false;
    }
    std::int64_t first = 0;  // of a vector, its element for t = 0
    if (vector != nullptr) {
      const std::optional<std::int64_t> shift = sum_of(part.shifts);
      if (!shift) return false;
      first = *shift;
      const std::int64_t inside = vector->length - first;
      if (part.end == kNone) end = std::max(inside, begin);
      if (end > begin && (end > inside || begin < -first)) return false;
    }
    join.fills[k] = vector == nullptr || vector->form == Form::Constant;
    std::vector<std::byte>& copies = join.copies[k];
    const std::byte* base = nullptr;
    if (join.fills[k]) {
      if (vector == nullptr && !is_uniform(part.read)) return false;
      if (vector != nullptr && run_indices_[join.form->index]->backwards) return false;
      const std::byte* element = vector != nullptr ? vector->payload : nodes_[part.read].cell;
      const std::int64_t count = std::min({end - begin, length_, kSegmentBlock});
      if (!fill_block(type, element, count, join.narrow, copies)) return false;
      base = copies.data();
      first = 0;
    } else {
      if (join.narrow ? vector->form != Form::Narrow : !vector->is_plain()) return false;
      base = elements<std::byte>(*vector);
      if (vector->form == Form::Inline) {
        copies.resize(kInlineBytes + Heap::kPadding);
        std::memcpy(copies.data(), base, kInlineBytes);
        base = copies.data();
      }
    }
    join.vectors[k] = {end, reinterpret_cast<std::uintptr_t>(base) +
                                (static_cast<std::uintptr_t>(first) << join.shift)};
    begin = end;
  }
  join.length = begin;
  return true;
}

/// So many times the same element. False if it has to be a byte, and is none.
bool BoundPass::fill_block(Type type, const std::byte* element, std::int64_t count, bool narrow,
                           std::vector<std::byte>& out) const {
  std::byte byte{};
  if (narrow) {
    const std::int64_t value = int_at(element, 0);
    if (value < 0 || value > 255) return false;
    byte = static_cast<std::byte>(value);
    element = &byte;
    type = Type::Bool;
  }
  const auto bytes = static_cast<std::size_t>(count * width_of(type));
  out.resize(std::max(out.size(), bytes + Heap::kPadding));
  state_.cpu.kernels().fill[type_index(type)](out.data(), element, count);
  return true;
}

/// Nothing if one is not the same everywhere, or so large that sums with lengths might overflow.
std::optional<std::int64_t> BoundPass::sum_of(const std::vector<JoinedRead::Shift>& shifts) const {
  constexpr std::int64_t kLargest = std::int64_t{1} << 48;
  std::int64_t sum = 0;
  for (const JoinedRead::Shift& shift : shifts) {
    if (!is_uniform(shift.number)) return std::nullopt;
    const std::int64_t number = uniform_int(shift.number);
    if (number < -kLargest || number > kLargest) return std::nullopt;
    sum += shift.minus ? -number : number;
  }
  return sum;
}

/// The rows off which steps read something: those of runs, if there are any.
void BoundPass::find_rows(BoundProgram& bound) const {
  bound.row_length = 0;
  std::int64_t of_runs = 0;
  for (const BoundRuns& runs : bound.runs) {
    if (runs.under == kNone) of_runs = std::max(of_runs, run_indices_[runs.index]->row_length);
  }
  for (const BoundStep& step : bound.element_steps.steps) {
    if (step.kind != BoundStep::Kind::Gather && step.kind != BoundStep::Kind::Apply) continue;
    const std::int64_t length = row_length_of_read(pass_, step.node);
    if (of_runs == 0 || length == of_runs) bound.row_length = std::max(bound.row_length, length);
  }
}

/// Does a node of run_steps read something off the rows?
bool BoundPass::reads_row(NodeId number, const BoundProgram& bound) const {
  return bound.row_length != 0 && nodes_[number].mode == Mode::Slot &&
         special_[number] == Special::None && row_length_of_read(pass_, number) == bound.row_length;
}

void BoundPass::add_row_walk(BoundProgram& bound, const BoundStep& read) {
  auto& [steps, all_walked] = bound.run_steps;
  bound.rows.emplace(state_.cpu, Segdes::regular(1, bound.row_length));
  const PlanNode& node = pass_.nodes[read.node];
  WalkedNode walked;
  walked.node = read.node;
  walked.slot = read.slot;
  walked.type = node.type;
  walked.kind = node.kind == Kind::Gather         ? Kind::Gather
                : node.applies(vcode::Op::Divide) ? Kind::SegmentNumber
                                                  : Kind::SegmentOffset;
  if (node.kind == Kind::Gather) walked.vector = read.vector;
  BoundStep walk;
  walk.kind = BoundStep::Kind::Walk;
  walk.segments = &*bound.rows;
  walk.first = static_cast<std::uint32_t>(all_walked.size());
  walk.last = walk.first + 1;
  steps.push_back(walk);
  all_walked.push_back(walked);
}

/// The rows of so many elements that the pass has in this run; nothing if they do not pay, or there
/// are none.
std::optional<Segdes> BoundPass::rows_of(std::int64_t row_length) const {
  if (row_length < tuning.shortest_row || length_ % row_length != 0) return std::nullopt;
  return Segdes::regular(length_ / row_length, row_length);
}

/// False if there are no such rows in this run, or not all that is read off them.
bool BoundPass::renew_rows(BoundProgram& bound) const {
  if (!bound.rows) return true;
  const std::optional<Segdes> rows = rows_of(bound.row_length);
  if (!rows) return false;
  bound.rows.emplace(state_.cpu, *rows);
  for (const BoundStep& step : bound.run_steps.steps) {
    if (step.kind != BoundStep::Kind::Walk || step.segments != &*bound.rows) continue;
    const WalkedNode& walked = bound.run_steps.walked[step.first];
    if (walked.vector != nullptr && walked.vector->length < bound.rows->count()) return false;
  }
  return true;
}

/// The rows of a regular nest. False if there are none in this run.
bool BoundPass::bind_rows(BoundRuns& runs) {
  const std::int64_t length = run_indices_[runs.index]->row_length;
  if (length == 0) return true;
  if (runs.under != kNone) {
    const Segdes& under = state_.segdes[runs.under];
    return under.uniform && under.uniform_length == length;
  }
  const std::optional<Segdes> rows = rows_of(length);
  if (!rows) return false;
  runs.rows = std::make_shared<const Segments>(state_.cpu, *rows);
  runs.segments = runs.rows.get();
  return true;
}

/// What is computed for each row or segment. False if that cannot be done.
bool BoundPass::bind_numbers(BoundRuns& runs) const {
  for (BoundStage& stage : runs.stages) {
    if (!stage.row) continue;
    for (RowNumber::Item& item : stage.row->items) {
      if (item.kind == RowNumber::Item::Kind::Element) {
        item.vector = &state_.arrays[pass_.nodes[item.node].id];
      } else if (item.kind == RowNumber::Item::Kind::Number) {
        if (!is_uniform(item.node)) return false;
        const bool flag = pass_.nodes[item.node].type == Type::Bool;
        item.number = flag ? std::to_integer<std::int64_t>(nodes_[item.node].cell[0])
                           : uniform_int(item.node);
      }
    }
  }
  return true;
}

/// Is there what is read for each of the segments, one if there are none?
bool BoundPass::stays_inside(const WalkedNode& walked, const Segments* segments) {
  if (walked.divisor == 1) return true;
  const std::int64_t last = segments == nullptr ? 0 : segments->count() - 1;
  const std::int64_t length =
      walked.segments != nullptr ? walked.segments->count() : walked.vector->length;
  return last / walked.divisor < length;
}

/// Is a node known not to fail where the program moves runs, because renew_runs() looks at it?
bool BoundPass::is_shared_by_runs(NodeId number, const BoundProgram& bound) {
  return std::any_of(bound.runs.begin(), bound.runs.end(), [&](const BoundRuns& runs) {
    return std::any_of(runs.stages.begin(), runs.stages.end(), [&](const BoundStage& stage) {
      return stage.walked.node == number && stage.walked.divisor > 1 && !stage.uniform;
    });
  });
}

/// Are the places where segments begin the elements of a vector, but for what is the same for all?
void BoundPass::find_first_places(BoundRuns& runs) const {
  if (runs.segments == nullptr || runs.backwards || !runs.choices.empty()) return;
  const BoundStage* only = nullptr;
  runs.more = 0;
  for (const BoundStage& stage : runs.stages) {
    if (stage.kind == RunStage::Kind::Check) return;
    const bool adds = stage.kind == RunStage::Kind::Add;
    if (stage.uniform) {
      const auto sum = static_cast<std::uint64_t>(runs.more);
      const auto value = static_cast<std::uint64_t>(stage.value);
      runs.more = static_cast<std::int64_t>(adds ? sum + value : sum - value);
    } else if (only != nullptr || !adds || stage.row || stage.walked.kind != Kind::Gather ||
               stage.walked.divisor != 1 || stage.walked.vector->form != Form::Dense) {
      return;
    } else {
      only = &stage;
    }
  }
  if (only != nullptr) runs.first = elements<std::byte>(*only->walked.vector);
}

/// Adds up what is the same in all segments. False where INTs of 64 bits would wrap around.
bool BoundPass::add_up(BoundSum& sum, const std::vector<BoundStage>& stages) {
  sum.fixed = 0;
  return std::all_of(sum.uniform.begin(), sum.uniform.end(), [&](const BoundSum::Summand& own) {
    const std::int64_t value = stages[own.stage].value;
    return own.adds ? !__builtin_add_overflow(sum.fixed, value, &sum.fixed)
                    : !__builtin_sub_overflow(sum.fixed, value, &sum.fixed);
  });
}

/// What differs between runs of the kernel whose steps are the same.
void BoundPass::renew_runs(BoundProgram& bound) {
  bound.by_runs = false;
  if (!bound.run_able || !renew_rows(bound)) return;
  // Indices are INTs: what does not fit one is left to them.
  const std::int64_t most =
      wide_ ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int32_t>::max();
  for (BoundRuns& runs : bound.runs) {
    runs.limit = most;
    runs.first = nullptr;
    if (!bind_rows(runs) || !bind_numbers(runs)) return;
    for (BoundStage& stage : runs.stages) {
      if (stage.uniform) stage.value = uniform_int(stage.walked.node);
      if (!stage.uniform && !stays_inside(stage.walked, runs.segments)) return;
    }
    for (BoundChoice& choice : runs.choices) {
      for (BoundSum* sum : {&choice.left, &choice.right, &choice.then}) {
        if (!add_up(*sum, runs.stages)) return;
      }
    }
    if (!add_up(runs.rest, runs.stages)) return;
    find_first_places(runs);
    // Places that lie in a vector are listed in half of the time.
    const std::int64_t mean = !runs.choices.empty()   ? tuning.chosen_mean_length
                              : runs.first != nullptr ? tuning.runs_mean_length / 2
                                                      : tuning.runs_mean_length;
    if (runs.segments != nullptr && runs.segments->total() < mean * runs.segments->count()) return;
  }
  for (const BoundStep& step : bound.run_steps.steps) {
    if (step.kind == BoundStep::Kind::JoinedRuns) {
      BoundJoin& join = bound.joins[step.join];
      if (!renew_join(join)) return;
      // Backwards they do not pass from one vector to another.
      const bool backwards = bound.runs[step.runs].backwards;
      std::int64_t& limit = bound.runs[step.runs].limit;
      limit = std::min(limit, backwards ? join.vectors[0].end : join.length);
    }
    if (step.kind != BoundStep::Kind::GatherRuns) continue;
    if (!step.vector->is_buffered() && step.vector->form != Form::Constant) return;
    std::int64_t& limit = bound.runs[step.runs].limit;
    limit = std::min(limit, step.vector->length);
  }
  for (const PlanSink& sink : pass_.sinks) {
    const std::uint32_t number = scatter_runs(bound, sink);
    if (number == kNone) continue;
    std::int64_t& limit = bound.runs[number].limit;
    limit = std::min(limit, state_.size(sink.into_length));
  }
  bound.by_runs = true;
}

}  // namespace cvl::cpu
