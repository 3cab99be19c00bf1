#include "quickhull.hpp"

using namespace peer;

Array<Point> input(std::size_t n) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    const Point p{2.0 * unit(i, 1) - 1.0, 2.0 * unit(i, 2) - 1.0};
    if (p.x * p.x + p.y * p.y < 1.0) points.push_back(p);
  }
  return generate(points.size(), [&](std::size_t i) { return points[i]; });
}

int main(int argc, char** argv) {
  return run(argc, argv, input, convex_hull, print_hull);
}
