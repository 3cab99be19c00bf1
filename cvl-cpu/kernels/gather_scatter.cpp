// Gathers and scatters, in two steps over blocks that stay in the L1 cache: indices are checked and
// turned into positions (a loop that vectorizes), then elements are moved (a loop that is bound by
// memory latency). An index that is wrong or not flagged gives a position that does no harm.

#include <cstring>
#include <type_traits>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

using Flag = ops::Bool;

template <class I>
CVL_FN std::uint64_t as_unsigned(I index) {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(index));
}

template <class I>
bool locate(std::uint64_t* out, const void* indices, const Flag* flags,
            const std::int64_t* start_of, const std::int64_t* length_of, std::int64_t n,
            std::uint64_t nowhere) {
  const auto* index = static_cast<const I*>(indices);
  std::uint64_t failed = 0;
  if (flags == nullptr) {
#pragma omp simd reduction(| : failed)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t at = as_unsigned(index[i]);
      const bool good = at < static_cast<std::uint64_t>(length_of[i]);
      failed |= good ? 0 : 1;
      out[i] = good ? at + static_cast<std::uint64_t>(start_of[i]) : nowhere;
    }
  } else {
#pragma omp simd reduction(| : failed)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t at = as_unsigned(index[i]);
      const std::uint64_t wanted = flags[i];
      const std::uint64_t good = at < static_cast<std::uint64_t>(length_of[i]) ? wanted : 0;
      failed |= good ^ wanted;
      out[i] = good != 0 ? at + static_cast<std::uint64_t>(start_of[i]) : nowhere;
    }
  }
  return failed != 0;
}

template <class I>
bool locate_in_one(std::uint64_t* out, const void* indices, const Flag* flags, std::int64_t start,
                   std::int64_t length, std::int64_t n, std::uint64_t nowhere) {
  const auto* index = static_cast<const I*>(indices);
  const auto base = static_cast<std::uint64_t>(start);
  const auto limit = static_cast<std::uint64_t>(length);
  std::uint64_t failed = 0;
  if (flags == nullptr) {
#pragma omp simd reduction(| : failed)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t at = as_unsigned(index[i]);
      const bool good = at < limit;
      failed |= good ? 0 : 1;
      out[i] = good ? at + base : nowhere;
    }
  } else {
#pragma omp simd reduction(| : failed)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t at = as_unsigned(index[i]);
      const std::uint64_t wanted = flags[i];
      const std::uint64_t good = at < limit ? wanted : 0;
      failed |= good ^ wanted;
      out[i] = good != 0 ? at + base : nowhere;
    }
  }
  return failed != 0;
}

template <class I>
bool indices_below(const void* indices, std::int64_t n, std::int64_t length) {
  using Unsigned = std::make_unsigned_t<I>;  // in which negative ones are large
  const auto* index = static_cast<const Unsigned*>(indices);
  Unsigned greatest = 0;
#pragma omp simd reduction(max : greatest)
  for (std::int64_t i = 0; i < n; ++i) greatest = greatest < index[i] ? index[i] : greatest;
  return n == 0 || greatest < static_cast<std::uint64_t>(length);
}

/// So many elements are looked at together for whether they lie next to each other: few enough for
/// short segments, enough for the look to cost nothing beside moving them.
constexpr std::int64_t kRun = 64;

/// Do these positions follow each other? REQUIRES: 0 < n
template <class P>
CVL_FN bool is_run(const P* positions, std::int64_t n) {
  const P first = positions[0];
  if (positions[n - 1] - first != static_cast<P>(n - 1)) return false;  // mostly
  P differ = 0;
#pragma omp simd reduction(| : differ)
  for (std::int64_t i = 0; i < n; ++i) differ |= positions[i] ^ (first + static_cast<P>(i));
  return differ == 0;
}

/// Calls move_run(i, count) for elements [i, i + count) whose positions follow each other, as those
/// of slices and appended vectors do; it may decline. For all others calls move(i), after a
/// prefetch of the line that a later element will need, which address(i) says.
template <bool write, class P, class Address, class Move, class MoveRun>
CVL_FN void move_all(const P* positions, std::int64_t n, bool prefetch, const Address& address,
                     const Move& move, const MoveRun& move_run) {
  for (std::int64_t begin = 0; begin < n; begin += kRun) {
    const std::int64_t count = n - begin < kRun ? n - begin : kRun;
    if (is_run(positions + begin, count) && move_run(begin, count)) continue;
    const std::int64_t end = begin + count;
    std::int64_t i = begin;
    if (prefetch) {
      const std::int64_t last = end < n - kPrefetchDistance ? end : n - kPrefetchDistance;
      for (; i < last; ++i) {
        __builtin_prefetch(reinterpret_cast<const void*>(address(i + kPrefetchDistance)),
                           write ? 1 : 0);
        move(i);
      }
    }
    for (; i < end; ++i) move(i);
  }
}

/// The address of an element as a number: a position may be "nowhere", which prefetching ignores.
template <class E>
CVL_FN std::uintptr_t address_of(const E* memory, std::uint64_t position) {
  return reinterpret_cast<std::uintptr_t>(memory) + position * sizeof(E);
}

