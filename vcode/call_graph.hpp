// Who calls whom, and which functions call each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "vcode/program.hpp"

namespace vcode {

struct CallGraph {
  explicit CallGraph(const LinkedProgram& program);

  std::span<const std::uint32_t> callees(std::uint32_t function) const {
    return std::span(edges).subspan(first_edge[function],
                                    first_edge[function + 1] - first_edge[function]);
  }

  std::vector<std::size_t> first_edge;  // of each function, and one behind the last
  std::vector<std::uint32_t> edges;     // callees, without repetition, ascending
  /// Groups of functions that can reach each other; callees come in earlier groups than their
  /// callers, and within a group mostly first.
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint32_t> group_of;  // index into groups, of each function
};

}  // namespace vcode
