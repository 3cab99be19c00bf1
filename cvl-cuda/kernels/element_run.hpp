// Elements that lie side by side and belong to one thread: moved 16 bytes at a time.
#pragma once

#include <cstdint>

#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// As many elements as are moved at once, of a run of `count`, which is a power of two.
template <class T>
constexpr int piece_of_run(int count) {
  const int most = 16 / static_cast<int>(sizeof(T));
  return count < most ? count : most;
}

/// Calls take(k, element from + k) for the elements of a run. REQUIRES: the source is dense, and
/// `from` a multiple of kCount.
template <int kCount, class T, class Take>
KERNEL_FN void load_elements(const Source<T>& source, std::int64_t from, const Take& take) {
  constexpr int kPiece = piece_of_run<T>(kCount);
  for (int k = 0; k < kCount; k += kPiece) {
    const Pack<T, kPiece> piece = source.template dense_pack<kPiece>(from + k);
    for (int j = 0; j < kPiece; ++j) take(k + j, piece.element[j]);
  }
}

/// Stores element(k) at from + k, for all of a run. REQUIRES: `from` is a multiple of kCount.
template <int kCount, class T, class Element>
KERNEL_FN void store_elements(const Array<T>& out, std::int64_t from, const Element& element) {
  constexpr int kPiece = piece_of_run<T>(kCount);
  for (int k = 0; k < kCount; k += kPiece) {
    Pack<T, kPiece> piece;
    for (int j = 0; j < kPiece; ++j) piece.element[j] = element(k + j);
    store_pack(out, from + k, piece);
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
