// Groups of nodes of a directed graph that can reach each other.
#pragma once

#include <cstdint>
#include <vector>

namespace vcode {

/// Of each node 0, 1, ... those that it leads to.
using Edges = std::vector<std::vector<std::uint32_t>>;

/// The strong components of a graph: a component comes behind those that it leads to, and within a
/// component a node mostly behind those that it leads to. Time is linear in the number of edges; no
/// native recursion.
///
/// Tarjan, "Depth-first search and linear graph algorithms" (1972).
std::vector<std::vector<std::uint32_t>> strong_components(const Edges& edges);

}  // namespace vcode
