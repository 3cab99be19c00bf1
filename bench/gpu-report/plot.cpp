#include "bench/gpu-report/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "bench/gpu-report/table.hpp"

namespace gpu_report {
namespace {

constexpr double kWidth = 760, kHeight = 460;
constexpr double kLeft = 70, kRight = 190, kTop = 40, kBottom = 50;
constexpr std::array<std::string_view, 10> kColors = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd",
                                                      "#ff7f0e", "#8c564b", "#e377c2", "#17becf",
                                                      "#bcbd22", "#7f7f7f"};

std::string text_at(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string line_between(double x1, double y1, double x2, double y2, std::string_view color) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2,
      y2, color);
}

/// A round number so that about five steps of it reach `most`.
double round_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (most / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string svg(const Plot& plot) {
  double low = 1e300, high = 0, most = 1e-9;
  for (const Series& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      low = std::min(low, std::log2(x));
      high = std::max(high, std::log2(x));
      most = std::max(most, y);
    }
  }
  if (low > high) low = high = 0;
  const double step = round_step(most);
  const double top = std::ceil(most / step) * step;
  const double width = kWidth - kLeft - kRight, height = kHeight - kTop - kBottom;
  const auto at_x = [&](double x) {
    return kLeft + (high > low ? (x - low) / (high - low) * width : width / 2);
  };
  const auto at_y = [&](double y) { return kTop + height - y / top * height; };

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  out += text_at(kLeft, kTop - 18, "start", plot.title);
  for (double y = 0; y <= top + step / 2; y += step) {
    out += line_between(kLeft, at_y(y), kLeft + width, at_y(y), "#dddddd");
    out += text_at(kLeft - 6, at_y(y) + 4, "end", fmt::format("{:g}", y));
  }
  for (double x = std::ceil(low); x <= high; x += std::max(1.0, std::ceil((high - low) / 10))) {
    out += line_between(at_x(x), kTop, at_x(x), kTop + height, "#eeeeee");
    out += text_at(at_x(x), kTop + height + 16, "middle", fmt::format("2^{:g}", x));
  }
  out += text_at(kLeft + width / 2, kHeight - 10, "middle", plot.x_label);
  out += fmt::format(
      "<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
      kTop + height / 2, escaped(plot.y_label));
  int named = 0;
  for (std::size_t k = 0; k < plot.series.size(); ++k) {
    const Series& series = plot.series[k];
    const std::size_t chosen = series.color < 0 ? k : static_cast<std::size_t>(series.color);
    const std::string_view color = kColors[chosen % kColors.size()];
    out += fmt::format("<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"{} points=\"",
                       color, series.dashed ? " stroke-dasharray=\"6 4\"" : "");
    for (const auto& [x, y] : series.points) {
      out += fmt::format("{:.1f},{:.1f} ", at_x(std::log2(x)), at_y(y));
    }
    out += "\"/>\n";
    if (series.name.empty()) continue;
    const double row = kTop + 10 + 16 * static_cast<double>(named++);
    out += line_between(kLeft + width + 10, row, kLeft + width + 30, row, color);
    out += text_at(kLeft + width + 36, row + 4, "start", series.name);
  }
  return out + "</svg>\n";
}

}  // namespace gpu_report
