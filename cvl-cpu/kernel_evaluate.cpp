#include "cvl-cpu/kernel_evaluate.hpp"

#include <cstring>
#include <type_traits>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/narrow.hpp"

namespace cvl::cpu {
namespace {

/// Kernels may write so much behind the elements of a block.
constexpr std::int64_t kSlack = 64;

std::int64_t slot_stride(std::int64_t block) {
  return block * 8 + kSlack;
}

}  // namespace

AlignedMemory aligned_memory(std::size_t bytes) {
  return AlignedMemory(static_cast<std::byte*>(operator new(bytes, std::align_val_t(64))));
}

std::byte* thread_memory(std::size_t bytes) {
  thread_local AlignedMemory memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset();
    size = 0;
    memory = aligned_memory(bytes);
    size = bytes;
  }
  return memory.get();
}

std::byte* element_zero(std::byte* memory, std::int64_t bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(memory) -
                                      static_cast<std::uintptr_t>(bytes));
}

std::size_t BlockEvaluator::memory_bytes(const BoundPass& pass, const BoundProgram& program,
                                         std::int64_t block) {
  return whole_lines(pass.plan().nodes.size() * sizeof(std::byte*)) +
         whole_lines(program.in_memory.size() * sizeof(std::byte*)) +
         whole_lines(program.targets.size() * sizeof(std::byte*)) +
         whole_lines(program.runs.size() * sizeof(RunTable)) +
         (program.slots_in_use() + 2) * static_cast<std::size_t>(slot_stride(block));
}

BlockEvaluator::BlockEvaluator(const BoundPass& pass, const BoundProgram& program,
                               std::int64_t block, std::byte* memory, std::byte* tile_memory,
                               std::int64_t begin)
    : cpu_(pass.state().cpu),
      pass_(pass),
      program_(program),
      tile_memory_(tile_memory),
      begin_(begin),
      stride_(slot_stride(block)) {
  const std::size_t nodes = pass.plan().nodes.size();
  at_ = reinterpret_cast<const std::byte**>(memory);
  memory += whole_lines(nodes * sizeof(std::byte*));
  memory_ = reinterpret_cast<const std::byte**>(memory);
  memory += whole_lines(program.in_memory.size() * sizeof(std::byte*));
  targets_ = reinterpret_cast<std::byte**>(memory);
  memory += whole_lines(program.targets.size() * sizeof(std::byte*));
  runs_ = reinterpret_cast<RunTable*>(memory);
  memory += whole_lines(program.runs.size() * sizeof(RunTable));
  positions_ = reinterpret_cast<std::uint64_t*>(memory);
  filled_ = memory + stride_;
  slots_ = filled_ + stride_;
  for (NodeId k = 0; k < nodes; ++k) at_[k] = pass.node(k).base;
  bind_again();
}

/// Lets the values of the steps lie in their slots.
void BlockEvaluator::place(const BoundSteps& steps) {
  steps_ = &steps;
  for (const BoundStep& step : steps.steps) {
    if (step.slot != kNone) at_[step.node] = slots_ + step.slot * stride_;
  }
  for (const WalkedNode& walked : steps.walked) {
    at_[walked.node] = slots_ + walked.slot * stride_;
  }
}

void BlockEvaluator::bind_again() {
  for (std::size_t k = 0; k < program_.runs.size(); ++k) {
    new (&runs_[k]) RunTable;
  }
  walked_ = nullptr;
  for (std::size_t k = 0; k < program_.in_memory.size(); ++k) {
    memory_[k] = pass_.node(program_.in_memory[k]).base;
  }
  for (std::size_t k = 0; k < program_.targets.size(); ++k) {
    const Target& target = program_.targets[k];
    targets_[k] = target.tiled ? element_zero(tile_memory_ + target.offset, begin_ * target.width)
                               : target.base;
  }
  // What was written directly last time may stay in its slot now.
  place(program_.steps_for(program_.by_runs));
}

void BlockEvaluator::set_memory(NodeId node, const std::byte* base) {
  for (std::size_t k = 0; k < program_.in_memory.size(); ++k) {
    if (program_.in_memory[k] == node) memory_[k] = base;
  }
}

