// SINH and TANH of FLOAT 64, for processors with fused multiply-adds: with AVX-512 they take little
// more than half of the time of the C library's vector forms.
//
// Both start from y = k ln 2 + r with |r| <= ln(2)/2 and short polynomials for sinh(r) and cosh(r).
// What follows never subtracts nearly equal numbers, and has no branches. Results are within 2
// (sinh) and 3 units (tanh) in the last place, and the same wherever a range is cut: each element
// is computed by itself, and a fused multiply-add is rounded alike in all registers.
//
// Without fused multiply-adds, and with AVX-512 for COSH and FLOAT 32, the C library's forms are as
// fast or faster.
#pragma once

#include <cmath>
#include <cstdint>

#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

namespace hyperbolic {

inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

CVL_FN std::uint64_t bits(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}
CVL_FN double from_bits(std::uint64_t x) {
  return __builtin_bit_cast(double, x);
}
/// min(x, limit); NaN stays.
CVL_FN double at_most(double x, double limit) {
  return x > limit ? limit : x;
}
CVL_FN double magnitude(double x) {
  return from_bits(bits(x) & ~kSign);
}
CVL_FN double with_sign_of(double x, double magnitude) {
  return from_bits(bits(magnitude) | (bits(x) & kSign));
}

/// c[0] + c[1] z + ... + c[4] z^4
CVL_FN double polynomial(const double (&c)[5], double z) {
  return std::fma(std::fma(std::fma(std::fma(c[4], z, c[3]), z, c[2]), z, c[1]), z, c[0]);
}

/// Adding it rounds a number below 2^51 to an integer, which are then the low bits of the sum.
inline constexpr double kRounder = 0x1.8p52;

/// y = k ln 2 + r
struct Reduced {
  double rounded;  // kRounder + k
  double r;
  double cube;  // r^3
  double odd;   // sinh(r) = r + cube * odd
  double even;  // cosh(r) = 1 + even
};

/// REQUIRES: 0 <= y < 1000, or y is NaN
CVL_FN Reduced reduced(double y) {
  constexpr double kLog2E = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // so few bits that k times it is exact
  constexpr double kLn2Low = 0x1.ef35793c76730p-45;
  // Both interpolate at Chebyshev nodes; what they stand for is right to 2e-18 r and 2e-17.
  constexpr double kOdd[] = {0x1.5555555555556p-3, 0x1.11111111109adp-7, 0x1.a01a01a7c8d47p-13,
                             0x1.71de0d9c145d0p-19, 0x1.af38d53857513p-26};
  constexpr double kEven[] = {0x1.0000000000001p-1, 0x1.5555555553d4fp-5, 0x1.6c16c17893833p-10,
                              0x1.a019b8ef67c6cp-16, 0x1.2891a8c1d838dp-22};
  const double rounded = std::fma(y, kLog2E, kRounder);
  const double k = rounded - kRounder;
  const double r = std::fma(-k, kLn2Low, std::fma(-k, kLn2High, y));
  const double square = r * r;
  return {rounded, r, r * square, polynomial(kOdd, square), square * polynomial(kEven, square)};
}

/// 2 to the number in the low bits, if that is the exponent of a normal number.
CVL_FN double power_of_two(std::uint64_t exponent) {
  return from_bits((exponent + 1023) << 52);
}

struct Sinh {
  static CVL_FN double apply(double x) {
    const double y = magnitude(x);
    const Reduced part = reduced(at_most(y, 710.5));  // where the result is infinite
    // Half of e^y and half of its reciprocal are these times e^r and e^-r, halved once more: the
    // greatest `up` would be infinite. `down` need not be right where it vanishes beside `up`.
    const double up = power_of_two(bits(part.rounded) - 2);
    const double down = power_of_two(-bits(at_most(part.rounded, kRounder + 64)) - 2);
    const double sum = up + down;
    const double difference = up - down;
    const double sine = std::fma(part.cube, part.odd, part.r);
    const double half = difference + std::fma(sine, sum, part.even * difference);
    return with_sign_of(x, y < 0x1p-28 ? y : half + half);  // half of a least number is inexact
  }
};

struct Tanh {
  static CVL_FN double apply(double x) {
    const double y = at_most(magnitude(x), 20);  // from there on the result is 1
    const Reduced part = reduced(y + y);
    const double scale = power_of_two(bits(part.rounded));
    const double rest = part.r + std::fma(part.cube, part.odd, part.even);  // e^r - 1
    const double growth = std::fma(scale, rest, scale - 1);                 // e^2y - 1
    return with_sign_of(x, growth / (growth + 2));
  }
};

}  // namespace hyperbolic

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
