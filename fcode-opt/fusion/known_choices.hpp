// Schedules that were chosen before. Inlined functions and those that differ in constants give the
// same regions again and again, and choosing takes most of the time of fusion.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fcode-opt/fusion/pricing.hpp"

namespace fcode {

class KnownChoices {
 public:
  /// What choose_schedule() gives for the region, which is asked only if no equal one was met.
  const Choice& choose(const RegionGraph& graph, const Schedule& similar = {});

 private:
  /// All of a region that a choice depends on, its values and unknown lengths numbered anew.
  using Key = std::vector<std::int64_t>;
  static Key key_of(const RegionGraph& graph);

  std::map<Key, Choice> choices_;
};

}  // namespace fcode
