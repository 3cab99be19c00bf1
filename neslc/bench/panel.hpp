// One diagram: series against n, with axes and legend.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "neslc/bench/fit.hpp"
#include "neslc/command/svg.hpp"

namespace neslc::bench {

/// A range of values at n.
struct Bar {
  double n = 0;
  double low = 0;
  double high = 0;
};

struct Series {
  std::string name = {};  // in the legend; empty: none
  std::size_t look = 0;   // which color and mark
  bool fitted = false;    // a dashed line without marks
  std::vector<Measured> points = {};
  std::vector<Bar> bars = {};
};

enum class Scale {
  Counts,   // logarithmic
  Seconds,  // logarithmic
  Linear,   // from 0
};

struct Panel {
  static constexpr double kWidth = 470;
  static constexpr double kLeft = 84;

  std::string title;
  std::string y_label;
  Scale scale = Scale::Counts;
  std::vector<Series> series;

  /// One that no series has yet.
  std::size_t next_look() const;
  /// Draws it to the right of and below `corner`. Returns its height.
  double draw(Svg& svg, At corner) const;
};

}  // namespace neslc::bench
