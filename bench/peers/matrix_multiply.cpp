#include "peer.hpp"

using namespace peer;

struct Matrices {
  std::size_t n;
  Array<double> a, b;
};

Matrices input(std::size_t n) {
  return {n, generate(n * n, [](std::size_t i) { return unit(i, 1); }),
          generate(n * n, [](std::size_t i) { return unit(i, 2); })};
}

Array<double> multiply(const Matrices& m) {
  const std::size_t n = m.n;
  Array<double> c(n * n);
  parallel_for(
      n,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          double* const row = c.begin() + i * n;
          for (std::size_t j = 0; j < n; ++j) row[j] = 0;
          for (std::size_t k = 0; k < n; ++k) {
            const double factor = m.a[i * n + k];
            const double* const other = m.b.begin() + k * n;
            for (std::size_t j = 0; j < n; ++j) row[j] += factor * other[j];
          }
        }
      },
      8);
  return c;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, multiply, [](const Matrices&, const Array<double>& c) {
    print(weighted_sum(c.size(), [&](std::size_t i) { return c[i]; }));
  });
}
