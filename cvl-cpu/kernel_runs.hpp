// Gathers and scatters whose indices count up within each segment: such a segment is moved as one
// run, and no index, position or check is computed per element.
//
// Slices, appended and flattened vectors come down to these. What an index adds to the position
// within the segment is summed up per segment, and what must hold of it is checked per segment. A
// block of elements for which a check fails is evaluated element by element, which finds out which
// failures there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "cvl-cpu/kernel_program.hpp"
#include "cvl-cpu/kernel_regular.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// A node that is read off a walk.
struct WalkedNode {
  NodeId node = kNone;
  std::uint32_t slot = kNone;
  PlanNode::Kind kind{};
  Type type{};
  const Vector* vector = nullptr;      // Gather
  std::int64_t divisor = 1;            // Gather: so many segments in turn read one element
  const Segments* segments = nullptr;  // SegmentLength, SegmentStart: whose
};

/// The values that a node has in the segments [first, first + count), by their number: somewhere,
/// maybe in `buffer`, which has room for kSegmentBlock + 8 numbers. Not for SegmentOffset.
/// REQUIRES: count <= kSegmentBlock
const std::byte* segment_values(CpuBackend& cpu, const WalkedNode& node, std::int64_t first,
                                std::int64_t count, std::int64_t* buffer);

/// What is done with a node that is the same in a whole segment: it is added to or taken from the
/// sum so far, or all indices summed up so far must lie in [0, node).
struct RunStage {
  enum class Kind : std::uint8_t { Add, Subtract, Check };
  Kind kind = Kind::Add;
  NodeId node = kNone;
};

/// What some of the stages add up to, and `step` times the position within the segment.
struct RunSum {
  std::uint32_t first = 0, last = 0;  // stages
  int step = 0;                       // -1, 0 or 1
};

/// Where that holds, in one interval of a segment, the index is another sum.
struct RunChoice {
  vcode::Op op = vcode::Op::Less;  // left op right
  RunSum left, right, then;
};

/// An index: the position within the segment plus what the stages add. With choices, the first one
/// that holds gives the sum, and if none holds, `rest` does: the next place in a ring
/// (`if i + 1 >= n then i + 1 - n else i + 1`), or one that stops at the border.
struct RunIndex {
  SegdesId segdes = kNone;      // whose segments; kNone: the positions of the pass are one, …
  std::int64_t row_length = 0;  // … or, if not 0, rows of a regular nest
  std::vector<RunStage> stages;
  std::vector<RunChoice> choices;
  RunSum rest;
  /// The place of elements for which the last check fails because they would lie too far behind,
  /// and, if from_zero, of those that would lie below zero; where it is there, nothing is added
  /// behind that check.
  std::optional<std::int64_t> otherwise;
  bool from_zero = false;
  /// What the stages add less the position.
  bool backwards = false;
};

/// The index node in this form, if it has it.
std::optional<RunIndex> find_run_index(const PlanPass& pass, NodeId index);

/// A stage with the operands of one run.
struct BoundStage {
  RunStage::Kind kind = RunStage::Kind::Add;
  bool uniform = false;
  std::int64_t value = 0;  // uniform: of walked.node
  WalkedNode walked;
  std::optional<RowNumber> row = std::nullopt;  // of a regular nest, if it is not uniform
  std::uint32_t row_place = kNone;              // row: in RowNumbers; kNone: not there
};

/// A RunSum with the operands of one run.
struct BoundSum {
  struct Summand {
    std::uint32_t stage;  // the first one that has the number
    bool adds;
  };
  using Summands = boost::container::small_vector<Summand, 2>;
  int step = 0;
  Summands uniform, others;
  std::int64_t fixed = 0;  // what the uniform ones add up to
};
struct BoundChoice {
  vcode::Op op = vcode::Op::Less;
  BoundSum left, right, then;
};

