#include "peer.hpp"

using namespace peer;

constexpr std::size_t kCoordinates = 16;

struct Point {
  double at[kCoordinates];

  Point operator+(const Point& other) const {
    Point sum;
    for (std::size_t j = 0; j < kCoordinates; ++j) sum.at[j] = at[j] + other.at[j];
    return sum;
  }
};

struct Table {
  Point rows[kCoordinates];

  Table operator+(const Table& other) const {
    Table sum;
    for (std::size_t i = 0; i < kCoordinates; ++i) sum.rows[i] = rows[i] + other.rows[i];
    return sum;
  }
};

Table covariances(const Array<Point>& points) {
  const auto n = static_cast<double>(points.size());
  Point means = parallel_sum<Point>(points.size(), [&](std::size_t begin, std::size_t end) {
    Point sum{};
    for (std::size_t p = begin; p < end; ++p) sum = sum + points[p];
    return sum;
  });
  for (double& mean : means.at) mean /= n;
  return parallel_sum<Table>(points.size(), [&](std::size_t begin, std::size_t end) {
    Table sum{};
    for (std::size_t p = begin; p < end; ++p) {
      Point centered;
      for (std::size_t j = 0; j < kCoordinates; ++j) {
        centered.at[j] = points[p].at[j] - means.at[j];
      }
      for (std::size_t i = 0; i < kCoordinates; ++i) {
        for (std::size_t j = 0; j < kCoordinates; ++j) {
          sum.rows[i].at[j] += centered.at[i] * centered.at[j];
        }
      }
    }
    for (Point& row : sum.rows) {
      for (double& x : row.at) x /= n;
    }
    return sum;
  });
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) {
        return generate(n, [](std::size_t i) {
          Point point;
          for (std::size_t j = 0; j < kCoordinates; ++j) {
            point.at[j] = unit(i * kCoordinates + j, 1) * static_cast<double>(j + 1);
          }
          return point;
        });
      },
      [](const Array<Point>& points) { return covariances(points); },
      [](const Array<Point>&, const Table& table) {
        double sum = 0;
        for (std::size_t i = 0; i < kCoordinates; ++i) {
          for (std::size_t j = 0; j < kCoordinates; ++j) {
            sum += static_cast<double>(i + 2 * j + 1) * table.rows[i].at[j];
          }
        }
        print(sum);
      });
}
