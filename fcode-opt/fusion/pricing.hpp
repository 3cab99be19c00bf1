// What a schedule costs altogether: what it moves and starts (cost.hpp), and what it holds more
// than the operations one by one (memory.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "fcode-opt/fusion/known_kernels.hpp"
#include "fcode-opt/fusion/memory.hpp"

namespace fcode {

/// A region and what is to be known of it for the price of a schedule.
class Pricing {
 public:
  explicit Pricing(const RegionGraph& graph);
  const RegionGraph& graph() const { return graph_; }
  const Precedence& precedence() const { return precedence_; }
  KnownKernels& kernels() const { return kernels_; }
  std::int64_t price(const Schedule& schedule) const;
  /// The part of the price for what is held too much. Above `limit` it may be any number above it.
  std::int64_t held(const Schedule& schedule, std::int64_t limit) const;
  /// The greater of two: while kernels run as such, and while they run as their SPECs.
  MemoryModel::Excess excess(const Schedule& schedule) const;

 private:
  MemoryModel::Excess excess_of_kernels(const Schedule& schedule, std::int64_t limit) const;
  MemoryModel::Excess excess_of_specs(const Schedule& schedule, std::int64_t limit) const;
  void find_generators();

  const RegionGraph& graph_;
  Precedence precedence_;
  std::vector<Step> instructions_;  // by node
  // By node: literals and generators that it reads, and that these read, before their readers.
  std::vector<std::vector<NodeIndex>> generators_;
  MemoryModel model_;
  mutable KnownKernels kernels_;
};

struct Choice {
  Schedule schedule;
  std::int64_t price = 0;
};

}  // namespace fcode