/// E: of the result; Stored: of the source, which may be narrower. All elements are wanted.
template <class E, class Stored, class P>
CVL_FN void gather_all(E* r, const Stored* from, const P* positions, std::int64_t n,
                       bool prefetch) {
  move_all<false>(
      positions, n, prefetch,
      [&](std::int64_t i) __attribute__((always_inline)) { return address_of(from, positions[i]); },
      [&](std::int64_t i) __attribute__((always_inline)) { r[i] = from[positions[i]]; },
      [&](std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
        const Stored* run = from + positions[i];
        if constexpr (sizeof(E) == sizeof(Stored)) {
          std::memcpy(r + i, run, static_cast<std::size_t>(count) * sizeof(E));
        } else {
          for (std::int64_t k = 0; k < count; ++k) r[i + k] = run[k];
        }
        return true;
      });
}

template <class E, class I>
void gather_by_index(void* out, const void* source, const void* indices, std::int64_t n,
                     bool prefetch) {
  gather_all(static_cast<E*>(out), static_cast<const E*>(source),
             static_cast<const std::make_unsigned_t<I>*>(indices), n, prefetch);
}

template <class E, class Stored = E>
void gather(void* out, const void* source, const std::uint64_t* positions, const Flag* flags,
            std::int64_t n, bool prefetch) {
  auto* r = static_cast<E*>(out);
  const auto* from = static_cast<const Stored*>(source);
  if (flags == nullptr) {
    gather_all(r, from, positions, n, prefetch);
  } else {
    const auto masked = [&](E element, std::int64_t i) __attribute__((always_inline)) {
      // Masked, or else the compiler would branch on the flag.
      return static_cast<E>(element & static_cast<E>(E{0} - flags[i]));
    };
    move_all<false>(
        positions, n, prefetch,
        [&](std::int64_t i)
            __attribute__((always_inline)) { return address_of(from, positions[i]); },
        [&](std::int64_t i)
            __attribute__((always_inline)) { r[i] = masked(from[positions[i]], i); },
        [&](std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
          const Stored* run = from + positions[i];
          for (std::int64_t k = 0; k < count; ++k) r[i + k] = masked(run[k], i + k);
          return true;
        });
  }
}

template <class I>
void gather_progression(void* out, std::int64_t start, std::int64_t step,
                        const std::uint64_t* positions, const Flag* flags, std::int64_t n) {
  auto* r = static_cast<I*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::uint64_t element =
        static_cast<std::uint64_t>(start) + positions[i] * static_cast<std::uint64_t>(step);
    r[i] = flags == nullptr || flags[i] != 0 ? static_cast<I>(element) : I{0};
  }
}

template <class E>
void scatter(void* out, const void* source, const std::uint64_t* positions, std::int64_t n,
             std::uint64_t begin, std::uint64_t end, bool prefetch) {
  auto* r = static_cast<E*>(out);
  const auto* from = static_cast<const E*>(source);
  E elsewhere;  // takes what is not for this range
  const auto move_run = [&](std::int64_t i, std::int64_t count) __attribute__((always_inline)) {
    const std::uint64_t last = positions[i] + static_cast<std::uint64_t>(count - 1);
    // Or a part of them is for this range, or a run that begins nowhere.
    if (positions[i] < begin || last < positions[i] || last >= end) return false;
    std::memcpy(r + positions[i], from + i, static_cast<std::size_t>(count) * sizeof(E));
    return true;
  };
  if (begin == 0 && end == kNowhere) {  // few elements are not
    move_all<true>(
        positions, n, prefetch,
        [&](std::int64_t i) __attribute__((always_inline)) { return address_of(r, positions[i]); },
        [&](std::int64_t i) __attribute__((always_inline)) {
          E* target = positions[i] - begin < end - begin ? r + positions[i] : &elsewhere;
          *target = from[i];
        },
        move_run);
    return;
  }
  // Whether an element is for this range cannot be predicted, so there must be no branch; and lines
  // of other ranges must be left to the threads that write them.
  const auto other = reinterpret_cast<std::uintptr_t>(&elsewhere);
  const auto target = [&](std::int64_t i) __attribute__((always_inline)) {
    std::uintptr_t inside =
        std::uintptr_t{0} - static_cast<std::uintptr_t>(positions[i] - begin < end - begin);
#if defined(__GNUC__)
    asm("" : "+r"(inside));  // or else the compiler would make a branch of it
#endif
    return other ^ ((other ^ address_of(r, positions[i])) & inside);
  };
  move_all<true>(
      positions, n, prefetch, target,
      [&](std::int64_t i)
          __attribute__((always_inline)) { *reinterpret_cast<E*>(target(i)) = from[i]; },
      move_run);
}

template <class E, class I>
void add_for_element(Kernels& kernels, Type type) {
  kernels.gather[static_cast<std::size_t>(type)] = gather<E>;
  kernels.gather_by_index[static_cast<std::size_t>(type)] = gather_by_index<E, I>;
  kernels.scatter[static_cast<std::size_t>(type)] = scatter<E>;
}

template <class I, class F>
void add_for_widths(Kernels& kernels) {
  kernels.locate = locate<I>;
  kernels.locate_in_one = locate_in_one<I>;
  kernels.indices_below = indices_below<I>;
  kernels.gather_progression = gather_progression<I>;
  kernels.gather_bytes = gather<std::make_unsigned_t<I>, std::uint8_t>;
  add_for_element<std::make_unsigned_t<I>, I>(kernels, Type::Int);
  add_for_element<std::uint8_t, I>(kernels, Type::Bool);
  add_for_element<F, I>(kernels, Type::Float);
}

}  // namespace

void add_gather_scatter_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() { add_for_widths<I, F>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
