// The map skeleton: element i of the result depends on element i of the operands.
//
// Blocks cover kTile elements each; a thread loads packs of elements that lie side by side,
// neighbouring threads neighbouring packs, all loads of a thread before its first store.
#pragma once

#include <cstdint>

#include "cvl-cuda/shapes.hpp"
#include "cvl-cuda/source.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

struct NoShared {};

/// `Body` has load(i) and load_pack(i), which fetch what element i (or kPack elements from i on)
/// needs, and store(i, loaded), store_pack(i, loaded).
template <class Body>
struct MapKernel {
  static constexpr int kThreads = shape::kThreads;
  static constexpr int kPacks = shape::kMapElements / Body::kPack;
  static constexpr int kTile = kThreads * shape::kMapElements;
  using Shared = NoShared;

  Body body;
  std::int64_t length;

  template <class Block>
  KERNEL_FN void operator()(Block& block, Shared& shared) const {
    tile(block, shared, block.index());
  }
  template <class Block>
  KERNEL_FN void tile(Block& block, Shared&, std::int64_t number) const {
    const std::int64_t begin = number * kTile;
    block.each([&](int thread) {
      if (begin + kTile <= length) {
        decltype(body.load_pack(0)) loaded[kPacks];
        for (int k = 0; k < kPacks; ++k) {
          loaded[k] = body.load_pack(place(begin, thread, k));
        }
        for (int k = 0; k < kPacks; ++k) {
          body.store_pack(place(begin, thread, k), loaded[k]);
        }
      } else {
        for (std::int64_t i = begin + thread; i < length; i += kThreads) {
          body.store(i, body.load(i));
        }
      }
    });
  }

 private:
  static KERNEL_FN std::int64_t place(std::int64_t begin, int thread, int k) {
    return begin + static_cast<std::int64_t>(k * kThreads + thread) * Body::kPack;
  }
};

/// Writes elements of any form to memory.
template <class T>
struct CopyBody {
  static constexpr int kPack = shape::kPack<T>;

  Source<T> source;
  Array<T> out;

  KERNEL_FN T load(std::int64_t i) const { return source[i]; }
  KERNEL_FN Pack<T, kPack> load_pack(std::int64_t i) const {
    return source.template pack<kPack>(i);
  }
  KERNEL_FN void store(std::int64_t i, T element) const { out[i] = element; }
  KERNEL_FN void store_pack(std::int64_t i, const Pack<T, kPack>& in) const {
    CVL_CUDA_TARGET::store_pack(out, i, in);
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