void BlockEvaluator::run(std::int64_t begin, std::int64_t n) {
  // Apart: to copy one to the other waits until all that was stored before is in memory.
  located_ = {};
  inside_ = {};
  for (std::size_t k = 0; k < program_.in_memory.size(); ++k) {
    const NodeId node = program_.in_memory[k];
    at_[node] = memory_[k] + begin * pass_.node(node).width;
  }
  by_runs_ = program_.by_runs && find_all_runs(begin, n);
  const BoundSteps& list = program_.steps_for(by_runs_);
  if (&list != steps_) place(list);
  for (const BoundStep *step = list.steps.data(), *end = step + list.steps.size(); step != end;
       ++step) {
    if (step->kind == BoundStep::Kind::Native) {
      run_native(step, begin, n);
      step += step->covered;
    } else if (!step->left_out) {
      run_step(*step, begin, 0, n);
    }
  }
  for (std::size_t k = 0; k < program_.targets.size(); ++k) {
    const Target& target = program_.targets[k];
    if (!target.direct && writes(target))
      write_target(target, targets_[k] + begin * target.width, n);
  }
}

/// Where the values of a step go in a block.
std::byte* BlockEvaluator::result_of(const BoundStep& step, std::int64_t begin) {
  if (step.target == kNone || !writes(program_.targets[step.target])) {
    return slots_ + step.slot * stride_;
  }
  std::byte* result = targets_[step.target] + begin * step.width;
  at_[step.node] = result;
  return result;
}

/// Runs a loop as far as it goes, and then the steps that it stands for.
void BlockEvaluator::run_native(const BoundStep* native, std::int64_t begin, std::int64_t n) {
  const BoundStep* covered = native + 1;
  const BoundStep* end = covered + native->covered;
  for (const BoundStep* step = covered; step != end; ++step) result_of(*step, begin);
  std::int64_t first = native->code->reach(at_, n);
  if (first > 0 && native->code->run(at_, begin, first)) first = 0;
  if (first == n) return;
  for (const BoundStep* step = covered; step != end; ++step) run_step(*step, begin, first, n);
}

/// Computes elements [first, n) of a block; `first` is 0 for kinds of which there are no loops.
void BlockEvaluator::run_step(const BoundStep& step, std::int64_t begin, std::int64_t first,
                              std::int64_t n) {
  std::byte* out = result_of(step, begin) + first * step.width;
  switch (step.kind) {
    case BoundStep::Kind::Apply:
      if (step.kernel(out, operand(step.args[0], first), operand(step.args[1], first),
                      operand(step.args[2], first), n - first)) {
        note_division(step, begin, first, n);
      }
      break;
    case BoundStep::Kind::Copy:
      std::memcpy(out, operand(step.args[0], first),
                  static_cast<std::size_t>((n - first) * step.width));
      break;
    case BoundStep::Kind::Progression:
      cpu_.kernels().progression(out, step.start, step.stride, begin + first, n - first);
      break;
    case BoundStep::Kind::Widen:
      widen(out, pass_.node(step.node).base + begin + first, n - first);
      break;
    case BoundStep::Kind::CompareBytes: {
      const bool number_first = pass_.is_uniform(step.args[0]);
      const BoundNode& text = pass_.node(step.args[number_first ? 1 : 0]);
      compare_bytes(cpu_, pass_.plan().nodes[step.node].op, number_first,
                    int_at(step.args[number_first ? 0 : 1], 0), text.base + begin + first, out,
                    n - first);
      break;
    }
    case BoundStep::Kind::Random:
      draw(step, out, begin, n);
      break;
    case BoundStep::Kind::Walk:
      walk(step, begin, n);
      break;
    case BoundStep::Kind::Gather:
      fetch(step, *step.vector, out, begin, n);
      break;
    case BoundStep::Kind::GatherRuns:
      gather_runs(step, out, n);
      break;
    case BoundStep::Kind::JoinedRuns:
      join_runs(step, out, n);
      break;
    case BoundStep::Kind::Find:
    case BoundStep::Kind::Property:
      look_up(step, out, begin, n);
      break;
    case BoundStep::Kind::FailIf:
      fail_if(step, begin, n);
      break;
    case BoundStep::Kind::Native:
      break;  // see run_native()
  }
}

const std::byte* BlockEvaluator::filled(NodeId node, std::int64_t n) {
  if (!pass_.is_uniform(node)) return at_[node];
  const Type type = pass_.plan().nodes[node].type;
  cpu_.kernels().fill[type_index(type)](filled_, at_[node], n);
  return filled_;
}

void BlockEvaluator::widen(std::byte* out, const std::byte* bytes, std::int64_t n) const {
  cpu_.kernels().widen(out, reinterpret_cast<const std::uint8_t*>(bytes), n);
}

