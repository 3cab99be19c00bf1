#include "peer.hpp"

using namespace peer;

struct Matrix {
  Array<Int> row_begin;  // one more than rows
  Array<Int> column;
  Array<double> value;
  Array<double> x;
};

Matrix input(std::size_t n) {
  const std::size_t rows = n / 11 + 1;
  Array<Int> row_begin(rows + 1);
  row_begin[0] = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    row_begin[i + 1] = row_begin[i] + 65536 / (1 + noise(i, 1) % 65536);
  }
  const auto nonzeros = static_cast<std::size_t>(row_begin[rows]);
  return {std::move(row_begin),
          generate(nonzeros, [&](std::size_t i) { return noise(i, 2) % static_cast<Int>(rows); }),
          generate(nonzeros, [](std::size_t i) { return unit(i, 3); }),
          generate(rows, [](std::size_t i) { return unit(i, 4); })};
}

Array<double> multiply(const Matrix& m) {
  const std::size_t rows = m.x.size();
  Array<double> product(rows);
  parallel_for(
      rows,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
          double sum = 0;
          for (Int k = m.row_begin[row]; k < m.row_begin[row + 1]; ++k) {
            sum += m.value[k] * m.x[m.column[k]];
          }
          product[row] = sum;
        }
      },
      256);
  return product;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, multiply, [](const Matrix&, const Array<double>& product) {
    print(weighted_sum(product.size(), [&](std::size_t i) { return product[i]; }));
  });
}
