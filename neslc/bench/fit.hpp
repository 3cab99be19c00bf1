// Which growth a series of measurements shows.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace neslc::bench {

/// A function of n that programs are compared with.
struct Growth {
  std::string_view name;  // "n log2 n"
  double (*at)(double n);
};

/// In the order of their growth.
std::span<const Growth> growths();

/// `constant + factor * growth(n)`, neither of them negative, with the least squares of the
/// relative deviations from the measurements.
struct Fit {
  const Growth* growth = nullptr;
  double constant = 0;
  double factor = 0;
  /// The factor, less 1, that measurements are off by: 0.02 is 2 %. Factors are averaged by the
  /// mean square of their logarithms, so that to be too low by half counts as much as to be double.
  double deviation = 0;

  double at(double n) const { return constant + factor * growth->at(n); }
};

/// Beyond this deviation a fit says nothing.
inline constexpr double kPoorFit = 0.5;

/// The slowest growth that fits about as well as the best one, and the next best.
struct Fits {
  Fit chosen;
  std::optional<Fit> next;
};

struct Measured {
  double n = 0;
  double value = 0;  // not negative
};

/// Two parameters need more points than that to say anything.
inline constexpr std::size_t kLeastPoints = 4;

/// Nothing if there are fewer than kLeastPoints points. REQUIRES: different n, from 1 on,
/// ascending.
std::optional<Fits> fit(std::span<const Measured> points);

}  // namespace neslc::bench
