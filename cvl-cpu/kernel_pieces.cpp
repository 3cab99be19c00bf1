#include "cvl-cpu/kernel_pieces.hpp"

#include <algorithm>

#include "cvl-cpu/kernel_native.hpp"

namespace cvl::cpu {

bool KernelPieces::open(const std::vector<KernelReduction*>& reductions, const Segments& segments) {
  segments_ = &segments;
  BoundProgram& program = pass_.main;
  if (program.runs.size() > kMostRuns || program.usual().walked.size() > kMostWalked) return false;
  if (segments.total() / tuning.runs_block < segments.count()) return false;
  folds_.clear();
  disjunctions_.clear();
  PieceResults wanted;
  for (KernelReduction* reduction : reductions) {
    const Segments* own = reduction->folded();
    if (own != nullptr && own->are_those_of(segments) && reduction->type() != Type::Bool &&
        !reduction->folds_rows()) {
      folds_.push_back(reduction);
      wanted.numbers.push_back({reduction->value(), reduction->op()});
    } else if (reduction->asks_for_any()) {
      disjunctions_.push_back(reduction);
      wanted.flags.push_back(reduction->value());
    } else {
      return false;
    }
  }
  if (!find_stored() || folds_.size() + stored_.size() == 0) return false;
  for (const Stored& stored : stored_) wanted.stored.push_back(stored.node);
  const auto are_there = [&](const BoundRuns& runs) {
    return runs.segments != nullptr && runs.segments->are_those_of(segments);
  };
  const std::vector<BoundStep>& steps = program.usual().steps;
  const auto walks_there = [&](const BoundStep& step) {
    return step.kind != BoundStep::Kind::Walk || step.segments->are_those_of(segments);
  };
  return wanted.count() <= kMostResults &&
         (!program.by_runs || std::all_of(program.runs.begin(), program.runs.end(), are_there)) &&
         std::all_of(steps.begin(), steps.end(), walks_there) && find_reads() &&
         renew_native_pieces(pass_, program, wanted);
}

/// False if some cannot be stored piece by piece.
bool KernelPieces::find_stored() {
  stored_.clear();
  overwrites_ = false;
  for (const Target& target : pass_.main.targets) {
    if (target.tiled) continue;
    if (target.narrow || target.streamed || (target.overwrites && divides())) return false;
    overwrites_ |= target.overwrites;
    stored_.push_back({target.node, target.base, target.width});
  }
  return true;
}

/// May a division fail? Then the tile is evaluated from the operands.
bool KernelPieces::divides() const {
  const std::vector<BoundStep>& steps = pass_.main.usual().steps;
  return std::any_of(steps.begin(), steps.end(), [&](const BoundStep& step) {
    return step.kind == BoundStep::Kind::Apply && divides_ints(pass_.plan().nodes[step.node]);
  });
}

bool KernelPieces::find_reads() {
  reads_.clear();
  for (const NodeId node : pass_.main.in_memory) {
    reads_.push_back({node, kNone, pass_.node(node).base, pass_.node(node).width});
  }
  for (const BoundStep& step : pass_.main.usual().steps) {
    if (step.kind != BoundStep::Kind::GatherRuns) continue;
    if (step.vector->form != Form::Dense) return false;
    reads_.push_back({step.node, step.runs, elements<std::byte>(*step.vector), step.width});
  }
  return true;
}

/// The segments from `first` on that have elements in the tile, as many as a table takes.
SegmentBlock KernelPieces::next_block(std::int64_t first, const KernelTile& tile,
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

bool KernelPieces::find_runs(const SegmentBlock& block, Table& table) const {
  const BoundProgram& program = pass_.main;
  for (std::size_t k = 0; program.by_runs && k < program.runs.size(); ++k) {
    if (!find_run_positions(pass_.state().cpu, program.runs[k], block, table.positions[k])) {
      return false;
    }
  }
  return true;
}

void KernelPieces::find_walked(const SegmentBlock& block, Table& table) const {
  CpuBackend& cpu = pass_.state().cpu;
  const BoundProgram& program = pass_.main;
  for (std::size_t k = 0; k < program.usual().walked.size(); ++k) {
    const WalkedNode& walked = program.usual().walked[k];
    if (walked.kind == PlanNode::Kind::SegmentOffset) continue;
    table.walked[k] = segment_values(cpu, walked, block.first, block.count, table.values[k]);
  }
}

/// Are the runs of all segments of the tile known?
bool KernelPieces::has_all_runs(std::int64_t first, const KernelTile& tile, Table& table) const {
  for (SegmentBlock block{}; block.end < tile.end; first += block.count) {
    block = next_block(first, tile, table);
    if (!find_runs(block, table)) return false;
  }
  return true;
}

bool KernelPieces::run(const KernelTile& tile,
                       const std::function<void(std::int64_t, std::int64_t)>& evaluate) const {
  const std::vector<WalkedNode>& walked = pass_.main.usual().walked;
  const NativeCode& code = *pass_.main.native.pieces;
  const std::size_t nodes = pass_.plan().nodes.size();
  Table table;
  alignas(64) std::byte states[kMostResults][kReductionStateBytes];
  std::vector<const std::byte*> at(nodes + kMostResults);
  for (NodeId node = 0; node < nodes; ++node) at[node] = pass_.node(node).base;
  for (std::size_t k = 0; k < kMostResults; ++k) at[nodes + k] = states[k];
  std::int64_t first = segments_->first_from(tile.begin);
  if (first == segments_->count() || segments_->start(first) > tile.begin) --first;
  const std::int64_t behind = segments_->first_from(tile.end);
  if (overwrites_ && !has_all_runs(first, tile, table)) return false;
  for (KernelReduction* fold : folds_) fold->begin_pieces(first, behind);
  const std::int64_t shortest = folds_.empty() ? 1 : kLongPiece;
  std::int64_t done = tile.begin;  // what lies before has been evaluated
  for (SegmentBlock block{}; block.end < tile.end; first += block.count) {
    block = next_block(first, tile, table);
    if (!find_runs(block, table)) return false;
    find_walked(block, table);
    for (std::int64_t s = 0; s < block.count; ++s) {
      const std::int64_t begin = std::max(block.starts[s], tile.begin);
      const std::int64_t n = std::min(block.starts[s + 1], tile.end) - begin;
      if (n == 0) {
        for (KernelReduction* fold : folds_) fold->put_empty(first + s);
      }
      if (n < shortest) continue;
      if (done < begin) evaluate(done, begin);
      done = begin + n;
      for (const Read& read : reads_) {
        std::int64_t position = begin;
        if (read.runs != kNone) {
          position = table.positions[read.runs][s];
          if (pass_.main.runs[read.runs].backwards) position += n - 1;
        }
        at[read.node] = read.base + position * read.width;
      }
      for (std::size_t k = 0; k < stored_.size(); ++k) {
        at[nodes + folds_.size() + disjunctions_.size() + k] =
            stored_[k].base + begin * stored_[k].width;
      }
      // Machine code of processors that have low bytes first: an INT of any width begins here.
      const std::int64_t offset = begin - block.starts[s];
      for (std::size_t k = 0; k < walked.size(); ++k) {
        const bool counts = walked[k].kind == PlanNode::Kind::SegmentOffset;
        at[walked[k].node] = counts ? reinterpret_cast<const std::byte*>(&offset)
                                    : table.walked[k] + s * pass_.node(walked[k].node).width;
      }
      if (code.run_piece(at.data(), n)) return false;
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
