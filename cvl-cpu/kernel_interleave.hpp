// Short rows of one length that are stored, by themselves or as parts of longer ones, column by
// column.
//
// Code for `{[f(x), g(x)] : x in v}` chooses for every element by its place in the row, and fetches
// what it needs from vectors over the rows. Here all first elements of some rows are computed, then
// all second ones, and so on, each without a choice and from vectors that are read in order; then
// they are put between each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// What is stored of rows, as a pass over the rows.
struct InterleavePlan {
  struct Result {
    const PlanSink* sink = nullptr;  // Store or Scatter
    std::vector<NodeId> columns;     // the element of each in the own row
    NodeId start = kNone;            // Scatter: where they begin in the row that they go to
  };
  std::int64_t row_length = 0;
  PlanPass pass;
  std::vector<Result> results;
};

/// Nothing for a pass that does anything else, or reads elements at the own position.
std::optional<InterleavePlan> plan_interleave(const PlanPass& pass);

class KernelInterleave {
 public:
  KernelInterleave(KernelState& state, InterleavePlan plan);

  /// Runs the pass, which has so many elements. False where that is not worth while, or if anything
  /// fails: then nothing has been done.
  bool run(std::int64_t length);

 private:
  /// Where a result goes: the first element of each row that is written, and from one row to the
  /// next.
  struct Place {
    std::byte* first = nullptr;
    std::int64_t distance = 0;  // in elements
  };

  bool bind(std::int64_t rows);
  /// Is the target there, with what is elsewhere in it? It stays there if anything fails.
  static bool has_defaults(const InterleavePlan::Result& result) {
    return result.start != kNone && !result.sink->zeroed;
  }
  std::optional<std::int64_t> start_of(const InterleavePlan::Result& result) const;
  /// Makes `vector` for a result that has no target.
  Place place_of(const InterleavePlan::Result& result, Vector& vector) const;
  void run_rows(std::int64_t begin, std::int64_t end, const std::vector<Place>& out) const;

  KernelState& state_;
  InterleavePlan plan_;
  std::optional<BoundPass> bound_;
};

}  // namespace cvl::cpu
