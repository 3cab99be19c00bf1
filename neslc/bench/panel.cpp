#include "neslc/bench/panel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

namespace neslc::bench {
namespace {

constexpr double kRight = 24, kTop = 30, kPlotHeight = 300, kBelow = 48;
constexpr double kLegendRow = 20;
constexpr double kMark = 4.2;
/// Told apart with every kind of color vision.
constexpr std::array<std::string_view, 7> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                     "#E69F00", "#56B4E9", "#000000"};
constexpr std::string_view kGrid = "#dddddd", kAxis = "#444444";

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  bool empty() const { return low > high; }
};

std::string power_text(int power) {
  constexpr std::array<std::string_view, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                        "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (power == 0) return "1";
  if (power == 1) return "10";
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(power))) {
    text += kDigits[static_cast<std::size_t>(c - '0')];
  }
  return text;
}

/// A power of ten of seconds.
std::string seconds_tick(int power) {
  constexpr std::array<std::string_view, 4> kUnits = {"ns", "µs", "ms", "s"};
  const int unit = std::clamp((power + 9) / 3, 0, 3);
  return fmt::format("{:g} {}", std::pow(10.0, power + 9 - 3 * unit),
                     kUnits[static_cast<std::size_t>(unit)]);
}

/// A round step, about five of which reach `most`.
double round_step(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (most <= 6 * factor * power) return factor * power;
  }
  return 10 * power;
}

/// Draws a panel: knows where values lie in the picture.
class Drawing {
 public:
  Drawing(Svg& svg, const Panel& panel, At corner)
      : svg_(svg),
        panel_(panel),
        left_(corner.x + Panel::kLeft),
        right_(corner.x + Panel::kWidth - kRight),
        top_(corner.y + kTop),
        bottom_(corner.y + kTop + kPlotHeight) {
    for (const Series& series : panel.series) {
      for (const Measured& point : series.points) add(point.n, point.value);
      for (const Bar& bar : series.bars) {
        add(bar.n, bar.low);
        add(bar.n, bar.high);
      }
    }
  }

  double draw() {
    svg_.text({left_, top_ - 12}, panel_.title, {.size = 14, .bold = true});
    if (x_.empty() || y_.empty()) {
      svg_.text({(left_ + right_) / 2, (top_ + bottom_) / 2}, "nothing was measured",
                {.anchor = "middle", .color = "#666666"});
    } else {
      widen();
      grid();
      for (const Series& series : panel_.series) draw_series(series);
    }
    svg_.line({left_, bottom_}, {right_, bottom_}, {.color = kAxis});
    svg_.line({left_, top_}, {left_, bottom_}, {.color = kAxis});
    svg_.text({(left_ + right_) / 2, bottom_ + 38}, "n", {.anchor = "middle", .size = 13});
    svg_.text({left_ - 66, (top_ + bottom_) / 2}, panel_.y_label,
              {.anchor = "middle", .size = 13, .turn = -90});
    return legend();
  }

 private:
  bool linear() const { return panel_.scale == Scale::Linear; }
  double scaled(double y) const { return linear() ? y : std::log10(y); }

  void add(double n, double value) {
    if (!linear() && value <= 0) return;
    x_.add(std::log10(n));
    y_.add(scaled(value));
  }

  /// Axes end at ticks, or at least beyond the values.
  void widen() {
    if (x_.high - x_.low < 0.1) x_ = {x_.low - 0.5, x_.high + 0.5};
    if (linear()) {
      const double step = round_step(std::max(y_.high, 1.0));
      y_ = {0, std::ceil(y_.high / step + 0.2) * step};
    } else {
      y_ = {std::floor(y_.low), std::ceil(y_.high)};
      if (y_.high == y_.low) ++y_.high;
    }
  }

  double x_of(double logarithm) const {
    constexpr double kMargin = 14;
    return left_ + kMargin +
           (logarithm - x_.low) / (x_.high - x_.low) * (right_ - left_ - 2 * kMargin);
  }
  double y_of(double value) const {
    return bottom_ - (value - y_.low) / (y_.high - y_.low) * (bottom_ - top_);
  }
  At at(double n, double value) const { return {x_of(std::log10(n)), y_of(scaled(value))}; }

