#include <cmath>

#include "peer.hpp"

using namespace peer;

struct Bodies {
  Array<double> mass, x, y;
};

struct Accelerations {
  Array<double> x, y;
};

Bodies input(std::size_t n) {
  return {generate(n, [](std::size_t i) { return unit(i, 1); }),
          generate(n, [](std::size_t i) { return unit(i, 2); }),
          generate(n, [](std::size_t i) { return unit(i, 3); })};
}

Accelerations accelerations(const Bodies& bodies) {
  const std::size_t n = bodies.mass.size();
  const double* const mass = bodies.mass.begin();
  const double* const x = bodies.x.begin();
  const double* const y = bodies.y.begin();
  Accelerations result{Array<double>(n), Array<double>(n)};
  parallel_for(
      n,
      [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          double ax = 0;
          double ay = 0;
          for (std::size_t j = 0; j < n; ++j) {
            const double dx = x[j] - x[i];
            const double dy = y[j] - y[i];
            const double d2 = dx * dx + dy * dy + 0.01;
            const double force = mass[j] / (d2 * std::sqrt(d2));
            ax += force * dx;
            ay += force * dy;
          }
          result.x[i] = ax;
          result.y[i] = ay;
        }
      },
      16);
  return result;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, accelerations, [](const Bodies&, const Accelerations& result) {
    double sum = 0;
    for (std::size_t i = 0; i < result.x.size(); ++i) {
      sum += std::fabs(result.x[i]) + std::fabs(result.y[i]);
    }
    print(sum);
  });
}
