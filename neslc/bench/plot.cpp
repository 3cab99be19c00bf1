#include "neslc/bench/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "neslc/bench/panel.hpp"

namespace neslc::bench {
namespace {

constexpr double kTitleHeight = 64;
constexpr std::size_t kLongestTitle = 90;  // characters
constexpr double kSmoothSteps = 60;        // of a fitted line

/// The measurements, and the growth that fits them.
void add_series(Panel& panel, const std::string& name, const std::vector<Measured>& points,
                std::vector<Bar> bars = {}) {
  if (points.empty()) return;
  const std::size_t look = panel.next_look();
  const std::optional<Fits> fits = fit(points);
  const bool fitting = fits && fits->chosen.deviation <= kPoorFit;
  Series series{.name = name, .look = look, .points = points, .bars = std::move(bars)};
  if (fitting) series.name += fmt::format(": {}", fits->chosen.growth->name);
  panel.series.push_back(std::move(series));
  if (!fitting) return;
  Series line{.look = look, .fitted = true};
  const double low = points.front().n, high = points.back().n;
  for (double step = 0; step <= kSmoothSteps; ++step) {
    const double n = low * std::pow(high / low, step / kSmoothSteps);
    line.points.push_back({n, fits->chosen.at(n)});
  }
  panel.series.push_back(std::move(line));
}

Panel cost_panel(const Measurements& measurements) {
  Panel panel;
  panel.title = "Work and depth";
  panel.y_label = "vector elements; chained operations";
  add_series(panel, "work", measurements.works());
  add_series(panel, "depth", measurements.depths());
  return panel;
}

Panel time_panel(const Measurements& measurements) {
  Panel panel;
  panel.title = "Time";
  panel.y_label = "least time of all runs; bars end at the median";
  panel.scale = Scale::Seconds;
  for (const int threads : measurements.plan.threads) {
    std::vector<Bar> bars;
    for (const Point& point : measurements.points) {
      for (const Timing& timing : point.timings) {
        if (timing.threads != threads) continue;
        bars.push_back({static_cast<double>(point.n), timing.minimum(), timing.median()});
      }
    }
    add_series(panel, threads_text(threads), measurements.times(threads), std::move(bars));
  }
  return panel;
}

Panel speed_up_panel(const Measurements& measurements) {
  Panel panel;
  const std::vector<int>& threads = measurements.plan.threads;
  panel.title = "Speed-up over " + threads_text(threads.front());
  panel.y_label = "times faster";
  panel.scale = Scale::Linear;
  for (std::size_t i = 1; i < threads.size(); ++i) {
    std::vector<Measured> points;
    for (const Point& point : measurements.points) {
      for (const Timing& timing : point.timings) {
        const std::optional<double> faster = speed_up(point, timing);
        if (timing.threads != threads[i] || !faster) continue;
        points.push_back({static_cast<double>(point.n), *faster});
      }
    }
    // The looks of the other panel, where the first number of threads has one too.
    panel.series.push_back(
        {.name = threads_text(threads[i]), .look = i, .points = std::move(points)});
  }
  return panel;
}

std::string shortened(const std::string& text) {
  return text.size() <= kLongestTitle ? text : text.substr(0, kLongestTitle - 3) + "...";
}

}  // namespace

std::string plot(const Measurements& measurements) {
  std::vector<Panel> panels = {cost_panel(measurements), time_panel(measurements)};
  if (measurements.plan.threads.size() > 1) panels.push_back(speed_up_panel(measurements));
  Svg svg;
  const std::string title = shortened(measurements.plan.expression);
  svg.text({Panel::kLeft, 28}, title, {.size = 18, .bold = true, .monospace = true});
  std::string below = measurements.machine;
  if (!measurements.program.empty()) below = measurements.program + ", " + below;
  svg.text({Panel::kLeft, 48}, shortened(below), {.size = 12, .color = "#666666"});
  double x = 0, height = 0;
  for (const Panel& panel : panels) {
    height = std::max(height, panel.draw(svg, {x, kTitleHeight}));
    x += Panel::kWidth;
  }
  return svg.file(x, kTitleHeight + height, title);
}

}  // namespace neslc::bench
