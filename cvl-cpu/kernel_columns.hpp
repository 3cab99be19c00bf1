// Reductions of rows (fold_tiles.hpp), many rows side by side.
//
// A pass over short segments spends its time on finding them and on fetching a few elements for
// each. Where all it does is to reduce many rows, the two loops are interchanged: the first
// elements of all rows are computed, then the second ones, and so on. What lies at equal distances
// for neighbouring rows is a slice then, what depends on the column alone is one number, and a
// reduction is an operation on two vectors. Each row is still combined from left to right.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_regular.hpp"
#include "cvl-cpu/kernel_state.hpp"

namespace cvl::cpu {

/// What is computed of a column of rows, as a pass over the rows.
struct ColumnPlan {
  /// States that are the same in a column, in this order; a reduction's total so far follows for
  /// each.
  enum State : std::uint32_t { FirstRow, Column, RowLength, Totals };

  struct Fold {
    const PlanSink* sink = nullptr;
    NodeId total = kNone;   // so far
    NodeId result = kNone;  // that, combined with the element of the column
  };
  PlanPass pass;
  NestRows rows;          // of reductions, some of which may be of all elements
  bool any_order = true;  // can the order of combination not be seen?
  std::vector<Fold> folds;
};

/// Nothing for a pass that does anything else, or reads elements one behind the other.
std::optional<ColumnPlan> plan_columns(const PlanPass& pass);

class KernelColumns {
 public:
  KernelColumns(KernelState& state, ColumnPlan plan);
  ~KernelColumns();

  /// Can the operands of this run be taken column by column, being rows or else longer?
  bool can_run_rows() const;
  bool can_run_long() const;
  /// Of this run.
  std::int64_t row_length() const { return state_.segdes[plan_.rows.segdes].uniform_length; }
  /// Are there elements of a column that neither lie one behind the other nor are the same for all
  /// rows? REQUIRES: can_run_rows()
  bool fetches();
  /// Runs the pass. False if anything fails: then nothing has been done.
  /// REQUIRES: can_run_rows() or can_run_long()
  bool run();

 private:
  class Worker;

  bool can_run() const;
  /// Rows [begin, end), of results whose element 0 is at `out[k]`.
  void run_rows(std::int64_t begin, std::int64_t end, std::vector<std::byte*> out);
  /// Of all elements, given what each row has.
  Vector reduced(vcode::Op op, const Vector& totals) const;
  std::unique_ptr<Worker> take();
  void put_back(std::unique_ptr<Worker> worker);

  KernelState& state_;
  const ColumnPlan plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace cvl::cpu
