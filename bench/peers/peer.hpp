// What the C++ programs of this folder share: inputs that look random and are those of
// generate.nesl, parallel loops, and the measurement.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <malloc.h>
#include <memory>
#include <optional>
#include <type_traits>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

namespace peer {

#if PEER_INT_BITS == 64
using Int = std::int64_t;
using Unsigned = std::uint64_t;
#else
using Int = std::int32_t;
using Unsigned = std::uint32_t;
#endif

/// A number below 2^31 that follows from i and the seed.
inline Int noise(std::size_t i, std::uint32_t seed) {
  constexpr std::uint32_t kMask = 0x7fffffff;
  const std::uint32_t a =
      (static_cast<std::uint32_t>(i) * 1664525 + seed * 1013904223 + 12345) & kMask;
  const std::uint32_t b = ((a ^ (a >> 15)) * 739982445) & kMask;
  const std::uint32_t c = ((b ^ (b >> 12)) * 695872825) & kMask;
  return static_cast<Int>(c ^ (c >> 15));
}

/// The same from 0 up to, but not including, 1.
inline double unit(std::size_t i, std::uint32_t seed) {
  return static_cast<double>(noise(i, seed)) / 2147483648.0;
}

/// An array whose elements are not touched before they are written.
template <class T>
struct Array {
  Array() = default;
  explicit Array(std::size_t n) : length(n), elements(new T[n]) {}
  std::size_t size() const { return length; }
  T* begin() const { return elements.get(); }
  T* end() const { return elements.get() + length; }
  T& operator[](std::size_t i) const { return elements[i]; }

  std::size_t length = 0;
  std::unique_ptr<T[]> elements;
};

/// Calls body(begin, end) for ranges that together are [0, n).
template <class Body>
void parallel_for(std::size_t n, const Body& body, std::size_t grain = 4096) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n, grain),
                    [&](const auto& range) { body(range.begin(), range.end()); });
}

/// The array of f(i) for all i below n.
template <class F>
auto generate(std::size_t n, const F& f) {
  Array<decltype(f(std::size_t{0}))> result(n);
  parallel_for(n, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) result[i] = f(i);
  });
  return result;
}

/// The sum of body(begin, end) over ranges that together are [0, n).
template <class T, class Body>
T parallel_sum(std::size_t n, const Body& body, std::size_t grain = 4096) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::size_t>(0, n, grain), T{},
      [&](const auto& range, T sum) { return sum + body(range.begin(), range.end()); },
      std::plus<T>());
}

/// A sum that tells in which order the numbers are.
template <class Numbers>
Int fingerprint(const Numbers& numbers) {
  Unsigned sum = 0;
  Unsigned i = 0;
  for (const auto x : numbers) sum += ++i * static_cast<Unsigned>(x);
  return static_cast<Int>(sum);
}

/// The sum of f(i) for all i below n, with weights from 1 to 7 that differ for neighbours.
template <class F>
double weighted_sum(std::size_t n, const F& f) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(1 + i % 7) * f(i);
  return sum;
}

inline void print(Int value) {
  std::printf(" %lld", static_cast<long long>(value));
}
inline void print(double value) {
  std::printf(" %.17g", value);
}

/// Makes the input of the size that the command line names, measures work(input) as often as it
/// says, and prints the seconds of each time and then, by answer(input, result), what was computed.
template <class Input, class Work, class Answer>
int run(int argc, char** argv, const Input& input, const Work& work, const Answer& answer) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s SIZE THREADS REPETITIONS\n", argv[0]);
    return 2;
  }
  const auto argument = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  // Memory that was used once is kept, as the heap of our machine does it.
  mallopt(M_MMAP_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  const tbb::global_control threads(tbb::global_control::max_allowed_parallelism, argument(2));
  const auto data = input(argument(1));
  std::optional<std::invoke_result_t<Work, decltype(data)&>> result;
  for (std::size_t k = 0; k < argument(3); ++k) {
    result.reset();
    const auto begin = std::chrono::steady_clock::now();
    result.emplace(work(data));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("seconds %.9f\n", seconds.count());
  }
  std::printf("answer");
  answer(data, *result);
  std::printf("\n");
  return 0;
}

}  // namespace peer