/// An index with the operands of one run. The sum must lie in [0, limit).
struct BoundRuns {
  NodeId index = kNone;
  SegdesId into = kNone;                 // of a scatter: whose own segments the indices count in
  SegdesId under = kNone;                // whose segments the rows of its index have to be
  const Segments* segments = nullptr;    // null: one segment
  std::shared_ptr<const Segments> rows;  // of a regular nest: `segments`
  std::vector<BoundStage> stages;
  std::vector<BoundChoice> choices;       // of a gather, …
  BoundSum rest;                          // … in the same sense
  std::optional<std::int64_t> otherwise;  // of a gather, in the same sense, …
  bool from_zero = false;                 // … as this
  bool backwards = false;                 // of a gather
  std::int64_t limit = 0;
  /// If only the elements of a vector are added, and a number: those, and that.
  const std::byte* first = nullptr;
  std::int64_t more = 0;
};

/// The numbers that stages have in the segments of a block, all of them computed when the first one
/// is asked for: what is computed for each segment by itself takes ten times as long.
class RowNumbers {
 public:
  static constexpr std::int64_t kMostSegments = 64;
  static constexpr std::uint32_t kMostStages = 12;

  /// From now on those of that block. REQUIRES: it has kMostSegments at most and stays where it is
  void begin(const SegmentBlock& block);
  /// Nothing if it is not known of all of them. REQUIRES: the stage has a row, and a place here;
  /// the segment is one of the block
  std::optional<std::int64_t> at(const BoundStage& stage, std::int64_t segment, bool wide);

 private:
  enum class State : std::uint8_t { NotAsked, Known, Unknown };
  SegmentBlock block_{};
  State states_[kMostStages] = {};
  std::int64_t numbers_[kMostStages][kMostSegments];
};

/// The runs of a block of elements: run k ends before element ends[k] of the block, begins where
/// the last one ends, and its elements have the positions from positions[k] on; where they go
/// backwards, the last one has that.
struct RunTable {
  /// So many elements before the runs and behind them have the place BoundRuns::otherwise. Ends are
  /// counted from the first run on.
  std::int64_t before = 0, behind = 0;
  std::int64_t count = 0;
  std::int64_t positions[kSegmentBlock + 1];
  std::int64_t ends[kSegmentBlock + 1];
  /// The segment that the last block ended in, from where to where; none at first.
  std::int64_t segment = 0;
  std::int64_t bounds[2] = {0, 0};
  RowNumbers* rows = nullptr;  // what is known of its segment, if not null
};

/// False when a check fails; then there are no runs. REQUIRES: 0 < n, and n <= kSegmentBlock or all
/// elements lie in the segment of the table
bool find_runs(CpuBackend& cpu, const BoundRuns& runs, std::int64_t begin, std::int64_t n,
               RunTable& table);

/// What a stage adds in the segment of a table. Nothing if an element that it reads is not there.
std::optional<std::int64_t> stage_value(CpuBackend& cpu, const BoundStage& stage,
                                        const RunTable& table);

/// Adds the runs of the n elements from `begin` on that lie in the segment of the table, of an
/// index with choices. False when a place lies outside. REQUIRES: n is positive
bool add_chosen_runs(CpuBackend& cpu, const BoundRuns& runs, std::int64_t begin, std::int64_t n,
                     RunTable& table);

/// The least indices of elements that the segments of a block have in it. False when a check fails.
/// REQUIRES: no choices
bool find_run_positions(CpuBackend& cpu, const BoundRuns& runs, const SegmentBlock& block,
                        std::int64_t* positions);

/// Are all positions of elements [0, length) known, and no two of them the same? Finds that out if
/// the runs follow each other in the order of their positions, or could be dealt out to two such
/// sequences, of which one lies before the other: what appends and splits give.
bool runs_are_distinct(CpuBackend& cpu, const BoundRuns& runs, std::int64_t length);

}  // namespace cvl::cpu
