#include <tbb/enumerable_thread_specific.h>

#include "graph.hpp"

using namespace peer;

// Every thread adds up in a table of its own.
Array<double> page_rank(const Array<Int>& links) {
  const std::size_t n = links.size() / kDegree;
  Array<double> ranks = generate(n, [=](std::size_t) { return 1.0 / static_cast<double>(n); });
  tbb::enumerable_thread_specific<Array<double>> tables([n] {
    Array<double> table(n);
    std::fill(table.begin(), table.end(), 0.0);
    return table;
  });
  for (int round = 0; round < 10; ++round) {
    parallel_for(n, [&](std::size_t begin, std::size_t end) {
      double* const table = tables.local().begin();
      for (std::size_t i = begin; i < end; ++i) {
        const double share = ranks[i] / kDegree;
        for (std::size_t k = i * kDegree; k < (i + 1) * kDegree; ++k) table[links[k]] += share;
      }
    });
    parallel_for(n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ranks[i] = 0;
      for (const auto& table : tables) {
        for (std::size_t i = begin; i < end; ++i) {
          ranks[i] += table[i];
          table[i] = 0;
        }
      }
      for (std::size_t i = begin; i < end; ++i) {
        ranks[i] = 0.15 / static_cast<double>(n) + 0.85 * ranks[i];
      }
    });
  }
  return ranks;
}

int main(int argc, char** argv) {
  return run(argc, argv, graph, page_rank, [](const Array<Int>&, const Array<double>& ranks) {
    print(weighted_sum(ranks.size(), [&](std::size_t i) { return ranks[i]; }));
  });
}
