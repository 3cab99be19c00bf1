// Rows whose elements do not follow each other in memory: what is stored of them, and reductions of
// long ones.
//
// `{{r[j] : r in m} : j in [0:n]}` transposes a matrix, and a sum of each row adds up columns. Row
// by row, as elements are numbered, each of them is fetched from a cache line of its own, which has
// left the cache before the next row needs its neighbour. Here a panel of some rows is computed
// column by column, where elements are neighbours. What depends only on the row or only on the
// column is computed once for each. Each row is combined in the order of ReduceKernels::tile; what
// is stored is transposed in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"
#include "cvl-cpu/kernel_panel_fold.hpp"
#include "cvl-cpu/kernel_panel_plan.hpp"
#include "cvl-cpu/kernel_state.hpp"

namespace cvl::cpu {

class KernelPanels {
 public:
  KernelPanels(KernelState& state, PanelPlan plan);

  /// Are there rows for this, in this run, in which the pass has so many elements?
  bool can_run(std::int64_t length);
  /// Runs what it takes of the pass. False if that does not pay, or anything fails: then nothing
  /// has been done. REQUIRES: can_run()
  bool run();
  /// What is left of the pass.
  const PlanPass& rest() const { return plan_.rest; }

 private:
  class Panel;

  struct Rows {
    std::int64_t count = 0, length = 0;  // length: of each
    bool operator==(const Rows&) const = default;
  };
  /// Where the totals or the elements of rows go.
  struct Result {
    Vector vector;
    std::byte* out = nullptr;
  };

  /// How the work is divided: into panels of so many rows, some of which are computed together, and
  /// those into ranges of so many columns.
  struct Division {
    std::int64_t rows, panels, together, columns, ranges;
  };
  struct Bound {
    Bound(KernelState& state, const PanelPlan& plan, const std::byte* row_length);

    BoundPass rows, columns, elements;
  };

  bool bind();
  bool first_pays() const;
  Division divide() const;
  bool run_together(const Division& division, std::int64_t first_panel, std::int64_t range,
                    std::vector<PanelFold>* folds) const;
  void combine(const Division& division, const std::vector<std::vector<PanelFold>>& folds);
  void make(Result& result, const PlanSink& sink, Type type, std::int64_t length);

  KernelState& state_;
  const PanelPlan plan_;
  std::optional<Bound> bound_;  // made when it is wanted
  Rows table_;                  // of this run
  Rows declined_;               // for which this did not pay, the last time
  std::vector<Result> totals_, stored_;
  alignas(8) std::byte row_length_[8] = {};
};

}  // namespace cvl::cpu
