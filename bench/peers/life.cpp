#include "grid.hpp"
#include "numbers.hpp"

using namespace peer;

void generation(const Grid<Int>& grid, std::size_t i, Int* out) {
  const std::size_t n = grid.n;
  const Int* const above = grid.row(i == 0 ? n - 1 : i - 1);
  const Int* const row = grid.row(i);
  const Int* const below = grid.row(i == n - 1 ? 0 : i + 1);
  const auto cell = [&](std::size_t left, std::size_t j, std::size_t right) {
    const Int alive = above[left] + above[j] + above[right] + row[left] + row[right] + below[left] +
                      below[j] + below[right];
    out[j] = static_cast<Int>(alive == 3) | (static_cast<Int>(alive == 2) & row[j]);
  };
  cell(n - 1, 0, 1);
  for (std::size_t j = 1; j < n - 1; ++j) cell(j - 1, j, j + 1);
  cell(n - 2, n - 1, 0);
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return Grid<Int>{n, generate(n * n, [](std::size_t i) { return noise(i, 1) % 2; })};
      },
      [](const Grid<Int>& grid) { return rounds(grid, 20, generation); },
      [](const Grid<Int>&, const Grid<Int>& grid) { print(fingerprint(grid.cells)); });
}
