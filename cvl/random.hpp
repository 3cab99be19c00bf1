// The random numbers of RAND: counter based, so that every backend, width and thread count draws
// the same stream.
//
// The k-th number drawn after seeding is the SplitMix64 output function (Steele, Lea, Flood: Fast
// Splittable Pseudorandom Number Generators, OOPSLA 2014) of the k-th point of a Weyl sequence that
// starts at a mixed seed. RAND draws one number per element, in element order, across calls.
#pragma once

#include <cstdint>

#include "cvl/scalar_ops.hpp"

namespace cvl {

struct RandomState {
  std::uint64_t key;
  std::uint64_t drawn = 0;
};

namespace detail {

CVL_FN std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace detail

inline constexpr std::uint64_t kDefaultSeed = 1;

CVL_FN RandomState seeded(std::uint64_t seed) {
  return {detail::mix64(seed ^ 0x9E3779B97F4A7C15u)};
}

/// The points of the Weyl sequence are this far apart: loops add instead of multiplying.
inline constexpr std::uint64_t kStreamStep = 0x9E3779B97F4A7C15u;

/// The point that position `counter` of the stream is drawn from.
CVL_FN std::uint64_t stream_point(std::uint64_t key, std::uint64_t counter) {
  return key + (counter + 1) * kStreamStep;
}

/// The number drawn from a point, in 0 ... bound-1. REQUIRES: bound > 0. The upper 32 bits of the
/// raw number decide when the bound has 32 bits, so that both widths of INT see the same values.
CVL_FN std::uint64_t draw_from(std::uint64_t point, std::uint64_t bound) {
  const std::uint64_t raw = detail::mix64(point);
  if (bound <= 0xFFFFFFFFu) return ((raw >> 32) * bound) >> 32;
#if defined(__CUDA_ARCH__)
  return __umul64hi(raw, bound);
#else
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{raw} * bound) >> 64);
#endif
}

/// The number drawn at position `counter` of the stream, in 0 ... bound-1. REQUIRES: bound > 0.
CVL_FN std::uint64_t draw(std::uint64_t key, std::uint64_t counter, std::uint64_t bound) {
  return draw_from(stream_point(key, counter), bound);
}

}  // namespace cvl
