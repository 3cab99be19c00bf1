#include <atomic>
#include <vector>

#include <tbb/enumerable_thread_specific.h>

#include "graph.hpp"

using namespace peer;

// Whoever writes the parent of a vertex first has found it.
Array<Int> bfs(const Array<Int>& graph) {
  const std::size_t n = graph.size() / kDegree;
  Array<Int> parents = generate(n, [](std::size_t) { return Int{-1}; });
  parents[0] = 0;
  std::vector<Int> frontier{0};
  while (!frontier.empty()) {
    tbb::enumerable_thread_specific<std::vector<Int>> found;
    parallel_for(
        frontier.size(),
        [&](std::size_t begin, std::size_t end) {
          auto& mine = found.local();
          for (std::size_t i = begin; i < end; ++i) {
            const auto from = static_cast<std::size_t>(frontier[i]);
            for (std::size_t k = from * kDegree; k < (from + 1) * kDegree; ++k) {
              std::atomic_ref<Int> parent(parents[static_cast<std::size_t>(graph[k])]);
              Int none = -1;
              if (parent.load(std::memory_order_relaxed) == -1 &&
                  parent.compare_exchange_strong(none, static_cast<Int>(from),
                                                 std::memory_order_relaxed)) {
                mine.push_back(graph[k]);
              }
            }
          }
        },
        512);
    frontier.clear();
    for (const auto& part : found) frontier.insert(frontier.end(), part.begin(), part.end());
  }
  return parents;
}

int main(int argc, char** argv) {
  return run(argc, argv, graph, bfs, [](const Array<Int>&, const Array<Int>& parents) {
    Int reached = 0;
    Int distances = 0;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      reached += parents[i] >= 0;
      for (Int at = static_cast<Int>(i); parents[at] > -1 && parents[at] != at; at = parents[at]) {
        ++distances;
      }
    }
    print(reached);
    print(distances);
  });
}
