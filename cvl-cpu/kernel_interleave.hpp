// Short rows of one length that are stored, column by column.
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
    const PlanSink* sink = nullptr;
    std::vector<NodeId> columns;  // the element of each in the own row
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
  bool bind(std::int64_t rows);
  void run_rows(std::int64_t begin, std::int64_t end, const std::vector<std::byte*>& out) const;

  KernelState& state_;
  InterleavePlan plan_;
  std::optional<BoundPass> bound_;
};

}  // namespace cvl::cpu
