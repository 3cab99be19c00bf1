// Square grids that are computed again and again from the one before, rows side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "peer.hpp"

namespace peer {

template <class T>
struct Grid {
  std::size_t n;
  Array<T> cells;  // row by row

  const T* row(std::size_t i) const { return cells.begin() + i * n; }
};

/// The grid after some rounds, each of which calls fill(grid, i, out) for every row i of the next
/// grid. Two grids are written in turn.
template <class T, class Fill>
Grid<T> rounds(const Grid<T>& grid, int count, const Fill& fill) {
  const std::size_t n = grid.n;
  const auto step = [&](const Grid<T>& from, Grid<T>& to) {
    parallel_for(
        n,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) fill(from, i, to.cells.begin() + i * n);
        },
        std::max<std::size_t>(1, 4096 / n));
  };
  Grid<T> now{n, Array<T>(grid.cells.size())}, next{n, Array<T>(grid.cells.size())};
  step(grid, now);
  for (int k = 1; k < count; ++k) {
    step(now, next);
    std::swap(now, next);
  }
  return now;
}

}  // namespace peer
