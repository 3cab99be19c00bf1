// Segment lengths, the starts of segments, and one value per segment written out for each element.
//
// Expansion writes at least one whole register for each segment and lets the next segment overwrite
// what was too much: no branch depends on the length of a short segment. So its results go to
// buffers with a register of slack.

#include <type_traits>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

constexpr std::int64_t kRegister = 64;  // bytes; several registers where they are smaller

template <class I>
LengthSummary summarize_lengths(const void* lengths, std::int64_t n) {
  const auto* length = static_cast<const I*>(lengths);
  std::uint64_t sum = 0;
  I least = length[0];
  I greatest = length[0];
#pragma omp simd reduction(+ : sum) reduction(min : least) reduction(max : greatest)
  for (std::int64_t i = 0; i < n; ++i) {
    sum += static_cast<std::uint64_t>(static_cast<std::int64_t>(length[i]));
    least = length[i] < least ? length[i] : least;
    greatest = length[i] > greatest ? length[i] : greatest;
  }
  return {sum, least, greatest};
}

template <class I>
void starts(std::int64_t* out, const void* lengths, std::int64_t n, std::int64_t first_start) {
  const auto* length = static_cast<const I*>(lengths);
  std::int64_t start = first_start;
  for (std::int64_t i = 0; i < n; ++i) {
    out[i] = start;
    start += length[i];
  }
  out[n] = start;
}

template <class I>
void sum_lengths(std::int64_t* out, const void* lengths, std::int64_t n) {
  const auto* length = static_cast<const I*>(lengths);
  for (std::int64_t i = 0; i < n; i += kIndexStep) {
    const std::int64_t count = n - i < kIndexStep ? n - i : kIndexStep;
    std::int64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < count; ++k) sum += length[i + k];
    out[i / kIndexStep] = sum;
  }
}

CVL_FN std::int64_t least_of(std::int64_t a, std::int64_t b) {
  return a < b ? a : b;
}
CVL_FN std::int64_t greatest_of(std::int64_t a, std::int64_t b) {
  return a > b ? a : b;
}

template <class E>
void expand(void* out, const void* values, const std::int64_t* starts, std::int64_t count,
            std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kStep = kRegister / static_cast<std::int64_t>(sizeof(E));
  auto* r = static_cast<E*>(out);
  const auto* value = static_cast<const E*>(values);
  for (std::int64_t s = 0; s < count; ++s) {
    std::int64_t i = greatest_of(starts[s], begin) - begin;
    const std::int64_t stop = least_of(starts[s + 1], end) - begin;
    const E element = value[s];
    do {
#pragma omp simd
      for (std::int64_t k = 0; k < kStep; ++k) r[i + k] = element;
      i += kStep;
    } while (i < stop);
  }
}

template <class I>
void expand_progressions(void* out, const void* first_values, const void* steps,
                         const std::int64_t* starts, std::int64_t count, std::int64_t begin,
                         std::int64_t end) {
  using U = std::make_unsigned_t<I>;
  constexpr std::int64_t kStep = kRegister / static_cast<std::int64_t>(sizeof(I));
  auto* r = static_cast<U*>(out);
  const auto* first = static_cast<const U*>(first_values);
  const auto* step = static_cast<const U*>(steps);
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t from = greatest_of(starts[s], begin);
    const std::int64_t stop = least_of(starts[s + 1], end) - begin;
    std::int64_t i = from - begin;
    const U stride = step[s];  // a copy: the results might lie over it, for all the compiler knows
    U value = first[s] + static_cast<U>(from - starts[s]) * stride;
    do {
#pragma omp simd
      for (std::int64_t k = 0; k < kStep; ++k) r[i + k] = value + static_cast<U>(k) * stride;
      i += kStep;
      value += static_cast<U>(kStep) * stride;
    } while (i < stop);
  }
}

void expand_segments(std::int64_t* start_of, std::int64_t* length_of, const std::int64_t* starts,
                     const std::int64_t* targets, std::int64_t count, std::int64_t begin,
                     std::int64_t end) {
  constexpr std::int64_t kStep = kRegister / 8;
  for (std::int64_t s = 0; s < count; ++s) {
    std::int64_t i = greatest_of(starts[s], begin) - begin;
    const std::int64_t stop = least_of(starts[s + 1], end) - begin;
    const std::int64_t start = targets[s];
    const std::int64_t length = targets[s + 1] - start;
    do {
#pragma omp simd
      for (std::int64_t k = 0; k < kStep; ++k) start_of[i + k] = start;
#pragma omp simd
      for (std::int64_t k = 0; k < kStep; ++k) length_of[i + k] = length;
      i += kStep;
    } while (i < stop);
  }
}

template <class I, class F>
void add_for_widths(Kernels& kernels) {
  kernels.summarize_lengths = summarize_lengths<I>;
  kernels.starts = starts<I>;
  kernels.sum_lengths = sum_lengths<I>;
  kernels.expand[static_cast<std::size_t>(Type::Int)] = expand<std::make_unsigned_t<I>>;
  kernels.expand[static_cast<std::size_t>(Type::Bool)] = expand<std::uint8_t>;
  kernels.expand[static_cast<std::size_t>(Type::Float)] = expand<F>;
  kernels.expand_progressions = expand_progressions<I>;
  kernels.expand_segments = expand_segments;
}

}  // namespace

void add_expand_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() { add_for_widths<I, F>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
