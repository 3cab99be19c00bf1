#include "neslc/bench/report.hpp"

#include <utility>

#include <fmt/format.h>

#include "machine/json.hpp"
#include "machine/report_text.hpp"

namespace neslc::bench {
namespace {

constexpr const char* kRow = "{:>12} {:>14} {:>8} {:>7} {:>10} {:>10} {:>6} {:>8}";

std::string row(std::string_view n, std::string_view work, std::string_view depth,
                std::string_view threads, std::string_view minimum, std::string_view median,
                std::string_view runs, std::string_view speed_up) {
  std::string line =
      fmt::format(fmt::runtime(kRow), n, work, depth, threads, minimum, median, runs, speed_up);
  while (line.ends_with(' ')) line.pop_back();
  return line + "\n";
}

std::string percent(double share) {
  return share < 10 ? fmt::format("{:.1f} %", 100 * share) : "more than 1000 %";
}

/// `4.12 us * n log2 n + 30.1 us`.
template <class Number>
std::string formula(const Fit& fit, const Number& number) {
  std::string text;
  if (fit.factor > 0) text = number(fit.factor) + " * " + std::string(fit.growth->name);
  if (fit.constant > 0 || text.empty()) {
    text += (text.empty() ? "" : " + ") + number(fit.constant);
  }
  return text;
}

template <class Number>
std::string growth_line(const std::string& what, const std::vector<Measured>& points,
                        const Number& number) {
  const std::optional<Fits> fits = fit(points);
  if (!fits) {
    return fmt::format("{:<18} not fitted: that takes {} sizes\n", what, kLeastPoints);
  }
  const Fit& chosen = fits->chosen;
  const std::string next = fits->next
                               ? fmt::format("; next {}, off by {}", fits->next->growth->name,
                                             percent(fits->next->deviation))
                               : "";
  return fmt::format("{:<18} {}{:<14} off by {:<8} {}{}\n", what,
                     chosen.deviation > kPoorFit ? "nothing fits; nearest " : "",
                     chosen.growth->name, percent(chosen.deviation), formula(chosen, number), next);
}

std::string count_text(double value) {
  return fmt::format("{:.4g}", value);
}

std::string seconds_text(double value) {
  return value < 1e-6 ? fmt::format("{:.3g} ns", value * 1e9) : vinterp::format_seconds(value);
}

std::string json_growth(const std::vector<Measured>& points) {
  const std::optional<Fits> fits = fit(points);
  if (!fits) return "null";
  const Fit& chosen = fits->chosen;
  return fmt::format("{{\"growth\":{},\"factor\":{},\"constant\":{},\"deviation\":{}}}",
                     vinterp::json_string(chosen.growth->name), chosen.factor, chosen.constant,
                     chosen.deviation);
}

std::string json_point(const Point& point) {
  std::string text = fmt::format("{{\"n\":{},\"cost\":", point.n);
  if (point.cost) {
    text += fmt::format("{{\"work\":{},\"depth\":{},\"operations\":{},\"longest\":{}}}",
                        point.cost->work, point.cost->depth, point.cost->operations,
                        point.cost->longest);
  } else {
    text += "null";
  }
  text += ",\"times\":[";
  for (const Timing& timing : point.timings) {
    text += fmt::format("{}{{\"threads\":{},\"seconds\":[{}]}}",
                        &timing == &point.timings.front() ? "" : ",", timing.threads,
                        fmt::join(timing.seconds, ","));
  }
  text += "],\"failure\":";
  text += point.failure.empty() ? "null" : vinterp::json_string(point.failure);
  return text + "}";
}

}  // namespace

std::string table_head() {
  return row("n", "work", "depth", "threads", "minimum", "median", "runs", "speed-up");
}

std::string table_rows(const Point& point) {
  std::string n = std::to_string(point.n), work = "-", depth = "-";
  if (point.cost) {
    work = std::to_string(point.cost->work);
    depth = std::to_string(point.cost->depth);
  }
  std::string lines;
  for (const Timing& timing : point.timings) {
    const std::optional<double> faster = speed_up(point, timing);
    const std::string threads = timing.threads == 0 ? "all" : std::to_string(timing.threads);
    lines += row(n, work, depth, threads, vinterp::format_seconds(timing.minimum()),
                 vinterp::format_seconds(timing.median()), std::to_string(timing.seconds.size()),
                 faster ? fmt::format("{:.2f}", *faster) : "");
    n = work = depth = "";
  }
  if (!point.failure.empty()) {
    lines += fmt::format("{:>12} {:>14} {:>8} failed: {}\n", n, work, depth, point.failure);
  }
  return lines;
}

std::string growth_text(const Measurements& measurements) {
  std::string text = growth_line("work", measurements.works(), count_text);
  text += growth_line("depth", measurements.depths(), count_text);
  for (const int threads : measurements.plan.threads) {
    text +=
        growth_line("time, " + threads_text(threads), measurements.times(threads), seconds_text);
  }
  return text;
}

std::string csv(const Measurements& measurements) {
  std::string text = "n,threads,work,depth,operations,longest,minimum,median,runs,failed\n";
  for (const Point& point : measurements.points) {
    std::string cost = ",,,";
    if (point.cost) {
      cost = fmt::format("{},{},{},{}", point.cost->work, point.cost->depth, point.cost->operations,
                         point.cost->longest);
    }
    for (const Timing& timing : point.timings) {
      text += fmt::format("{},{},{},{},{},{},no\n", point.n, timing.threads, cost, timing.minimum(),
                          timing.median(), timing.seconds.size());
    }
    if (!point.failure.empty()) text += fmt::format("{},,{},,,,yes\n", point.n, cost);
  }
  return text;
}

std::string json(const Measurements& measurements) {
  std::string text = fmt::format(
      "{{\"program\":{},\"expression\":{},\"setup\":{},\"machine\":{},\n\"points\":[",
      vinterp::json_string(measurements.program),
      vinterp::json_string(measurements.plan.expression),
      vinterp::json_string(measurements.plan.setup), vinterp::json_string(measurements.machine));
  for (const Point& point : measurements.points) {
    text += (&point == &measurements.points.front() ? "\n" : ",\n") + json_point(point);
  }
  text += fmt::format("],\n\"growth\":{{\"work\":{},\"depth\":{},\"times\":[",
                      json_growth(measurements.works()), json_growth(measurements.depths()));
  bool first = true;
  for (const int threads : measurements.plan.threads) {
    text += fmt::format("{}{{\"threads\":{},\"fit\":{}}}", std::exchange(first, false) ? "" : ",",
                        threads, json_growth(measurements.times(threads)));
  }
  return text + "]}}\n";
}

}  // namespace neslc::bench
