// What a schedule costs altogether: what it moves and starts (cost.hpp), and what it holds more
// than the operations one by one (memory.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fcode-opt/fusion/memory.hpp"
#include "fcode-opt/fusion/steps.hpp"

namespace fcode {

/// A region and what is to be known of it for the price of a schedule.
class Pricing {
 public:
  explicit Pricing(const RegionGraph& graph);
  const RegionGraph& graph() const { return graph_; }
  /// Above `limit` it may be any number above `limit`.
  std::int64_t price(const Schedule& schedule, std::int64_t limit) const;
  std::int64_t price(const Schedule& schedule) const;
  /// The greatest for all that a run may decide, whether kernels run as such or as their SPECs.
  MemoryModel::Excess excess(const Schedule& schedule) const;

 private:
  MemoryModel::Excess excess(const std::vector<Step>& steps) const;

  const RegionGraph& graph_;
  std::array<MemoryModel, 3> models_;
};

struct Choice {
  Schedule schedule;
  std::int64_t price = 0;
  bool exact = false;  // none with as many slots, or one more, is cheaper
};

}  // namespace fcode
