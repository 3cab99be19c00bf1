// Graphs of n vertices with eight edges each.
#pragma once

#include "peer.hpp"

namespace peer {

constexpr std::size_t kDegree = 8;

/// The other ends of the edges of each vertex, one vertex after another.
inline Array<Int> graph(std::size_t n) {
  return generate(kDegree * n, [=](std::size_t i) { return noise(i, 1) % static_cast<Int>(n); });
}

}  // namespace peer
