// Seeded random choices of the tests, and how large the tests are.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace property {

/// A random source whose choices do not depend on the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// In [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t offset = range == 0 ? bits() : bits() % range;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }
  /// In [0, 1).
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double probability) { return unit() < probability; }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(from.size()) - 1))];
  }

 private:
  std::mt19937_64 engine_;
};

/// The seed of this run: NESL_TEST_SEED from the environment, else a fixed number.
std::uint64_t test_seed();

/// Long tests divide their sizes by this: more than 1 in builds with sanitizers, or as
/// NESL_TEST_SHRINK in the environment says.
std::int64_t shrink_factor();

}  // namespace property
