#include "neslc/bench/measurement.hpp"

namespace neslc::bench {

double Timing::median() const {
  const std::size_t middle = seconds.size() / 2;
  if (seconds.size() % 2 == 1) return seconds[middle];
  return (seconds[middle - 1] + seconds[middle]) / 2;
}

std::vector<Measured> Measurements::costs(std::uint64_t Cost::*measure) const {
  std::vector<Measured> result;
  for (const Point& point : points) {
    if (!point.cost) continue;
    result.push_back({static_cast<double>(point.n), static_cast<double>(*point.cost.*measure)});
  }
  return result;
}

std::vector<Measured> Measurements::times(int threads) const {
  std::vector<Measured> result;
  for (const Point& point : points) {
    for (const Timing& timing : point.timings) {
      if (timing.threads != threads) continue;
      result.push_back({static_cast<double>(point.n), timing.minimum()});
    }
  }
  return result;
}

std::optional<double> speed_up(const Point& point, const Timing& timing) {
  const Timing& first = point.timings.front();
  if (&first == &timing || timing.minimum() <= 0) return std::nullopt;
  return first.minimum() / timing.minimum();
}

}  // namespace neslc::bench
