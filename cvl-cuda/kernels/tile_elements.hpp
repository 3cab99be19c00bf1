// Elements of a tile, between memory and the shared memory of a block.
//
// In memory neighbouring threads take neighbouring elements; in shared memory each thread walks a
// run of its own. A thread has all its loads on their way before it uses the first one.
#pragma once

#include <cstdint>

#include "cvl-cuda/shapes.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Elements of a tile in shared memory. One place in 128 bytes stays free, so that threads that
/// walk runs of elements at the same pace use different banks.
template <class T, int kTile>
class TileElements {
 public:
  KERNEL_FN T& operator[](int index) {
    const auto place = static_cast<std::uint32_t>(index);  // divided by a shift
    return places_[place + place / kRow];
  }
  /// The elements from `index` on, up to the next multiple of kRow.
  KERNEL_FN T* run(int index) { return &(*this)[index]; }
  /// The same from `index + further` on, where the compiler knows `further`.
  KERNEL_FN T* run(int index, int further) {
    constexpr int kStep = static_cast<int>(kRow);
    return further % kStep == 0 ? run(index) + further + further / kStep : run(index + further);
  }

  static constexpr std::uint32_t kRow = 128 / sizeof(T);

 private:
  T places_[kTile + kTile / kRow];
};

/// The elements of a tile: element base + k has place k of shared memory, for the places from
/// `begin` to `end`. Of segmented tiles the first ones are free, so that packs of elements in
/// memory are packs of places.
struct TileWindow {
  std::int64_t base;
  int begin, end;

  /// That of `count` elements from `first` on.
  template <int kPack>
  static KERNEL_FN TileWindow of(std::int64_t first, int count) {
    // Cut, not subtracted: so nvcc sees that packs may be stored as such.
    const int skipped = static_cast<int>(first & (kPack - 1));
    return {first & -std::int64_t{kPack}, skipped, skipped + count};
  }
  KERNEL_FN bool has(int place) const { return place >= begin && place < end; }
  /// Where the first pack begins that the window has all of, and where the last one ends.
  template <int kPack>
  KERNEL_FN int packs_begin() const {
    return (begin + kPack - 1) & -kPack;
  }
  template <int kPack>
  KERNEL_FN int packs_end() const {
    return end & -kPack;
  }
  /// The place before or after those packs that a thread cares for, or -1.
  template <int kPack>
  KERNEL_FN int edge_place(int thread) const {
    const int first = packs_begin<kPack>(), last = packs_end<kPack>();
    const int place =
        thread < kPack ? begin + thread : (last < first ? first : last) + thread - kPack;
    return thread < 2 * kPack && place < end && (thread >= kPack || place < first) ? place : -1;
  }
};

/// Loads the elements of a tile, those of one thread, and fills the other places.
template <int kItems, class T, int kTile>
KERNEL_FN void load_tile(int thread, const Source<T>& source, const TileWindow& window, T filling,
                         TileElements<T, kTile>& elements) {
  constexpr int kThreads = shape::kThreads, kPack = shape::kPack<T>;
  static_assert(kItems % kPack == 0 && kTile == kItems * kThreads && kThreads >= 2 * kPack);
  const int first = window.packs_begin<kPack>(), last = window.packs_end<kPack>() - kPack;
  if (!source.dense() || first > last) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int k = 0; k < kItems; ++k) {
      const int place = thread + k * kThreads;
      elements[place] = window.has(place) ? source[window.base + place] : filling;
    }
    return;
  }
  const int edge = window.edge_place<kPack>(thread);
  T at_edge = filling;
  if (edge >= 0) at_edge = source.dense_element(window.base + edge);
  constexpr int kStep = kThreads * kPack;
  const int own = thread * kPack;
  const T* const begin = source.dense_address(window.base + first, last + kPack - first);
  Pack<T, kPack> packs[kItems / kPack];
  for (int k = 0; k < kItems / kPack; ++k) {
    // Beyond the window a pack of it is loaded again, which is cheaper than to ask each time.
    const int place = own + k * kStep;
    const int loaded = place < first ? first : place > last ? last : place;
    packs[k] = load_pack<T, kPack>(begin + static_cast<std::uint32_t>(loaded - first));
  }
  for (int k = 0; k < kItems / kPack; ++k) {
    const int place = own + k * kStep;
    T* const run = elements.run(own, k * kStep);
    if (place >= first && place <= last) {
      for (int j = 0; j < kPack; ++j) run[j] = packs[k].element[j];
    } else {
      for (int j = 0; j < kPack; ++j) {
        if (!window.has(place + j)) run[j] = filling;
      }
    }
  }
  if (edge >= 0) elements[edge] = at_edge;
}

/// Stores the elements of a tile, those of one thread.
template <int kItems, class T, int kTile>
KERNEL_FN void store_tile(int thread, const Array<T>& out, const TileWindow& window,
                          TileElements<T, kTile>& elements) {
  constexpr int kThreads = shape::kThreads, kPack = shape::kPack<T>;
  constexpr int kStep = kThreads * kPack;
  const int first = window.packs_begin<kPack>(), end = window.packs_end<kPack>();
  const int own = thread * kPack;
  for (int k = 0; k < kItems / kPack; ++k) {
    const int place = own + k * kStep;
    if (place < first || place >= end) continue;
    const T* const run = elements.run(own, k * kStep);
    Pack<T, kPack> pack;
    for (int j = 0; j < kPack; ++j) pack.element[j] = run[j];
    store_pack(out, window.base + place, pack);
  }
  const int edge = window.edge_place<kPack>(thread);
  if (edge >= 0) out[window.base + edge] = elements[edge];
}

/// Loads `count` elements of a tile from `first` on, those of one thread: own[k] is the element
/// first + thread + k * kThreads, or nothing beyond the end.
template <int kItems, class T>
KERNEL_FN void load_striped(int thread, const Source<T>& source, std::int64_t first, int count,
                            T (&own)[kItems]) {
  constexpr int kThreads = shape::kThreads;
  if (thread >= count) return;
  if (source.dense()) {
    const T* const begin = source.dense_address(first + thread, count - thread);
    for (int k = 0; k < kItems; ++k) {
      if (thread + k * kThreads < count) own[k] = begin[k * kThreads];
    }
  } else {
#if defined(__CUDA_ARCH__)
#pragma unroll
#endif
    for (int k = 0; k < kItems; ++k) {
      if (thread + k * kThreads < count) own[k] = source[first + thread + k * kThreads];
    }
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
