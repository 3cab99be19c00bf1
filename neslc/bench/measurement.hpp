// What was measured: the costs and times of an expression for each size.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neslc/bench/fit.hpp"
#include "neslc/bench/plan.hpp"
#include "neslc/evaluation/cost.hpp"

namespace neslc::bench {

/// The times of one size on so many threads.
struct Timing {
  int threads = 0;              // as in the plan
  std::vector<double> seconds;  // of each repetition, ascending, not empty

  double minimum() const { return seconds.front(); }
  double median() const;
};

struct Point {
  std::int64_t n = 0;
  std::optional<Cost> cost;  // nothing if the memory does not suffice to measure it
  std::vector<Timing> timings;
  std::string failure;  // empty: none; the timings before it are kept
};

struct Measurements {
  Plan plan;
  std::string program;  // its file; empty: none
  std::string machine;
  std::vector<Point> points;

  std::vector<Measured> works() const { return costs(&Cost::work); }
  std::vector<Measured> depths() const { return costs(&Cost::depth); }
  /// The least ones on so many threads, which say most about the program: whatever else the machine
  /// does can only lengthen a run.
  std::vector<Measured> times(int threads) const;

 private:
  std::vector<Measured> costs(std::uint64_t Cost::*measure) const;
};

/// The least time on the first number of threads divided by that of `timing`; nothing where
/// `timing` is the first one.
std::optional<double> speed_up(const Point& point, const Timing& timing);

}  // namespace neslc::bench
