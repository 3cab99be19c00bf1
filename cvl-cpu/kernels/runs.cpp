// Runs of elements that follow each other at both ends: a load and a store move a short one.

#include <cstring>
#include <type_traits>

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

constexpr std::int64_t kRegister = 32;  // bytes
template <class E>
constexpr std::int64_t kLanes = kRegister / static_cast<std::int64_t>(sizeof(E));

template <class E>
CVL_FN void move_register(E* out, const E* in) {
  std::memcpy(out, in, static_cast<std::size_t>(kRegister));
}

/// Exactly n elements.
template <class E>
CVL_FN void move_run(E* out, const E* in, std::int64_t n) {
#if defined(__AVX512VL__)
  if (n <= kLanes<E>) {
    if constexpr (sizeof(E) == 4) {
      const auto lanes = static_cast<__mmask8>((1u << n) - 1);
      _mm256_mask_storeu_epi32(out, lanes, _mm256_maskz_loadu_epi32(lanes, in));
      return;
    }
    if constexpr (sizeof(E) == 8) {
      const auto lanes = static_cast<__mmask8>((1u << n) - 1);
      _mm256_mask_storeu_epi64(out, lanes, _mm256_maskz_loadu_epi64(lanes, in));
      return;
    }
  }
#endif
  std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(E));
}

template <class E>
void gather_runs(void* out, const void* source, const std::int64_t* positions,
                 const std::int64_t* ends, std::int64_t count) {
  constexpr std::int64_t kShort = 4 * kLanes<E>;
  auto* r = static_cast<E*>(out);
  const auto* from = static_cast<const E*>(source);
  const std::int64_t end = ends[count - 1];
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const E* run = from + positions[k];
    const std::int64_t stop = ends[k];
    if (stop - i <= kShort && i + kShort <= end) {
      // Whole registers: what is too much is overwritten by the runs that follow.
      do {
        move_register(r + i, run);
        i += kLanes<E>;
        run += kLanes<E>;
      } while (i < stop);
    } else {
      move_run(r + i, run, stop - i);
    }
    i = stop;
  }
}

template <class E>
void scatter_runs(void* out, const void* source, const std::int64_t* positions,
                  const std::int64_t* ends, std::int64_t count, std::uint64_t begin,
                  std::uint64_t end) {
  auto* r = static_cast<E*>(out);
  const auto* from = static_cast<const E*>(source);
  std::int64_t i = 0;
  if (begin == 0 && end == kNowhere) {
    for (std::int64_t k = 0; k < count; ++k) {
      move_run(r + positions[k], from + i, ends[k] - i);
      i = ends[k];
    }
    return;
  }
  for (std::int64_t k = 0; k < count; ++k) {
    const auto first = static_cast<std::uint64_t>(positions[k]);
    const std::uint64_t last = first + static_cast<std::uint64_t>(ends[k] - i);
    const std::uint64_t low = first < begin ? begin : first;
    const std::uint64_t high = last < end ? last : end;
    if (low < high)
      move_run(r + low, from + i + (low - first), static_cast<std::int64_t>(high - low));
    i = ends[k];
  }
}

template <class E>
void add_for_element(Kernels& kernels, Type type) {
  kernels.gather_runs[static_cast<std::size_t>(type)] = gather_runs<E>;
  kernels.scatter_runs[static_cast<std::size_t>(type)] = scatter_runs<E>;
}

}  // namespace

void add_run_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() {
    add_for_element<std::make_unsigned_t<I>>(kernels, Type::Int);
    add_for_element<std::uint8_t>(kernels, Type::Bool);
    add_for_element<F>(kernels, Type::Float);
  });
}

}  // namespace cvl::cpu::CVL_ISA
