// A vector as a row of cells, those of a segment together in a frame.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "neslc/command/svg.hpp"
#include "neslc/graph/data_flow.hpp"

namespace neslc::graph {

class Cells {
 public:
  static constexpr double kHeight = 24;

  Cells(const DataFlow& flow, std::size_t datum);

  double width() const { return width_; }
  void draw(Svg& svg, At corner, std::string_view color) const;

  /// The elements in their frames; the last text may say how many are left out.
  const std::vector<std::vector<std::string>>& frames() const { return frames_; }

 private:
  std::vector<std::vector<std::string>> frames_;
  bool descriptor_ = false;
  double width_ = 0;
};

}  // namespace neslc::graph
