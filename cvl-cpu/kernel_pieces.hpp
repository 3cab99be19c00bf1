// Passes over long segments, piece by piece.
//
// Where a pass does nothing but to store what it computes, to fold it by segments, and to look for
// what must not be, machine code takes each piece that a tile has of a segment: from operands where
// they lie, what is the same in the segment in registers, to accumulators and results. Where runs
// begin is found out for many segments at a time. Elements meet in the order of
// ReduceKernels::tile; what is folded of pieces that are too short for this is evaluated block by
// block.
//
// Where nothing is folded, a segment is cut into pieces wherever what is read passes from one
// vector to the next, or to what lies outside of it (kernel_spans.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <boost/container/static_vector.hpp>

#include "cvl-cpu/kernel_sink.hpp"
#include "cvl-cpu/kernel_spans.hpp"

namespace cvl::cpu {

class KernelPieces {
 public:
  explicit KernelPieces(BoundPass& pass) : pass_(pass) {}

  /// When the pass has been bound and all sinks are open: can tiles be run, and does it pay?
  /// `reductions` are the sinks that are active, `segments` those of the runs of the pass, or those
  /// off which it reads what is the same in each, or those that are folded.
  bool open(const std::vector<KernelReduction*>& reductions, const Segments& segments);

  /// After open(): are pieces rows (fold_tiles.hpp), each of which is combined from the first
  /// element to the last? They are put side by side then, and tiles have to end with rows.
  bool takes_rows() const { return rows_; }

  /// Runs a tile but for short pieces, for ranges of which it calls evaluate(begin, end), which
  /// evaluates them as a tile is. False when something fails; then the whole tile is to be
  /// evaluated, for which all operands still are what they were.
  bool run(const KernelTile& tile,
           const std::function<void(std::int64_t, std::int64_t)>& evaluate) const;

 private:
  /// A vector that is written at the own position. Places are those in the rows of NativePieces.
  struct Stored {
    NodeId node;
    std::byte* base;
    std::int64_t width;
    std::uint32_t place;
  };
  /// A vector that is read where it lies.
  struct Read {
    NodeId node;
    std::uint32_t runs;  // kNone: at the own position
    const std::byte* base;
    std::int64_t width;
    std::uint32_t place;
  };
  /// A number that counts from element to element: `start` at the first one, of the segment or of
  /// all.
  struct Counted {
    bool in_segment;
    std::int64_t start, stride;
    std::uint32_t place;
  };
  /// What is read once for each segment.
  struct Walked {
    std::uint32_t number;  // among what the steps read by walks
    std::int64_t width;
    std::uint32_t place;
  };
  /// Where the totals of segments go, that of segment 0 to `base`.
  struct Total {
    std::byte* base;
    std::int64_t width;
    std::uint32_t place;
  };
  static constexpr std::int64_t kTogether = RowNumbers::kMostSegments;
  static constexpr std::size_t kMostRuns = 16, kMostWalked = 16, kMostResults = 8;

  /// What a tile has of a segment.
  struct Part {
    Segments::Place segment;
    std::int64_t begin, n;
  };
  /// What is known of some segments.
  struct Table {
    StartsBuffer<kTogether> room;
    std::int64_t positions[kMostRuns][kTogether];
    const std::byte* walked[kMostWalked];
    alignas(64) std::int64_t values[kMostWalked][kTogether + 8];
  };
  using Cursors = boost::container::static_vector<SpanCursor, kMostRuns>;
  class Tile;
  class Rows;

  static std::uintptr_t address(const void* of) { return reinterpret_cast<std::uintptr_t>(of); }
  bool find_stored();
  bool must_cut() const;
  bool find_reads();
  void find_places();
  std::vector<Total> begin(std::uintptr_t* addresses, std::int64_t first, std::int64_t end,
                           std::byte* flags) const;
  void put_flags(const std::byte* flags, const KernelTile& tile) const;
  bool divides() const;
  bool run_rows(const KernelTile& tile) const;
  SegmentBlock next_block(std::int64_t first, const KernelTile& tile, Table& table) const;
  bool find_runs(const SegmentBlock& block, Table& table) const;
  bool has_all_runs(std::int64_t first, const KernelTile& tile, Table& table) const;
  static Part part_of(const SegmentBlock& block, std::int64_t s);
  Cursors start_cursors(std::byte* memory) const;
  static bool find_spans(const Part& part, Cursors& cursors, RowNumbers& rows);
  bool has_all_spans(const SegmentBlock& block) const;
  bool run_cut(std::int64_t first, const KernelTile& tile, Table& table) const;
  void find_walked(const SegmentBlock& block, Table& table) const;

  BoundPass& pass_;
  std::vector<KernelReduction*> folds_, disjunctions_;
  PieceResults wanted_;
  const Segments* segments_ = nullptr;
  std::vector<Read> reads_;
  std::vector<SpannedRead> spanned_;  // cut_: what is read through runs
  std::vector<Counted> counted_;
  std::vector<Walked> walked_;
  std::vector<Stored> stored_;
  std::int64_t shortest_ = 1;  // of the pieces that are taken
  bool overwrites_ = false;    // operands
  bool rows_ = false;
  bool cut_ = false;
};

}  // namespace cvl::cpu
