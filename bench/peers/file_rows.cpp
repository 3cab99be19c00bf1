#include <numeric>

#include "numbers.hpp"

using namespace peer;

Array<double> input(std::size_t n) {
  File lengths("lengths-peer.bin", "wb"), columns("columns-peer.bin", "wb"),
      values("values-peer.bin", "wb");
  std::size_t entries = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::int32_t length = static_cast<std::int32_t>(noise(i, 1)) % 31;
    lengths.write(&length, 1);
    entries += static_cast<std::size_t>(length);
  }
  for (std::size_t i = 0; i < entries; ++i) {
    const std::int32_t column = static_cast<std::int32_t>(noise(i, 2) % static_cast<Int>(n));
    const double value = unit(i, 3);
    columns.write(&column, 1);
    values.write(&value, 1);
  }
  return generate(n, [](std::size_t i) { return unit(i, 4); });
}

// Rows are read in groups of so many, which the threads share.
Array<double> product(const Array<double>& x) {
  constexpr std::size_t kRows = 8192;
  File lengths("lengths-peer.bin", "rb"), columns("columns-peer.bin", "rb"),
      values("values-peer.bin", "rb");
  Array<double> y(x.size());
  std::vector<std::int32_t> length(kRows), column;
  std::vector<std::size_t> start(kRows + 1);
  std::vector<double> value;
  for (std::size_t row = 0; row < x.size();) {
    const std::size_t rows = lengths.read(length.data(), kRows);
    for (std::size_t i = 0; i < rows; ++i) {
      start[i + 1] = start[i] + static_cast<std::size_t>(length[i]);
    }
    column.resize(start[rows]);
    value.resize(start[rows]);
    columns.read(column.data(), column.size());
    values.read(value.data(), value.size());
    parallel_for(
        rows,
        [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            double sum = 0;
            for (std::size_t k = start[i]; k < start[i + 1]; ++k) {
              sum += value[k] * x[static_cast<std::size_t>(column[k])];
            }
            y[row + i] = sum;
          }
        },
        512);
    row += rows;
  }
  return y;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, product, [](const Array<double>&, const Array<double>& y) {
    print(weighted_sum(y.size(), [&](std::size_t i) { return y[i]; }));
  });
}
