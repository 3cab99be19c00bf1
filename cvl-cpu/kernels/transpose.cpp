// Rows that lie anywhere are put side by side, in registers.

#include <algorithm>
#include <cstring>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/lanes.hpp"
#include "cvl-cpu/kernels/widths.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class E>
using Lanes [[gnu::vector_size(kRegisterBytes)]] = E;

/// Of two rows of a square, those lanes that stay in the upper one, or go to the lower one, when
/// squares of kSize lanes are exchanged.
template <int kSize, bool kLower, class Register, int... kLane>
CVL_FN Register exchanged(Register upper, Register lower, std::integer_sequence<int, kLane...>) {
  constexpr int kLanes = sizeof...(kLane);
  return __builtin_shufflevector(upper, lower,
                                 ((kLane & kSize) == 0 ? kLane + (kLower ? kSize : 0)
                                                       : kLanes + kLane - (kLower ? 0 : kSize))...);
}

/// Transposes a square of registers by exchanging halves, quarters, and so on.
template <int kSize, class Register, int kLanes>
CVL_FN void transpose_square(Register (&square)[kLanes]) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes>{};
  for (int k = 0; k < kLanes; ++k) {
    if ((k & kSize) != 0) continue;
    const Register upper = square[k], lower = square[k + kSize];
    square[k] = exchanged<kSize, false>(upper, lower, kAll);
    square[k + kSize] = exchanged<kSize, true>(upper, lower, kAll);
  }
  if constexpr (kSize > 1) transpose_square<kSize / 2>(square);
}

/// The same row everywhere.
template <class E>
CVL_FN void repeat_row(E* out, const E* row, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < kRowsTogether; ++k) out[i * kRowsTogether + k] = row[i];
  }
}

template <class E>
void transpose_rows(void* out, const std::uintptr_t* rows, std::int64_t n) {
  constexpr int kLanes = kRegisterBytes / sizeof(E);
  auto* r = static_cast<E*>(out);
  if (std::all_of(rows, rows + kRowsTogether, [&](auto row) { return row == rows[0]; })) {
    return repeat_row(r, reinterpret_cast<const E*>(rows[0]), n);
  }
  for (std::int64_t i = 0; i < n; i += kLanes) {
    for (std::int64_t first = 0; first < kRowsTogether; first += kLanes) {
      Lanes<E> square[kLanes];
      for (int k = 0; k < kLanes; ++k) {
        std::memcpy(square + k, reinterpret_cast<const E*>(rows[first + k]) + i, kRegisterBytes);
      }
      transpose_square<kLanes / 2>(square);
      for (int k = 0; k < kLanes; ++k) {
        std::memcpy(r + (i + k) * kRowsTogether + first, square + k, kRegisterBytes);
      }
    }
  }
}

/// BOOLs.
void transpose_bytes(void* out, const std::uintptr_t* rows, std::int64_t n) {
  auto* r = static_cast<std::uint8_t*>(out);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < kRowsTogether; ++k) {
      *r++ = reinterpret_cast<const std::uint8_t*>(rows[k])[i];
    }
  }
}

}  // namespace

void add_transpose_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() {
    kernels.transpose_rows[static_cast<std::size_t>(Type::Int)] =
        transpose_rows<std::make_unsigned_t<I>>;
    kernels.transpose_rows[static_cast<std::size_t>(Type::Float)] = transpose_rows<F>;
  });
  kernels.transpose_rows[static_cast<std::size_t>(Type::Bool)] = transpose_bytes;
}

}  // namespace cvl::cpu::CVL_ISA
