#include "grid.hpp"

using namespace peer;

void averages(const Grid<double>& grid, std::size_t i, double* out) {
  const std::size_t n = grid.n;
  const double* const row = grid.row(i);
  if (i == 0 || i == n - 1) {
    std::copy_n(row, n, out);
    return;
  }
  out[0] = row[0];
  for (std::size_t j = 1; j < n - 1; ++j) {
    out[j] = (row[j - n] + row[j + n] + row[j - 1] + row[j + 1]) / 4.0;
  }
  out[n - 1] = row[n - 1];
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return Grid<double>{n, generate(n * n, [](std::size_t i) { return unit(i, 1); })};
      },
      [](const Grid<double>& grid) { return rounds(grid, 20, averages); },
      [](const Grid<double>&, const Grid<double>& grid) {
        print(weighted_sum(grid.cells.size(), [&](std::size_t i) { return grid.cells[i]; }));
      });
}