  void x_tick(double logarithm, const std::string& text) {
    const double x = x_of(logarithm);
    svg_.line({x, top_}, {x, bottom_}, {.color = kGrid});
    svg_.text({x, bottom_ + 18}, text, {.anchor = "middle"});
  }

  void y_tick(double value, const std::string& text) {
    const double y = y_of(value);
    svg_.line({left_, y}, {right_, y}, {.color = kGrid});
    svg_.text({left_ - 7, y + 4}, text, {.anchor = "end"});
  }

  void grid() {
    const double first = std::ceil(x_.low - 1e-9), last = std::floor(x_.high + 1e-9);
    if (last - first >= 1) {
      for (double power = first; power <= last; ++power) {
        x_tick(power, power_text(static_cast<int>(power)));
      }
    } else {  // less than two powers of ten: the ends
      for (const double end : {x_.low, x_.high}) {
        x_tick(end, fmt::format("{:.0f}", std::pow(10.0, end)));
      }
    }
    if (linear()) {
      const double step = round_step(y_.high);
      for (double value = 0; value <= y_.high + step / 2; value += step) {
        y_tick(value, fmt::format("{:g}", value));
      }
      return;
    }
    const double stride = std::max(1.0, std::ceil((y_.high - y_.low) / 10));
    for (double power = y_.low; power <= y_.high; power += stride) {
      const int whole = static_cast<int>(power);
      y_tick(power, panel_.scale == Scale::Seconds ? seconds_tick(whole) : power_text(whole));
    }
  }

  void mark(std::size_t look, At at) {
    const std::string_view color = kColors[look % kColors.size()];
    switch (look % 4) {
      case 0:
        svg_.circle(at, kMark, color);
        break;
      case 1:
        svg_.rectangle({at.x - 3.8, at.y - 3.8}, 7.6, 7.6, color, {.color = color, .width = 0});
        break;
      case 2:
        svg_.polygon(std::array{At{at.x, at.y - 5}, At{at.x + 5, at.y + 4}, At{at.x - 5, at.y + 4}},
                     color);
        break;
      default:
        svg_.polygon(std::array{At{at.x, at.y - 5.4}, At{at.x + 5.4, at.y}, At{at.x, at.y + 5.4},
                                At{at.x - 5.4, at.y}},
                     color);
    }
  }

  void draw_series(const Series& series) {
    const std::string_view color = kColors[series.look % kColors.size()];
    std::vector<At> points;
    for (const Measured& point : series.points) {
      if (linear() || point.value > 0) points.push_back(at(point.n, point.value));
    }
    if (series.fitted) {
      svg_.polyline(points, {.color = color, .width = 1.4, .dashes = "6 4"});
      return;
    }
    svg_.polyline(points, {.color = color, .width = linear() ? 1.6 : 0.8});
    for (const Bar& bar : series.bars) {
      if (bar.low <= 0) continue;
      svg_.line(at(bar.n, bar.low), at(bar.n, bar.high), {.color = color, .width = 1.6});
    }
    for (const At& point : points) mark(series.look, point);
  }

  /// Below the axis. Returns the height of the panel.
  double legend() {
    double y = bottom_ + kBelow + kLegendRow / 2;
    for (const Series& series : panel_.series) {
      if (series.name.empty()) continue;
      const std::string_view color = kColors[series.look % kColors.size()];
      svg_.line({left_, y}, {left_ + 28, y}, {.color = color, .width = 1.2});
      mark(series.look, {left_ + 14, y});
      svg_.text({left_ + 38, y + 4}, series.name, {.size = 13});
      y += kLegendRow;
    }
    return y - top_ + kTop + kLegendRow / 2;
  }

  Svg& svg_;
  const Panel& panel_;
  double left_, right_, top_, bottom_;
  Range x_, y_;  // as logarithms, but for a linear axis
};

}  // namespace

std::size_t Panel::next_look() const {
  std::size_t next = 0;
  for (const Series& one : series) next = std::max(next, one.look + 1);
  return next;
}

double Panel::draw(Svg& svg, At corner) const {
  return Drawing(svg, *this, corner).draw();
}

}  // namespace neslc::bench
