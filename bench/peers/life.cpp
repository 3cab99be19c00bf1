#include <algorithm>
#include <utility>

#include "numbers.hpp"

using namespace peer;

struct Grid {
  std::size_t n;
  Array<Int> cells;  // row by row
};

Grid generation(const Grid& grid, Grid next) {
  const std::size_t n = grid.n;
  parallel_for(
      n,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Int* const above = grid.cells.begin() + (i == 0 ? n - 1 : i - 1) * n;
          const Int* const row = grid.cells.begin() + i * n;
          const Int* const below = grid.cells.begin() + (i == n - 1 ? 0 : i + 1) * n;
          Int* const out = next.cells.begin() + i * n;
          const auto cell = [&](std::size_t left, std::size_t j, std::size_t right) {
            const Int alive = above[left] + above[j] + above[right] + row[left] + row[right] +
                              below[left] + below[j] + below[right];
            out[j] = static_cast<Int>(alive == 3) | (static_cast<Int>(alive == 2) & row[j]);
          };
          cell(n - 1, 0, 1);
          for (std::size_t j = 1; j < n - 1; ++j) cell(j - 1, j, j + 1);
          cell(n - 2, n - 1, 0);
        }
      },
      std::max<std::size_t>(1, 4096 / n));
  return next;
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return Grid{n, generate(n * n, [](std::size_t i) { return noise(i, 1) % 2; })};
      },
      [](const Grid& grid) {
        const std::size_t size = grid.cells.size();
        Grid now = generation(grid, {grid.n, Array<Int>(size)});
        Grid next{grid.n, Array<Int>(size)};
        for (int k = 1; k < 20; ++k) {
          next = generation(now, std::move(next));
          std::swap(now, next);
        }
        return now;
      },
      [](const Grid&, const Grid& grid) { print(fingerprint(grid.cells)); });
}
