// The convex hull of points in the plane by quickhull, as in nesl-examples/nesl/convex_hull.nesl.
#pragma once

#include <algorithm>
#include <vector>

#include <tbb/parallel_invoke.h>

#include "peer.hpp"

namespace peer {

struct Point {
  double x, y;
};

inline double cross(Point a, Point b, Point p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/// The hull from `a` up to, but not including, `b` over the points on the left of this line.
/// `points` may be put into another order.
inline std::vector<Point> upper(Point* begin, Point* end, Point a, Point b) {
  if (begin == end) return {a};
  Point far = *begin;
  double height = 0;
  for (const Point* p = begin; p != end; ++p) {
    const double h = cross(a, b, *p);
    if (h > height) {
      height = h;
      far = *p;
    }
  }
  Point* const middle = std::partition(begin, end, [&](Point p) { return cross(a, far, p) > 0; });
  Point* const last = std::partition(middle, end, [&](Point p) { return cross(far, b, p) > 0; });
  std::vector<Point> left;
  std::vector<Point> right;
  const auto go_left = [&] { left = upper(begin, middle, a, far); };
  const auto go_right = [&] { right = upper(middle, last, far, b); };
  if (last - begin < 4096) {
    go_left();
    go_right();
  } else {
    tbb::parallel_invoke(go_left, go_right);
  }
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

inline std::vector<Point> convex_hull(const Array<Point>& input) {
  const auto by_x = [](Point p, Point q) { return p.x < q.x; };
  const Point a = *std::min_element(input.begin(), input.end(), by_x);
  const Point b = *std::max_element(input.begin(), input.end(), by_x);
  std::vector<Point> over;
  std::vector<Point> under;
  const auto side = [&](Point from, Point to, std::vector<Point>& hull) {
    std::vector<Point> points;
    std::copy_if(input.begin(), input.end(), std::back_inserter(points),
                 [&](Point p) { return cross(from, to, p) > 0; });
    hull = upper(points.data(), points.data() + points.size(), from, to);
  };
  tbb::parallel_invoke([&] { side(a, b, over); }, [&] { side(b, a, under); });
  over.insert(over.end(), under.begin(), under.end());
  return over;
}

inline void print_hull(const Array<Point>&, const std::vector<Point>& hull) {
  double sum = 0;
  for (const Point p : hull) sum += p.x + 2.0 * p.y;
  print(static_cast<Int>(hull.size()));
  print(sum);
}

}  // namespace peer