void BlockEvaluator::narrow(std::byte* bytes, NodeId node, std::int64_t n) {
  cpu_.kernels().narrow(reinterpret_cast<std::uint8_t*>(bytes), filled(node, n), n);
}

void BlockEvaluator::write_target(const Target& target, std::byte* out, std::int64_t n) {
  const std::int64_t bytes = n * target.width;
  if (target.narrow) {
    narrow(out, target.node, n);
  } else if (target.streamed) {
    cpu_.kernels().stream(out, filled(target.node, n), bytes);
  } else if (pass_.is_uniform(target.node)) {
    const Type type = pass_.plan().nodes[target.node].type;
    cpu_.kernels().fill[type_index(type)](out, at_[target.node], n);
  } else {
    std::memcpy(out, at_[target.node], static_cast<std::size_t>(bytes));
  }
}

// --- Segments ---

/// Blocks follow each other, and most begin in the segment that the last one ended in.
void BlockEvaluator::walk(const BoundStep& step, std::int64_t begin, std::int64_t n) {
  const bool known = walked_ == step.segments && place_.start <= begin && begin < place_.end;
  if (!known) place_ = step.segments->place_of(begin);
  walked_ = step.segments;
  step.segments->for_blocks(place_, begin, begin + n, [&](const SegmentBlock& block) {
    const WalkedNode* walked = steps_->walked.data();
    walk_block(walked + step.first, walked + step.last, block, begin);
    const std::int64_t last = block.count - 1;
    place_ = {block.first + last, block.starts[last], block.starts[last + 1]};
  });
}

void BlockEvaluator::walk_block(const WalkedNode* first, const WalkedNode* last,
                                const SegmentBlock& block, std::int64_t begin) {
  alignas(64) std::int64_t values[kSegmentBlock + 8];
  alignas(64) std::int64_t steps[kSegmentBlock + 8];
  // Expansion writes up to 64 bytes too many: slots have room for that behind the last piece of a
  // block, and earlier pieces are followed by the next.
  const auto& kernels = cpu_.kernels();
  for (const WalkedNode* node = first; node != last; ++node) {
    const WalkedNode& walked = *node;
    const std::int64_t width = static_cast<std::int64_t>(cpu_.element_bytes(walked.type));
    std::byte* out = slots_ + walked.slot * stride_ + (block.begin - begin) * width;
    if (walked.kind == PlanNode::Kind::SegmentOffset) {
      kernels.progression(values, 0, 0, 0, block.count);
      kernels.progression(steps, 1, 0, 0, block.count);
      kernels.expand_progressions(out, values, steps, block.starts, block.count, block.begin,
                                  block.end);
      continue;
    }
    const std::byte* from = segment_values(cpu_, walked, block.first, block.count, values);
    kernels.expand[type_index(walked.type)](out, from, block.starts, block.count, block.begin,
                                            block.end);
  }
}

namespace {

/// Puts value(0) ... value(n - 1) there, as INTs of so many bytes.
template <class Value>
void put_ints(std::byte* out, std::size_t width, std::int64_t n, const Value& value) {
  const auto put = [&](auto* to) {
    for (std::int64_t i = 0; i < n; ++i) {
      to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(value(i));
    }
  };
  if (width == sizeof(std::int64_t)) return put(reinterpret_cast<std::int64_t*>(out));
  put(reinterpret_cast<std::int32_t*>(out));
}

}  // namespace

