#include <array>

#include "peer.hpp"

using namespace peer;

constexpr std::size_t kCoordinates = 16;

using Point = std::array<double, kCoordinates>;

struct Table {
  std::array<Point, kCoordinates> rows{};

  Table operator+(const Table& other) const {
    Table sum = *this;
    for (std::size_t i = 0; i < kCoordinates; ++i) {
      for (std::size_t j = 0; j < kCoordinates; ++j) sum.rows[i][j] += other.rows[i][j];
    }
    return sum;
  }
};

Table covariances(const Array<Point>& points) {
  const auto n = static_cast<double>(points.size());
  const Table means = parallel_sum<Table>(points.size(), [&](std::size_t begin, std::size_t end) {
    Table sum;
    for (std::size_t p = begin; p < end; ++p) {
      for (std::size_t j = 0; j < kCoordinates; ++j) sum.rows[0][j] += points[p][j] / n;
    }
    return sum;
  });
  return parallel_sum<Table>(points.size(), [&](std::size_t begin, std::size_t end) {
    Table sum;
    for (std::size_t p = begin; p < end; ++p) {
      Point centered;
      for (std::size_t j = 0; j < kCoordinates; ++j) {
        centered[j] = points[p][j] - means.rows[0][j];
      }
      for (std::size_t i = 0; i < kCoordinates; ++i) {
        for (std::size_t j = 0; j < kCoordinates; ++j) {
          sum.rows[i][j] += centered[i] * centered[j];
        }
      }
    }
    for (Point& row : sum.rows) {
      for (double& x : row) x /= n;
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
            point[j] = unit(i * kCoordinates + j, 1) * static_cast<double>(j + 1);
          }
          return point;
        });
      },
      [](const Array<Point>& points) { return covariances(points); },
      [](const Array<Point>&, const Table& table) {
        double sum = 0;
        for (std::size_t i = 0; i < kCoordinates; ++i) {
          for (std::size_t j = 0; j < kCoordinates; ++j) {
            sum += static_cast<double>(i + 2 * j + 1) * table.rows[i][j];
          }
        }
        print(sum);
      });
}
