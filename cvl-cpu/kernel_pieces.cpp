#include "cvl-cpu/kernel_pieces.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/container/small_vector.hpp>

#include "cvl-cpu/kernel_native.hpp"

namespace cvl::cpu {
bool KernelPieces::open(const std::vector<KernelReduction*>& reductions, const Segments& segments) {
  segments_ = &segments;
  BoundProgram& program = pass_.main;
  if (program.runs.size() > kMostRuns || program.usual().walked.size() > kMostWalked) return false;
  rows_ = std::any_of(reductions.begin(), reductions.end(), [](const KernelReduction* reduction) {
    return reduction->folded() != nullptr && reduction->folds_rows();
  });
  const std::int64_t least = rows_ ? tuning.rows_side_by_side : tuning.pieces_mean_length;
  if (segments.total() / least < segments.count()) return false;
  if (rows_ && segments.count() < kRowsTogether) return false;
  folds_.clear();
  disjunctions_.clear();
  PieceResults& wanted = wanted_;
  wanted.clear();
  wanted.side_by_side = rows_;
  for (KernelReduction* reduction : reductions) {
    const Segments* own = reduction->folded();
    if (own != nullptr && own->are_those_of(segments) && reduction->type() != Type::Bool &&
        reduction->folds_rows() == rows_) {
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
  if (rows_ && !stored_.empty()) return false;
  for (const Stored& stored : stored_) wanted.stored.push_back(stored.node);
  // FLOATs of short pieces meet in an order of their own (segmented_reduce.cpp).
  const bool floats = std::any_of(folds_.begin(), folds_.end(), [](const KernelReduction* fold) {
    return fold->type() == Type::Float;
  });
  shortest_ = floats ? kLongPiece : 1;
  cut_ = must_cut();
  if (cut_ && !folds_.empty()) return false;
  const auto are_there = [&](const BoundRuns& runs) {
    return runs.segments == nullptr || runs.segments->are_those_of(segments);
  };
  const std::vector<BoundStep>& steps = program.usual().steps;
  const auto walks_there = [&](const BoundStep& step) {
    return step.kind != BoundStep::Kind::Walk || step.segments->are_those_of(segments);
  };
  const bool can =
      wanted.count() <= kMostResults &&
      (!program.by_runs || std::all_of(program.runs.begin(), program.runs.end(), are_there)) &&
      std::all_of(steps.begin(), steps.end(), walks_there) && find_reads() &&
      renew_native_pieces(pass_, program, wanted);
  if (can) find_places();
  return can;
}

/// False if some cannot be stored piece by piece.
bool KernelPieces::find_stored() {
  stored_.clear();
  overwrites_ = false;
  for (const Target& target : pass_.main.targets) {
    if (target.tiled) continue;
    if (target.narrow || target.streamed || (target.overwrites && divides())) return false;
    overwrites_ |= target.overwrites;
    stored_.push_back({target.node, target.base, target.width, 0});
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

/// Is there something that may be read from several places in one segment, or that is one run for
/// all segments?
bool KernelPieces::must_cut() const {
  const BoundProgram& program = pass_.main;
  return program.by_runs &&
         (!program.joins.empty() ||
          std::any_of(program.runs.begin(), program.runs.end(), [](const BoundRuns& runs) {
            return runs.otherwise.has_value() || !runs.choices.empty() || runs.segments == nullptr;
          }));
}

bool KernelPieces::find_reads() {
  using Kind = BoundStep::Kind;
  const BoundProgram& program = pass_.main;
  reads_.clear();
  for (const NodeId node : program.in_memory) {
    reads_.push_back({node, kNone, pass_.node(node).base, pass_.node(node).width, 0});
  }
  spanned_.clear();
  for (const BoundStep& step : program.usual().steps) {
    if (step.kind != Kind::GatherRuns && step.kind != Kind::JoinedRuns) continue;
    if (cut_) {
      const auto read = spanned_read(program, step, pass_.plan().nodes[step.node].type);
      if (!read || spanned_.size() == kMostRuns) return false;
      spanned_.push_back(*read);
    } else {
      if (step.vector->form != Form::Dense) return false;
      reads_.push_back({step.node, step.runs, elements<std::byte>(*step.vector), step.width, 0});
    }
  }
  return true;
}

void KernelPieces::find_places() {
  const PiecePlaces& places = pass_.main.pieces.places;
  for (Read& read : reads_) read.place = places.nodes[read.node];
  std::erase_if(reads_, [](const Read& read) { return read.place == kNone; });
  for (SpannedRead& read : spanned_) read.place = places.nodes[read.node];
  std::erase_if(spanned_, [](const SpannedRead& read) { return read.place == kNone; });
  const std::vector<WalkedNode>& walked = pass_.main.usual().walked;
  walked_.clear();
  counted_.clear();
  for (std::uint32_t k = 0; k < walked.size(); ++k) {
    const std::uint32_t place = places.nodes[walked[k].node];
    if (place == kNone) continue;
    if (walked[k].kind == PlanNode::Kind::SegmentOffset) {
      counted_.push_back({true, 0, 1, place});
    } else {
      walked_.push_back({k, pass_.node(walked[k].node).width, place});
    }
  }
  for (const BoundStep& step : pass_.main.usual().steps) {
    if (step.kind != BoundStep::Kind::Progression || places.nodes[step.node] == kNone) continue;
    counted_.push_back({false, step.start, step.stride, places.nodes[step.node]});
  }
  for (std::size_t k = 0; k < stored_.size(); ++k) {
    stored_[k].place = places.results[folds_.size() + disjunctions_.size() + k];
  }
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
  const std::vector<WalkedNode>& nodes = pass_.main.usual().walked;
  for (const Walked& walked : walked_) {
    const std::uint32_t k = walked.number;
    table.walked[k] =
        segment_values(pass_.state().cpu, nodes[k], block.first, block.count, table.values[k]);
  }
}

/// Are the runs of all segments of the tile known?
bool KernelPieces::has_all_runs(std::int64_t first, const KernelTile& tile, Table& table) const {
  for (SegmentBlock block{}; block.end < tile.end; first += block.count) {
    block = next_block(first, tile, table);
    if (!(cut_ ? has_all_spans(block) : find_runs(block, table))) return false;
  }
  return true;
}

bool KernelPieces::has_all_spans(const SegmentBlock& block) const {
  Cursors cursors = start_cursors(nullptr);
  RowNumbers rows;
  rows.begin(block);
  for (std::int64_t s = 0; s < block.count; ++s) {
    const Part part = part_of(block, s);
    if (part.n > 0 && !find_spans(part, cursors, rows)) return false;
  }
  return true;
}

/// Fills in what all rows of addresses of a tile have in common: elements that are the same
/// everywhere, and the flags. Returns where totals of segments [first, end) go.
std::vector<KernelPieces::Total> KernelPieces::begin(std::uintptr_t* addresses, std::int64_t first,
                                                     std::int64_t end, std::byte* flags) const {
  const PiecePlaces& places = pass_.main.pieces.places;
  for (NodeId node = 0; node < places.nodes.size(); ++node) {
    if (places.nodes[node] != kNone) addresses[places.nodes[node]] = address(pass_.node(node).base);
  }
  const std::uint32_t* result = places.results.data();
  std::vector<Total> totals;
  for (KernelReduction* fold : folds_) {
    const auto width = static_cast<std::int64_t>(pass_.state().cpu.element_bytes(fold->type()));
    totals.push_back({fold->begin_pieces(first, end), width, *result++});
  }
  for (std::size_t k = 0; k < disjunctions_.size(); ++k) addresses[*result++] = address(flags + k);
  return totals;
}

void KernelPieces::put_flags(const std::byte* flags, const KernelTile& tile) const {
  for (std::size_t k = 0; k < disjunctions_.size(); ++k) {
    if (flags[k] != std::byte{0}) disjunctions_[k]->put_any(tile);
  }
}

/// What is put down for the machine code while a tile is run.
class KernelPieces::Tile {
 public:
  /// Of segments [first, end).
  Tile(const KernelPieces& pieces, const KernelTile& tile, std::int64_t first, std::int64_t end)
      : pieces_(pieces),
        tile_(tile),
        places_(pieces.pass_.main.pieces.places),
        most_(pieces.cut_ ? kCut : std::min(end - first, kTogether)) {
    const std::size_t words = static_cast<std::size_t>(most_) * places_.words;
    const std::size_t numbers = static_cast<std::size_t>(most_) * pieces.counted_.size();
    memory_.resize(words + numbers, boost::container::default_init);
    rows_ = memory_.data();
    counted_ = rows_ + words;
    totals_ = pieces.begin(rows_, first, end, found_);
    for (std::size_t filled = places_.words; filled < words; filled *= 2) {
      std::copy_n(rows_, std::min(filled, words - filled), rows_ + filled);
    }
  }

  /// n elements of a segment from `begin` on. Returns the row. REQUIRES: !is_full().
  std::uintptr_t* add(const Table& table, const SegmentBlock& block, std::int64_t s,
                      std::int64_t begin, std::int64_t n) {
    std::uintptr_t* counted = counted_ + static_cast<std::size_t>(count_) * pieces_.counted_.size();
    std::uintptr_t* row = rows_ + count_++ * places_.words;
    row[0] = static_cast<std::uintptr_t>(n);
    for (const Read& read : pieces_.reads_) {
      std::int64_t position = begin;
      if (read.runs != kNone) {
        position = table.positions[read.runs][s];
        if (pieces_.pass_.main.runs[read.runs].backwards) position += n - 1;
      }
      row[read.place] = address(read.base + position * read.width);
    }
    for (const Stored& stored : pieces_.stored_) {
      row[stored.place] = address(stored.base + begin * stored.width);
    }
    for (const Walked& walked : pieces_.walked_) {
      row[walked.place] = address(table.walked[walked.number] + s * walked.width);
    }
    // Machine code of processors that have low bytes first: an INT of any width begins here.
    for (const Counted& number : pieces_.counted_) {
      const std::int64_t i = begin - (number.in_segment ? block.starts[s] : 0);
      *counted = static_cast<std::uintptr_t>(number.start) +
                 static_cast<std::uintptr_t>(i) * static_cast<std::uintptr_t>(number.stride);
      row[number.place] = address(counted++);
    }
    const bool continued = block.starts[s] < tile_.begin;
    for (std::size_t k = 0; k < totals_.size(); ++k) {
      const Total& total = totals_[k];
      const std::int64_t segment = block.first + s;
      row[total.place] = address(continued ? pieces_.folds_[k]->continued_piece(tile_, segment)
                                           : total.base + segment * total.width);
    }
    return row;
  }
  bool is_full() const { return count_ == most_; }

  /// Computes what has been added. False when something fails.
  bool run() {
    const NativeCode& code = *pieces_.pass_.main.pieces.code;
    return count_ == 0 || !code.run_pieces(rows_, std::exchange(count_, 0));
  }

  void end() { pieces_.put_flags(found_, tile_); }

 private:
  static constexpr std::int64_t kCut = 8;  // rows together
  const KernelPieces& pieces_;
  const KernelTile& tile_;
  const PiecePlaces& places_;
  const std::int64_t most_;
  std::byte found_[kMostResults] = {};
  std::vector<Total> totals_;
  boost::container::small_vector<std::uintptr_t, 256> memory_;
  std::uintptr_t* rows_ = nullptr;
  std::uintptr_t* counted_ = nullptr;  // INTs of each row
  std::int64_t count_ = 0;             // rows that are filled
};

/// The elements of segment s of a block that lie in its tile; there may be none.
KernelPieces::Part KernelPieces::part_of(const SegmentBlock& block, std::int64_t s) {
  const std::int64_t begin = std::max(block.starts[s], block.begin);
  return {{block.first + s, block.starts[s], block.starts[s + 1]},
          begin,
          std::min(block.starts[s + 1], block.end) - begin};
}

/// For each of `spanned_`; all have room in `memory`, if there is some.
KernelPieces::Cursors KernelPieces::start_cursors(std::byte* memory) const {
  Cursors cursors(spanned_.size());
  for (std::size_t k = 0; k < cursors.size(); ++k) {
    std::byte* own = memory == nullptr ? nullptr : memory + k * SpanCursor::kMemoryBytes;
    cursors[k].start(pass_.state().cpu, spanned_[k], own);
  }
  return cursors;
}

bool KernelPieces::find_spans(const Part& part, Cursors& cursors, RowNumbers& rows) {
  RunTable table;
  return std::all_of(cursors.begin(), cursors.end(), [&](SpanCursor& cursor) {
    return cursor.find(part.segment, part.begin, part.n, rows, table);
  });
}

/// A tile whose segments are cut. False when the runs of one are not known, or something fails.
bool KernelPieces::run_cut(std::int64_t first, const KernelTile& tile, Table& table) const {
  Cursors cursors = start_cursors(thread_memory(spanned_.size() * SpanCursor::kMemoryBytes));
  Tile own(*this, tile, first, segments_->first_from(tile.end));
  RowNumbers rows;
  for (SegmentBlock block{}; block.end < tile.end; first += block.count) {
    block = next_block(first, tile, table);
    find_walked(block, table);
    rows.begin(block);
    for (std::int64_t s = 0; s < block.count; ++s) {
      const Part part = part_of(block, s);
      if (part.n <= 0) continue;
      if (!find_spans(part, cursors, rows)) return false;
      for (std::int64_t i = 0; i < part.n;) {
        if (own.is_full() && !own.run()) return false;
        std::array<const std::byte*, kMostRuns> from;
        std::int64_t end = part.n;
        for (std::size_t k = 0; k < spanned_.size(); ++k) {
          const SpanCursor::Span span = cursors[k].at(i);
          from[k] = span.first;
          end = std::min(end, span.end);
        }
        std::uintptr_t* row = own.add(table, block, s, part.begin + i, end - i);
        for (std::size_t k = 0; k < spanned_.size(); ++k) row[spanned_[k].place] = address(from[k]);
        i = end;
      }
    }
    if (!own.run()) return false;
  }
  own.end();
  return true;
}

bool KernelPieces::run(const KernelTile& tile,
                       const std::function<void(std::int64_t, std::int64_t)>& evaluate) const {
  if (rows_) return run_rows(tile);
  Table table;
  std::int64_t first = segments_->first_from(tile.begin);
  if (first == segments_->count() || segments_->start(first) > tile.begin) --first;
  if (overwrites_ && !has_all_runs(first, tile, table)) return false;
  if (cut_) return run_cut(first, tile, table);
  Tile own(*this, tile, first, segments_->first_from(tile.end));
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
      if (n < shortest_) continue;
      if (done < begin) evaluate(done, begin);
      done = begin + n;
      own.add(table, block, s, begin, n);
    }
    if (!own.run()) return false;
  }
  own.end();
  if (done < tile.end) evaluate(done, tile.end);
  return true;
}

}  // namespace cvl::cpu