void BlockEvaluator::look_up(const BoundStep& step, std::byte* out, std::int64_t begin,
                             std::int64_t n) {
  const PlanNode::Kind kind = pass_.plan().nodes[step.node].kind;
  const Segdes& segdes = pass_.state().segdes[pass_.plan().nodes[step.node].id];
  if (kind == PlanNode::Kind::SegmentLength && !segdes.uniform) {
    fetch(step, segdes.tables->lengths, out, begin, n);
    return;
  }
  const Segments& segments = *step.segments;
  const std::int64_t limit =
      kind == PlanNode::Kind::FindSegment ? segments.total() : segments.count();
  if (kind != PlanNode::Kind::FindSegment && begin + n <= limit &&
      pass_.plan().nodes[step.args[0]].kind == PlanNode::Kind::Position) {
    StartsBuffer<kSegmentBlock> buffer;
    const std::int64_t* starts = segments.starts(begin, n, buffer);
    const bool lengths = kind == PlanNode::Kind::SegmentLength;
    put_ints(out, step.width, n,
             [&](std::int64_t i) { return lengths ? starts[i + 1] - starts[i] : starts[i]; });
    return;
  }
  // Segments of which no lengths are stored have the same: only whether they exist has to be looked
  // at.
  if (kind == PlanNode::Kind::SegmentLength && step.guard == kNone &&
      !pass_.is_uniform(step.args[0]) &&
      cpu_.kernels().indices_below(at_[step.args[0]], n, limit)) {
    put_ints(out, step.width, n, [length = segments.length(0)](std::int64_t) { return length; });
    return;
  }
  // Neighbours often ask for the same segment.
  std::int64_t last_index = -1, found = 0;
  Segments::Place place{0, 0, 0};
  put_ints(out, step.width, n, [&](std::int64_t i) -> std::int64_t {
    if (!wanted(step.guard, i)) return 0;
    const std::int64_t index = int_at(step.args[0], i);
    if (index < 0 || index >= limit) {
      pass_.note(step.node, begin + i, index, limit);
      return 0;
    }
    if (kind == PlanNode::Kind::FindSegment) {
      if (index < place.start || index >= place.end) place = segments.place_of(index);
      return place.segment;
    }
    if (index != last_index) {
      found =
          kind == PlanNode::Kind::SegmentLength ? segments.length(index) : segments.start(index);
      last_index = index;
    }
    return found;
  });
}

// --- Random numbers ---

/// What bounds below 1 give is nowhere used: they are looked at by an assertion.
void BlockEvaluator::draw(const BoundStep& step, std::byte* out, std::int64_t begin,
                          std::int64_t n) {
  const std::byte* bounds = at_[step.args[0]];
  const std::uint64_t key = pass_.state().random.key;
  const std::uint64_t counter =
      pass_.stream_at(pass_.plan().nodes[step.node].id) + static_cast<std::uint64_t>(begin);
  if (pass_.is_uniform(step.args[0])) {
    cpu_.kernels().draw_below(out, bounds, n, key, counter);
  } else if (!cpu_.kernels().draw(out, bounds, n, key, counter)) {
    std::memset(out, 0, static_cast<std::size_t>(n * step.width));
  }
}

// --- Gathers and failures ---

bool BlockEvaluator::find_all_runs(std::int64_t begin, std::int64_t n) {
  for (std::size_t k = 0; k < program_.runs.size(); ++k) {
    if (!find_runs(cpu_, program_.runs[k], begin, n, runs_[k])) return false;
  }
  return true;
}

void BlockEvaluator::fetch(const BoundStep& step, const Vector& vector, std::byte* out,
                           std::int64_t begin, std::int64_t n) {
  const auto* flags =
      step.guard == kNone ? nullptr : reinterpret_cast<const std::uint8_t*>(at_[step.guard]);
  // The columns of a table are gathered one after the other: their indices are looked at once.
  const Located located{step.args[0], vector.length};
  const std::byte* indices = at_[step.args[0]];
  if (flags == nullptr &&
      (inside_ == located || cpu_.kernels().indices_below(indices, n, vector.length))) {
    inside_ = located;
    if (Source(cpu_, vector).fetch_by_index(out, indices, n)) return;
  }
  if (flags != nullptr || located_ != located) {
    const bool fails =
        cpu_.kernels().locate_in_one(positions_, indices, flags, 0, vector.length, n, 0);
    if (fails) pass_.note_index(step.node, indices, flags, begin, n, vector.length);
    // The next gather has to find its own failure, and flags let positions change.
    located_ = fails || flags != nullptr ? Located{} : located;
  }
  if (vector.length == 0) {
    std::memset(out, 0, static_cast<std::size_t>(n * step.width));
  } else {
    Source(cpu_, vector).fetch(out, positions_, flags, n);
  }
}

/// One run, which most blocks of long segments are, is read where it lies.
void BlockEvaluator::gather_runs(const BoundStep& step, std::byte* out, std::int64_t n) {
  const RunTable& runs = runs_[step.runs];
  const Vector& vector = *step.vector;
  const std::byte* const from = elements<std::byte>(vector);
  at_[step.node] = out;
  if (vector.form == Form::Constant) {
    cpu_.kernels().fill[type_index(vector.type)](out, from, n);
    return;
  }
  const bool narrow = vector.form == Form::Narrow;
  const std::int64_t width = narrow ? 1 : step.width;
  const BoundRuns& bound = program_.runs[step.runs];
  if (runs.before + runs.behind == 0 && !bound.backwards) {
    if (runs.count == 1 && step.target == kNone && !narrow) {
      at_[step.node] = from + runs.positions[0] * width;
      return;
    }
    move_runs(vector.type, out, n, narrow, [&](Type type, std::byte* to) {
      cpu_.kernels().gather_runs[type_index(type)](to, from, runs.positions, runs.ends, runs.count);
    });
    return;
  }
  std::uintptr_t places[kSegmentBlock];
  for (std::int64_t k = 0; k < runs.count; ++k) {
    places[k] = reinterpret_cast<std::uintptr_t>(from + runs.positions[k] * width);
  }
  const std::byte* const otherwise = bound.otherwise ? from + *bound.otherwise * width : nullptr;
  move_runs(vector.type, out, n, narrow, [&](Type type, std::byte* to) {
    copy_bordered(bound, runs, {runs.count, runs.ends, places}, otherwise, type, to);
  });
}

