#include "neslc/bench/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace neslc::bench {
namespace {

constexpr std::array kGrowths = {
    Growth{"constant", [](double) { return 1.0; }},
    Growth{"log2 n", [](double n) { return std::log2(n); }},
    Growth{"(log2 n)^2", [](double n) { return std::log2(n) * std::log2(n); }},
    Growth{"sqrt n", [](double n) { return std::sqrt(n); }},
    Growth{"n", [](double n) { return n; }},
    Growth{"n log2 n", [](double n) { return n * std::log2(n); }},
    Growth{"n (log2 n)^2", [](double n) { return n * std::log2(n) * std::log2(n); }},
    Growth{"n sqrt n", [](double n) { return n * std::sqrt(n); }},
    Growth{"n^2", [](double n) { return n * n; }},
    Growth{"n^2 log2 n", [](double n) { return n * n * std::log2(n); }},
    Growth{"n^3", [](double n) { return n * n * n; }},
};

/// A growth counts as fitting as well as the best one up to this factor and this difference.
constexpr double kAboutAsWell = 1.5;
constexpr double kSmall = 0.002;

/// Least squares of the relative deviations: with w = 1/y, (w c + w f g - 1)^2 is summed.
Fit fit_growth(const Growth& growth, std::span<const Measured> points, double floor) {
  double ww = 0, wg = 0, gg = 0, w1 = 0, g1 = 0;
  for (const Measured& point : points) {
    const double w = 1 / std::max(point.value, floor);
    const double g = w * growth.at(point.n);
    ww += w * w;
    wg += w * g;
    gg += g * g;
    w1 += w;
    g1 += g;
  }
  Fit result;
  result.growth = &growth;
  const double determinant = ww * gg - wg * wg;
  // Near 0 where the growth is the constant one.
  if (determinant > 1e-12 * ww * gg) {
    result.constant = (w1 * gg - g1 * wg) / determinant;
    result.factor = (ww * g1 - wg * w1) / determinant;
  } else {
    result.constant = w1 / ww;
  }
  if (result.constant < 0) {
    result.constant = 0;
    result.factor = g1 / gg;
  } else if (result.factor < 0) {
    result.constant = w1 / ww;
    result.factor = 0;
  }
  // What is left of rounding.
  const double most = growth.at(points.back().n);
  if (result.factor * most < 1e-9 * result.constant) result.factor = 0;
  double sum = 0;
  for (const Measured& point : points) {
    const double off = std::log(result.at(point.n) / std::max(point.value, floor));
    sum += off * off;
  }
  result.deviation = std::expm1(std::sqrt(sum / static_cast<double>(points.size())));
  return result;
}

}  // namespace

std::span<const Growth> growths() {
  return kGrowths;
}

std::optional<Fits> fit(std::span<const Measured> points) {
  if (points.size() < kLeastPoints) return std::nullopt;
  double greatest = 0;
  for (const Measured& point : points) greatest = std::max(greatest, point.value);
  if (greatest == 0) return Fits{{.growth = &kGrowths.front()}, {}};
  // Relative deviations from 0 mean nothing.
  const double floor = greatest * 1e-12;
  std::vector<Fit> fits;
  for (const Growth& growth : kGrowths) fits.push_back(fit_growth(growth, points, floor));
  const auto less = [](const Fit& a, const Fit& b) { return a.deviation < b.deviation; };
  const double limit =
      std::min_element(fits.begin(), fits.end(), less)->deviation * kAboutAsWell + kSmall;
  const auto chosen = std::find_if(fits.begin(), fits.end(),
                                   [&](const Fit& found) { return found.deviation <= limit; });
  Fits result{*chosen, {}};
  for (auto other = fits.begin(); other != fits.end(); ++other) {
    // Without its factor a growth is the constant one.
    if (other == chosen || (other != fits.begin() && other->factor == 0)) continue;
    if (!result.next || less(*other, *result.next)) result.next = *other;
  }
  return result;
}

}  // namespace neslc::bench
