#include <algorithm>
#include <utility>

#include "peer.hpp"

using namespace peer;

struct Grid {
  std::size_t n;
  Array<double> cells;  // row by row
};

Grid averages(const Grid& grid, Grid next) {
  const std::size_t n = grid.n;
  parallel_for(
      n,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const double* const row = grid.cells.begin() + i * n;
          double* const out = next.cells.begin() + i * n;
          if (i == 0 || i == n - 1) {
            std::copy_n(row, n, out);
            continue;
          }
          out[0] = row[0];
          for (std::size_t j = 1; j < n - 1; ++j) {
            out[j] = (row[j - n] + row[j + n] + row[j - 1] + row[j + 1]) / 4.0;
          }
          out[n - 1] = row[n - 1];
        }
      },
      std::max<std::size_t>(1, 4096 / n));
  return next;
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return Grid{n, generate(n * n, [](std::size_t i) { return unit(i, 1); })};
      },
      [](const Grid& grid) {
        const std::size_t size = grid.cells.size();
        Grid now = averages(grid, {grid.n, Array<double>(size)});
        Grid next{grid.n, Array<double>(size)};
        for (int k = 1; k < 20; ++k) {
          next = averages(now, std::move(next));
          std::swap(now, next);
        }
        return now;
      },
      [](const Grid&, const Grid& grid) {
        print(weighted_sum(grid.cells.size(), [&](std::size_t i) { return grid.cells[i]; }));
      });
}