/// Runs of joined vectors. One run is read where it lies.
void BlockEvaluator::join_runs(const BoundStep& step, std::byte* out, std::int64_t n) {
  const BoundJoin& join = program_.joins[step.join];
  const BoundRuns& bound = program_.runs[step.runs];
  const RunTable& table = runs_[step.runs];
  PlacedRuns runs;
  if (table.count > 0) place_runs(cpu_, join, table, runs);
  at_[step.node] = out;
  const Type all = pass_.plan().nodes[step.node].type;
  if (table.before + table.behind == 0 && !bound.backwards) {
    if (runs.count == 1 && step.target == kNone && !join.narrow) {
      at_[step.node] = reinterpret_cast<const std::byte*>(runs.places[0]);
      return;
    }
    move_runs(all, out, n, join.narrow, [&](Type type, std::byte* to) {
      cpu_.kernels().copy_runs[type_index(type)](to, runs.places, runs.ends, runs.count);
    });
    return;
  }
  const std::byte* const otherwise = bound.otherwise ? place_of(join, *bound.otherwise) : nullptr;
  move_runs(all, out, n, join.narrow, [&](Type type, std::byte* to) {
    copy_bordered(bound, table, {runs.count, runs.ends, runs.places}, otherwise, type, to);
  });
}

/// Calls move(type, to) where the elements go, or, if they are bytes, where these do, which are
/// made INTs then.
template <class Move>
void BlockEvaluator::move_runs(Type type, std::byte* out, std::int64_t n, bool narrow,
                               const Move& move) const {
  if (!narrow) return move(type, out);
  alignas(64) std::byte bytes[kSegmentBlock + Heap::kPadding];
  move(Type::Bool, bytes);
  widen(out, bytes, n);
}

/// Runs, and what is before and behind them. What one writes too much the next one overwrites.
void BlockEvaluator::copy_bordered(const BoundRuns& bound, const RunTable& table,
                                   const RunPlaces& runs, const std::byte* otherwise, Type type,
                                   std::byte* out) const {
  const auto& kernels = cpu_.kernels();
  const std::size_t index = type_index(type);
  const auto width = static_cast<std::int64_t>(cpu_.element_bytes(type));
  if (table.before > 0) kernels.fill[index](out, otherwise, table.before);
  out += table.before * width;
  if (runs.count > 0) {
    const auto copy = bound.backwards ? kernels.copy_backwards[index] : kernels.copy_runs[index];
    copy(out, runs.places, runs.ends, runs.count);
    out += runs.ends[runs.count - 1] * width;
  }
  if (table.behind > 0) kernels.fill[index](out, otherwise, table.behind);
}

void BlockEvaluator::fail_if(const BoundStep& step, std::int64_t begin, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (!wanted(step.guard, i)) continue;
    const PlanNode& node = pass_.plan().nodes[step.node];
    const bool indexed = node.kind != PlanNode::Kind::Apply;
    const KernelState& state = pass_.state();
    const std::int64_t limit = node.kind == PlanNode::Kind::Gather ? state.arrays[node.id].length
                               : node.kind == PlanNode::Kind::FindSegment
                                   ? state.segdes[node.id].total
                               : indexed ? state.segdes[node.id].count
                                         : 0;
    pass_.note(step.node, begin + i, indexed ? int_at(node.args[0], 0) : 0, limit);
    return;
  }
}

void BlockEvaluator::note_division(const BoundStep& step, std::int64_t begin, std::int64_t first,
                                   std::int64_t n) {
  for (std::int64_t i = first; i < n; ++i) {
    if (!wanted(step.guard, i) || int_at(step.args[1], i) != 0) continue;
    pass_.note(step.node, begin + i, 0, 0);
    return;
  }
}

}  // namespace cvl::cpu
