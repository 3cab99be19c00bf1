// Line plots as SVG, by themselves: the machine with the GPU may have no plotting program.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace gpu_report {

struct Series {
  std::string name;                               // empty: not in the legend
  std::vector<std::pair<double, double>> points;  // x above 0
  bool dashed = false;                            // for what is compared with
  int color = -1;  // which of the colors; series of one color belong together; -1: the next
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<Series> series;
};

/// x on a logarithmic axis of base 2, y linear from 0.
std::string svg(const Plot& plot);

}  // namespace gpu_report
