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

#if defined(__AVX512VL__)
/// Up to 64 bytes.
template <class E>
CVL_FN void move_some(E* out, const E* in, std::int64_t n) {
  const std::uint64_t lanes = _bzhi_u64(~std::uint64_t{0}, static_cast<unsigned>(n));
  if constexpr (sizeof(E) == 1) {
    _mm512_mask_storeu_epi8(out, lanes, _mm512_maskz_loadu_epi8(lanes, in));
  } else if constexpr (sizeof(E) == 4) {
    const auto mask = static_cast<__mmask16>(lanes);
    _mm512_mask_storeu_epi32(out, mask, _mm512_maskz_loadu_epi32(mask, in));
  } else {
    const auto mask = static_cast<__mmask8>(lanes);
    _mm512_mask_storeu_epi64(out, mask, _mm512_maskz_loadu_epi64(mask, in));
  }
}
#endif

/// Exactly n elements.
template <class E>
CVL_FN void move_run(E* out, const E* in, std::int64_t n) {
#if defined(__AVX512VL__)
  if (n <= 2 * kLanes<E>) return move_some(out, in, n);
#endif
  std::memcpy(out, in, static_cast<std::size_t>(n) * sizeof(E));
}

/// place(k): where run k begins.
template <class E, class Place>
CVL_FN void copy_all(void* out, const Place& place, const std::int64_t* ends, std::int64_t count) {
  constexpr std::int64_t kShort = 4 * kLanes<E>;
  auto* r = static_cast<E*>(out);
  const std::int64_t end = ends[count - 1];
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const E* run = place(k);
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
void gather_runs(void* out, const void* source, const std::int64_t* positions,
                 const std::int64_t* ends, std::int64_t count) {
  const auto* from = static_cast<const E*>(source);
  copy_all<E>(
      out, [&](std::int64_t k) { return from + positions[k]; }, ends, count);
}

template <class E>
void copy_runs(void* out, const std::uintptr_t* places, const std::int64_t* ends,
               std::int64_t count) {
  copy_all<E>(
      out, [&](std::int64_t k) { return reinterpret_cast<const E*>(places[k]); }, ends, count);
}

template <class E>
void copy_backwards(void* out, const std::uintptr_t* places, const std::int64_t* ends,
                    std::int64_t count) {
  auto* r = static_cast<E*>(out);
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto* const run = reinterpret_cast<const E*>(places[k]);
    const std::int64_t last = ends[k] - i - 1;
    for (std::int64_t j = 0; j <= last; ++j) r[i + j] = run[last - j];
    i = ends[k];
  }
}

bool joined_places(std::uintptr_t* places, const std::int64_t* positions, const std::int64_t* ends,
                   std::int64_t count, const JoinedVector* vectors, std::int64_t vector_count,
                   int shift) {
  for (std::int64_t k = 0; k < count; ++k) {
    places[k] = vectors[0].start + (static_cast<std::uintptr_t>(positions[k]) << shift);
  }
  std::int64_t cut = 0;
  for (std::int64_t v = 1; v < vector_count; ++v) {
    const std::int64_t border = vectors[v - 1].end;
    const std::uintptr_t start = vectors[v].start;
    const auto put = [&](std::int64_t k, std::int64_t length) {
      const bool behind = positions[k] >= border;
      const bool ends_behind = positions[k] + length > border;
      const std::uintptr_t place = start + (static_cast<std::uintptr_t>(positions[k]) << shift);
      places[k] = behind ? place : places[k];
      return static_cast<std::int64_t>(behind != ends_behind);
    };
    cut |= put(0, ends[0]);
#pragma omp simd reduction(| : cut)
    for (std::int64_t k = 1; k < count; ++k) cut |= put(k, ends[k] - ends[k - 1]);
  }
  return cut == 0;
}

template <class I>
std::int64_t list_runs(std::int64_t* positions, std::int64_t* ends, const void* first,
                       std::int64_t more, const std::int64_t* starts, std::int64_t count,
                       std::int64_t begin, std::int64_t end, std::int64_t origin,
                       std::int64_t limit) {
  const auto* number = static_cast<const I*>(first);
  std::int64_t found = 0;
  std::int64_t bad = 0;
  for (std::int64_t s = 0; s < count; ++s) {
    const std::int64_t from = starts[s] < begin ? begin : starts[s];
    const std::int64_t stop = starts[s + 1] < end ? starts[s + 1] : end;
    const std::int64_t position =
        ops::Add::apply(ops::Add::apply(std::int64_t{number[s]}, more), from - starts[s]);
    const bool any = stop > from;
    const bool outside = position < 0 || position > limit - (stop - from);
    bad |= static_cast<std::int64_t>(any && outside);
    positions[found] = position;
    ends[found] = stop - origin;
    found += static_cast<std::int64_t>(any);
  }
  return bad == 0 ? found : -1;
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
  kernels.copy_runs[static_cast<std::size_t>(type)] = copy_runs<E>;
  kernels.copy_backwards[static_cast<std::size_t>(type)] = copy_backwards<E>;
  kernels.scatter_runs[static_cast<std::size_t>(type)] = scatter_runs<E>;
}

}  // namespace

void add_run_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() {
    add_for_element<std::make_unsigned_t<I>>(kernels, Type::Int);
    add_for_element<std::uint8_t>(kernels, Type::Bool);
    add_for_element<F>(kernels, Type::Float);
    kernels.list_runs = list_runs<I>;
  });
  kernels.joined_places = joined_places;
}

}  // namespace cvl::cpu::CVL_ISA
