#include "cvl-cpu/kernel_folds.hpp"

#include <algorithm>

#include "cvl-cpu/kernel_native.hpp"

namespace cvl::cpu {

bool KernelFolds::open(const std::vector<KernelReduction*>& reductions, const Segments& segments) {
  segments_ = &segments;
  BoundProgram& program = pass_.main;
  if (reductions.size() > kMostResults || program.runs.size() > kMostRuns ||
      program.run_steps.walked.size() > kMostWalked) {
    return false;
  }
  if (segments.total() / tuning.runs_block < segments.count()) return false;
  folds_.clear();
  disjunctions_.clear();
  std::vector<NodeFold> numbers;
  std::vector<NodeId> flags;
  for (KernelReduction* reduction : reductions) {
    const Segments* own = reduction->folded();
    if (own != nullptr && own->are_those_of(segments) && reduction->type() != Type::Bool &&
        !reduction->folds_rows()) {
      folds_.push_back(reduction);
      numbers.push_back({reduction->value(), reduction->op()});
    } else if (reduction->asks_for_any()) {
      disjunctions_.push_back(reduction);
      flags.push_back(reduction->value());
    } else {
      return false;
    }
  }
  const auto are_there = [&](const BoundRuns& runs) {
    return runs.segments != nullptr && runs.segments->are_those_of(segments);
  };
  const std::vector<BoundStep>& steps = program.run_steps.steps;
  const auto walks_there = [&](const BoundStep& step) {
    return step.kind != BoundStep::Kind::Walk || step.segments->are_those_of(segments);
  };
  return !folds_.empty() && std::all_of(program.runs.begin(), program.runs.end(), are_there) &&
         std::all_of(steps.begin(), steps.end(), walks_there) &&
         std::all_of(program.targets.begin(), program.targets.end(),
                     [](const Target& target) { return target.tiled; }) &&
         find_reads() && renew_native_folds(pass_, program, numbers, flags);
}

bool KernelFolds::find_reads() {
  reads_.clear();
  for (const NodeId node : pass_.main.in_memory) {
    reads_.push_back({node, kNone, pass_.node(node).base, pass_.node(node).width});
  }
  for (const BoundStep& step : pass_.main.run_steps.steps) {
    if (step.kind != BoundStep::Kind::GatherRuns) continue;
    if (step.vector->form != Form::Dense) return false;
    reads_.push_back({step.node, step.runs, elements<std::byte>(*step.vector), step.width});
  }
  return true;
}

/// The segments from `first` on that have elements in the tile, as many as a table takes.
SegmentBlock KernelFolds::next_block(std::int64_t first, const KernelTile& tile,
                                     Table& table) const {
  SegmentBlock block{};
  block.first = first;
  block.count = std::min(kTogether, segments_->count() - first);
  block.starts = segments_->starts(first, block.count, table.room);
  if (block.starts[block.count] >= tile.end) {  // empty ones at its end belong to the next tile
    block.count = segment_containing(block.starts, block.count, tile.end - 1) + 1;
  }
  block.begin = std::max(block.starts[0], tile.begin);
  block.end = std::min(block.starts[block.count], tile.end);
  return block;
}

bool KernelFolds::fill(const SegmentBlock& block, Table& table) const {
  CpuBackend& cpu = pass_.state().cpu;
  const BoundProgram& program = pass_.main;
  for (std::size_t k = 0; k < program.runs.size(); ++k) {
    if (!find_run_positions(cpu, program.runs[k], block, table.positions[k])) return false;
  }
  for (std::size_t k = 0; k < program.run_steps.walked.size(); ++k) {
    table.walked[k] =
        segment_values(cpu, program.run_steps.walked[k], block.first, block.count, table.values[k]);
  }
  return true;
}

bool KernelFolds::run(const KernelTile& tile,
                      const std::function<void(std::int64_t, std::int64_t)>& evaluate) const {
  const std::vector<WalkedNode>& walked = pass_.main.run_steps.walked;
  const NativeCode& code = *pass_.main.native.folds;
  const std::size_t nodes = pass_.plan().nodes.size();
  Table table;
  alignas(64) std::byte states[kMostResults][kReductionStateBytes];
  std::vector<const std::byte*> at(nodes + kMostResults);
  for (NodeId node = 0; node < nodes; ++node) at[node] = pass_.node(node).base;
  for (std::size_t k = 0; k < kMostResults; ++k) at[nodes + k] = states[k];
  std::int64_t first = segments_->first_from(tile.begin);
  if (first == segments_->count() || segments_->start(first) > tile.begin) --first;
  const std::int64_t behind = segments_->first_from(tile.end);
  for (KernelReduction* fold : folds_) fold->begin_pieces(first, behind);
  std::int64_t done = tile.begin;  // what lies before is reduced
  for (SegmentBlock block{}; block.end < tile.end; first += block.count) {
    block = next_block(first, tile, table);
    if (!fill(block, table)) return false;
    for (std::int64_t s = 0; s < block.count; ++s) {
      const std::int64_t begin = std::max(block.starts[s], tile.begin);
      const std::int64_t n = std::min(block.starts[s + 1], tile.end) - begin;
      if (n == 0) {
        for (KernelReduction* fold : folds_) fold->put_empty(first + s);
      }
      if (n < kLongPiece) continue;
      if (done < begin) evaluate(done, begin);
      done = begin + n;
      for (const Read& read : reads_) {
        const std::int64_t position = read.runs == kNone ? begin : table.positions[read.runs][s];
        at[read.node] = read.base + position * read.width;
      }
      for (std::size_t k = 0; k < walked.size(); ++k) {
        at[walked[k].node] = table.walked[k] + s * pass_.node(walked[k].node).width;
      }
      if (code.run_folds(at.data(), n)) return false;
      for (std::size_t k = 0; k < folds_.size(); ++k) {
        folds_[k]->put_piece(tile, first + s, block.starts[s] < tile.begin, states[k]);
      }
      for (std::size_t k = 0; k < disjunctions_.size(); ++k) {
        if (states[folds_.size() + k][0] != std::byte{0}) disjunctions_[k]->put_any(tile);
      }
    }
  }
  if (done < tile.end) evaluate(done, tile.end);
  return true;
}

}  // namespace cvl::cpu
