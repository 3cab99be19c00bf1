// How what a pass reduces or stores of rows is computed panel by panel (kernel_panels.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cvl-cpu/kernel_regular.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl::cpu {

/// A pass over rows, divided by what its values depend on.
struct PanelPlan {
  /// State of all passes that is the same everywhere: the length of a row.
  static constexpr std::uint32_t kRowLength = 0;

  /// A value of a row or a column, which the elements read as a state.
  struct Shared {
    NodeId value = kNone;
    NodeId state = kNone;
  };
  /// Elements of a vector, at the sum of a place of the row and one of the column: what elements
  /// read as a state, too.
  struct Fetched {
    ArrayId array = kNone;
    NodeId of_row = kNone, of_column = kNone;
    NodeId state = kNone;
  };
  struct Fold {
    const PlanSink* sink = nullptr;
    NodeId total = kNone;   // a state: of some columns so far
    NodeId result = kNone;  // that, combined with the element
  };
  struct Store {
    const PlanSink* sink = nullptr;
    NodeId value = kNone;
  };
  NestRows nest;
  PlanPass rows, columns, elements;
  std::vector<Shared> of_rows, of_columns;
  std::vector<Fetched> fetched;
  std::vector<Fold> folds;
  std::vector<Store> stores;
  std::uint32_t states = 0;  // of the elements
  PlanPass rest;             // the pass without these sinks
};

/// Nothing for a pass that fetches no elements of rows, or reads others one behind the other.
std::optional<PanelPlan> plan_panels(const PlanPass& pass);

}  // namespace cvl::cpu
