#include <algorithm>
#include <vector>

#include "peer.hpp"

using namespace peer;

constexpr int kSteps = 100;

// Points side by side go on together until all of them have escaped.
constexpr std::size_t kLanes = 16;

struct Points {
  Array<double> x, y;
};

Points input(std::size_t n) {
  const double width = static_cast<double>(n);
  return {generate(n * n,
                   [=](std::size_t i) { return -2.0 + 3.0 * static_cast<double>(i % n) / width; }),
          generate(n * n,
                   [=](std::size_t i) { return -1.5 + 3.0 * static_cast<double>(i / n) / width; })};
}

// Counts, for each lane, the rounds before the one in which it escapes.
void escape_times(const double* cx, const double* cy, std::size_t lanes, Int* times) {
  double px[kLanes] = {};
  double py[kLanes] = {};
  double x[kLanes] = {};
  double y[kLanes] = {};
  double inside[kLanes];  // 1 until the lane escapes
  double count[kLanes] = {};
  for (std::size_t i = 0; i < kLanes; ++i) {
    px[i] = cx[std::min(i, lanes - 1)];
    py[i] = cy[std::min(i, lanes - 1)];
    inside[i] = 1;
  }
  for (int step = 0; step < kSteps; ++step) {
    double left = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double moved = x[i] * x[i] - y[i] * y[i] + px[i];
      y[i] = 2.0 * x[i] * y[i] + py[i];
      x[i] = moved;
      inside[i] = x[i] * x[i] + y[i] * y[i] > 4.0 ? 0.0 : inside[i];
      count[i] += inside[i];
    }
    for (std::size_t i = 0; i < kLanes; ++i) left = std::max(left, inside[i]);
    if (left == 0) break;
  }
  for (std::size_t i = 0; i < lanes; ++i) times[i] = static_cast<Int>(count[i]);
}

Array<Int> mandelbrot(const Points& points) {
  const std::size_t n = points.x.size();
  Array<Int> times(n);
  parallel_for(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += kLanes) {
      escape_times(points.x.begin() + i, points.y.begin() + i, std::min(kLanes, end - i),
                   times.begin() + i);
    }
  });
  return times;
}

int main(int argc, char** argv) {
  return run(argc, argv, input, mandelbrot,
             [](const Points&, const Array<Int>& times) { print(fingerprint(times)); });
}
