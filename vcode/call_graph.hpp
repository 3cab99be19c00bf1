// Who calls whom, and which functions call each other.
#pragma once

#include <cstdint>
#include <vector>

#include "vcode/program.hpp"
#include "vcode/strong_components.hpp"

namespace vcode {

struct CallGraph {
  explicit CallGraph(const LinkedProgram& program);

  Edges callees;  // of each function, without repetition, ascending
  /// Groups of functions that can reach each other; callees come in earlier groups than their
  /// callers, and within a group mostly first.
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> group_of;  // index into groups, of each function
};

}  // namespace vcode
