// Elements of a tile, between memory and the shared memory of a block.
//
// In memory neighbouring threads take neighbouring elements; in shared memory each thread walks a
// run of its own. A thread has all its loads on their way before it uses the first one, whatever
// form the operand has.
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

  static constexpr std::uint32_t kRow = 128 / sizeof(T);

 private:
  T places_[kTile + kTile / kRow];
};

/// Calls store(k, element first + k) for the `count` elements of a tile, those of one thread.
template <int kItems, class T, class Store>
KERNEL_FN void load_striped(int thread, const Source<T>& source, std::int64_t first, int count,
                            const Store& store) {
  constexpr int kThreads = shape::kThreads;
  if (count == 0) return;
  T own[kItems];
  if (source.dense()) {
    const T* const elements = source.dense_address(first, count);
    // Beyond the end the last element is loaded again, which is cheaper than to ask each time.
    for (int k = 0; k < kItems; ++k) {
      const int place = thread + k * kThreads;
      own[k] = elements[static_cast<std::uint32_t>(place < count ? place : count - 1)];
    }
  } else {
    for (int k = 0; k < kItems; ++k) {
      const int place = thread + k * kThreads;
      own[k] = source[first + (place < count ? place : count - 1)];
    }
  }
  for (int k = 0; k < kItems; ++k) {
    if (thread + k * kThreads < count) store(thread + k * kThreads, own[k]);
  }
}

/// Loads the `count` elements of a tile from `first` on, those of one thread: by packs where all
/// threads have kItems of them and the first one begins a pack.
template <int kItems, class T, int kTile>
KERNEL_FN void load_tile(int thread, const Source<T>& source, std::int64_t first, int count,
                         TileElements<T, kTile>& elements) {
  constexpr int kThreads = shape::kThreads, kPack = shape::kPack<T>;
  static_assert(kItems % kPack == 0 && kTile == kItems * kThreads);
  if (!source.dense() || count < kTile || first % kPack != 0) {
    return load_striped<kItems>(thread, source, first, count,
                                [&](int k, T element) { elements[k] = element; });
  }
  Pack<T, kPack> packs[kItems / kPack];
  for (int k = 0; k < kItems / kPack; ++k) {
    packs[k] = source.template dense_pack<kPack>(first + (k * kThreads + thread) * kPack);
  }
  for (int k = 0; k < kItems / kPack; ++k) {
    T* const run = elements.run((k * kThreads + thread) * kPack);
    for (int j = 0; j < kPack; ++j) run[j] = packs[k].element[j];
  }
}

/// Stores the `count` elements of a tile from `first` on, those of one thread.
template <int kItems, class T, int kTile>
KERNEL_FN void store_tile(int thread, const Array<T>& out, std::int64_t first, int count,
                          TileElements<T, kTile>& elements) {
  constexpr int kThreads = shape::kThreads, kPack = shape::kPack<T>;
  if (count < kTile || first % kPack != 0) {
    for (int k = thread; k < count; k += kThreads) out[first + k] = elements[k];
    return;
  }
  for (int k = 0; k < kItems / kPack; ++k) {
    const int place = (k * kThreads + thread) * kPack;
    const T* const run = elements.run(place);
    Pack<T, kPack> pack;
    for (int j = 0; j < kPack; ++j) pack.element[j] = run[j];
    store_pack(out, first + place, pack);
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
