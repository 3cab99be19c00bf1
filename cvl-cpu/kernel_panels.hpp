// Reductions of long rows whose elements do not follow each other in memory.
//
// `{sum({r[j] : r in m}) : j in [0:n]}` adds up columns of a matrix. Row by row, as elements are
// numbered, each of them is fetched from a cache line of its own, which has left the cache before
// the next row needs its neighbour. Here a panel of some rows is computed column by column, where
// elements are neighbours. What depends only on the row or only on the column is computed once for
// each. Each row is combined in the order of ReduceKernels::tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"
#include "cvl-cpu/kernel_panel_plan.hpp"
#include "cvl-cpu/kernel_state.hpp"

namespace cvl::cpu {

class KernelPanels {
 public:
  KernelPanels(KernelState& state, PanelPlan plan);

  /// Are there rows for this, in this run?
  bool can_run() const;
  /// Runs the pass. False if anything fails: then nothing has been done. REQUIRES: can_run()
  bool run();

 private:
  class Panel;

  /// Where the totals of rows go.
  struct Result {
    Vector vector;
    std::byte* out = nullptr;
  };

  struct Bound {
    Bound(KernelState& state, const PanelPlan& plan, const std::byte* row_length);

    BoundPass rows, columns, elements;
  };

  bool bind();

  KernelState& state_;
  const PanelPlan plan_;
  std::optional<Bound> bound_;  // made when it is wanted
  alignas(8) std::byte row_length_[8] = {};
};

}  // namespace cvl::cpu
