#include <vector>

#include "graph.hpp"

using namespace peer;

struct Web {
  Array<Int> sources;  // of the links to each page
  Array<Int> degrees;  // number of links on each page
};

Web input(std::size_t n) {
  Web web{graph(n), Array<Int>(n)};
  std::fill(web.degrees.begin(), web.degrees.end(), 0);
  for (const Int from : web.sources) ++web.degrees[from];
  return web;
}

Array<double> page_rank(const Web& web) {
  const std::size_t n = web.degrees.size();
  Array<double> ranks = generate(n, [=](std::size_t) { return 1.0 / static_cast<double>(n); });
  Array<double> shares(n);
  for (int round = 0; round < 10; ++round) {
    const double lost = parallel_sum<double>(n, [&](std::size_t begin, std::size_t end) {
      double sum = 0;
      for (std::size_t i = begin; i < end; ++i) {
        const bool dead = web.degrees[i] == 0;
        sum += dead ? ranks[i] : 0.0;
        shares[i] = dead ? 0.0 : ranks[i] / static_cast<double>(web.degrees[i]);
      }
      return sum;
    });
    const double base = (0.15 + 0.85 * lost) / static_cast<double>(n);
    parallel_for(n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double sum = 0;
        for (std::size_t k = i * kDegree; k < (i + 1) * kDegree; ++k) sum += shares[web.sources[k]];
        ranks[i] = base + 0.85 * sum;
      }
    });
  }
  return ranks;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, page_rank, [](const Web&, const Array<double>& ranks) {
    print(weighted_sum(ranks.size(), [&](std::size_t i) { return ranks[i]; }));
  });
}
