#include "property/compare.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace property {
namespace {

using reference::Bools;
using reference::Floats;
using reference::Ints;
using reference::Segdes;
using reference::Widths;
using vcode::Op;

// Libraries promise 4 units; the reference itself is off by up to one.
constexpr double kMathUnits = 5;

double epsilon(const Widths& widths) {
  return widths.float_bits == 64 ? std::numeric_limits<double>::epsilon()
                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// Distance between neighbouring numbers of the run's FLOAT around `x`.
double unit_in_last_place(double x, const Widths& widths) {
  const double least = widths.float_bits == 64
                           ? std::numeric_limits<double>::denorm_min()
                           : static_cast<double>(std::numeric_limits<float>::denorm_min());
  int exponent = 0;
  std::frexp(x, &exponent);
  return std::fmax(least, std::ldexp(epsilon(widths), exponent - 1));
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Up to `tolerance`; NaN equals NaN only, an infinity only itself.
bool close(double expected, double found, double tolerance) {
  if (std::isnan(expected) || std::isnan(found)) return std::isnan(expected) && std::isnan(found);
  // An infinite tolerance, as that of an infinite product, covers no other number.
  if (std::isinf(expected) || std::isinf(found)) return expected == found;
  return std::fabs(expected - found) <= tolerance;
}

/// How far each element of a sum, product, prefix sum or prefix product may be off: for a sum of n
/// elements n*eps*sum|x|, for a product n*eps*|product|.
Floats fold_tolerances(Op op, const Widths& widths, const Floats& data, const Segdes& segdes,
                       const Floats& expected) {
  const bool sum = op == Op::AddScan || op == Op::AddReduce;
  const bool scan = op == Op::AddScan || op == Op::MultiplyScan;
  Floats tolerances;
  std::size_t position = 0;
  for (const std::int64_t length : segdes.lengths) {
    double magnitude = 0;
    const auto tolerance = [&](std::int64_t count) {
      const double size = sum ? magnitude : std::fabs(expected[tolerances.size()]);
      return static_cast<double>(count) * epsilon(widths) * size;
    };
    for (std::int64_t i = 0; i < length; ++i, ++position) {
      if (scan) tolerances.push_back(tolerance(i));
      if (std::isfinite(data[position])) magnitude += std::fabs(data[position]);
    }
    if (!scan) tolerances.push_back(tolerance(length));
  }
  return tolerances;
}

/// The same for each place of a combination.
Floats combination_tolerances(Op op, const Widths& widths,
                              const std::vector<reference::Value>& operands,
                              const Floats& expected) {
  const auto& data = std::get<Floats>(operands[0]);
  const auto& index = std::get<reference::Ints>(operands[1]);
  const auto& from = std::get<Segdes>(operands[2]);
  const std::vector<std::int64_t> starts = std::get<Segdes>(operands[3]).starts();
  Floats magnitudes(expected.size()), counts(expected.size());
  std::size_t position = 0;
  for (std::size_t segment = 0; segment < from.lengths.size(); ++segment) {
    for (std::int64_t i = 0; i < from.lengths[segment]; ++i, ++position) {
      const auto place = static_cast<std::size_t>(starts[segment] + index[position]);
      counts[place] += 1;
      if (std::isfinite(data[position])) magnitudes[place] += std::fabs(data[position]);
    }
  }
  Floats tolerances;
  for (std::size_t place = 0; place < expected.size(); ++place) {
    const double size = op == Op::AddCombine ? magnitudes[place] : std::fabs(expected[place]);
    tolerances.push_back(counts[place] * epsilon(widths) * size);
  }
  return tolerances;
}

bool is_fold_with_rounding(Op op) {
  return op == Op::AddScan || op == Op::AddReduce || op == Op::MultiplyScan ||
         op == Op::MultiplyReduce;
}

bool is_extremum(Op op) {
  return op == Op::MaxScan || op == Op::MinScan || op == Op::MaxReduce || op == Op::MinReduce ||
         op == Op::MaxCombine || op == Op::MinCombine;
}

bool is_math_function(Op op) {
  return op >= Op::Log && op <= Op::Tanh && op != Op::Sqrt;
}

std::string float_difference(Op op, const Widths& widths,
                             const std::vector<reference::Value>& operands, const Floats& expected,
                             const Floats& found) {
  Floats tolerances;
  if (is_fold_with_rounding(op)) {
    tolerances = fold_tolerances(op, widths, std::get<Floats>(operands[0]),
                                 std::get<Segdes>(operands[1]), expected);
  } else if (op == Op::AddCombine || op == Op::MultiplyCombine) {
    tolerances = combination_tolerances(op, widths, operands, expected);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    bool right = false;
    if (is_math_function(op)) {
      right = close(expected[i], found[i], kMathUnits * unit_in_last_place(expected[i], widths));
    } else if (!tolerances.empty()) {
      right = close(expected[i], found[i], tolerances[i]);
    } else {
      // Which of two zeros is the greater one is left open.
      right = same_bits(expected[i], found[i]) || (is_extremum(op) && expected[i] == found[i]) ||
              (std::isnan(expected[i]) && std::isnan(found[i]));
    }
    if (!right) {
      return fmt::format("element {} is {:.17g}, expected {:.17g}", i, found[i], expected[i]);
    }
  }
  return {};
}

template <class V>
std::string exact_difference(const V& expected, const V& found) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != found[i]) {
      return fmt::format("element {} is {}, expected {}", i, found[i], expected[i]);
    }
  }
  return {};
}

}  // namespace

std::string difference(Op op, const Widths& widths, const std::vector<reference::Value>& operands,
                       const reference::Value& expected, const reference::Value& found) {
  if (expected.index() != found.index()) return "another type";
  if (reference::length_of(expected) != reference::length_of(found)) {
    return fmt::format("length {}, expected {}", reference::length_of(found),
                       reference::length_of(expected));
  }
  if (const auto* floats = std::get_if<Floats>(&expected)) {
    return float_difference(op, widths, operands, *floats, std::get<Floats>(found));
  }
  if (const auto* ints = std::get_if<Ints>(&expected)) {
    return exact_difference(*ints, std::get<Ints>(found));
  }
  if (const auto* bools = std::get_if<Bools>(&expected)) {
    return exact_difference(*bools, std::get<Bools>(found));
  }
  return exact_difference(std::get<Segdes>(expected).lengths, std::get<Segdes>(found).lengths);
}

bool identical(const reference::Value& a, const reference::Value& b) {
  if (a.index() != b.index()) return false;
  if (const auto* floats = std::get_if<Floats>(&a)) {
    const auto& other = std::get<Floats>(b);
    if (floats->size() != other.size()) return false;
    for (std::size_t i = 0; i < other.size(); ++i) {
      // Which of two NaNs an addition gives depends on the order that the compiler puts them in.
      const bool both_nan = std::isnan((*floats)[i]) && std::isnan(other[i]);
      if (!both_nan && !same_bits((*floats)[i], other[i])) return false;
    }
    return true;
  }
  if (const auto* ints = std::get_if<Ints>(&a)) return *ints == std::get<Ints>(b);
  if (const auto* bools = std::get_if<Bools>(&a)) return *bools == std::get<Bools>(b);
  return std::get<Segdes>(a).lengths == std::get<Segdes>(b).lengths;
}

}  // namespace property
