#include "quickhull.hpp"

using namespace peer;

Point on_circle(double a) {
  const double s = 1.0 + a * a;
  return {(1.0 - a * a) / s, 2.0 * a / s};
}

Array<Point> input(std::size_t n) {
  return generate(n, [](std::size_t i) {
    const Point p = on_circle(2.0 * unit(i, 1) - 1.0);
    return noise(i, 2) % 2 == 1 ? p : Point{-p.x, -p.y};
  });
}

int main(int argc, char** argv) {
  return run(argc, argv, input, convex_hull, print_hull);
}
