#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <tbb/combinable.h>

#include "peer.hpp"

using namespace peer;

constexpr std::size_t kMost = 16;
constexpr std::size_t kLanes = 16;  // points side by side

struct Sums {
  std::array<double, kMost> sums{};
  std::array<std::size_t, kMost> counts{};
};

void add_nearest(const double* points, std::size_t count, const std::vector<double>& centers,
                 Sums& sums) {
  double least[kLanes];
  Int nearest[kLanes] = {};
  double lanes[kLanes] = {};
  for (std::size_t i = 0; i < count; ++i) lanes[i] = points[i];
  for (std::size_t i = 0; i < kLanes; ++i) least[i] = std::fabs(lanes[i] - centers[0]);
  for (std::size_t c = 1; c < centers.size(); ++c) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const double distance = std::fabs(lanes[i] - centers[c]);
      nearest[i] = distance < least[i] ? static_cast<Int>(c) : nearest[i];
      least[i] = distance < least[i] ? distance : least[i];
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    sums.sums[static_cast<std::size_t>(nearest[i])] += points[i];
    ++sums.counts[static_cast<std::size_t>(nearest[i])];
  }
}

std::vector<double> moved(const Array<double>& points, const std::vector<double>& centers) {
  tbb::combinable<Sums> parts;
  parallel_for(points.size(), [&](std::size_t begin, std::size_t end) {
    Sums& own = parts.local();
    for (std::size_t i = begin; i < end; i += kLanes) {
      add_nearest(points.begin() + i, std::min(kLanes, end - i), centers, own);
    }
  });
  Sums all;
  parts.combine_each([&](const Sums& part) {
    for (std::size_t c = 0; c < kMost; ++c) {
      all.sums[c] += part.sums[c];
      all.counts[c] += part.counts[c];
    }
  });
  std::vector<double> result;
  for (std::size_t c = 0; c < centers.size(); ++c) {
    if (all.counts[c] > 0) result.push_back(all.sums[c] / static_cast<double>(all.counts[c]));
  }
  return result;
}

int main(int argc, char** argv) {
  return run(
      argc, argv,
      [](std::size_t n) { return generate(n, [](std::size_t i) { return unit(i, 1); }); },
      [](const Array<double>& points) {
        std::vector<double> centers;
        for (int i = 0; i < 16; ++i) centers.push_back(i / 32.0);
        for (int k = 0; k < 10; ++k) centers = moved(points, centers);
        return centers;
      },
      [](const Array<double>&, const std::vector<double>& centers) {
        double sum = 0;
        for (std::size_t c = 0; c < centers.size(); ++c) {
          sum += static_cast<double>(c + 1) * centers[c];
        }
        print(sum);
      });
}
