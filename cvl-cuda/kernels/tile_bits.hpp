// A bit or a byte for each place of a tile, in the shared memory of a block.
#pragma once

#include <cstdint>

#include "cvl-cuda/kernels/block_scan.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

struct CountFold {
  using State = int;
  static KERNEL_FN int neutral() { return 0; }
  static KERNEL_FN int combine(int a, int b) { return a + b; }
};

/// A bit in words of 32.
struct BitPlace {
  std::uint32_t word, bit;

  static KERNEL_FN BitPlace of(int place) {
    const auto at = static_cast<std::uint32_t>(place);  // divided by a shift
    return {at / 32, at % 32};
  }
  /// The same for thread + stripe * kThreads. Where warps are whole words, only the first part is
  /// computed by each thread.
  static KERNEL_FN BitPlace striped(int thread, int stripe) {
    if constexpr (shape::kThreads % 32 == 0) {
      BitPlace result = of(thread);
      result.word += static_cast<std::uint32_t>(stripe * (shape::kThreads / 32));
      return result;
    } else {
      return of(thread + stripe * shape::kThreads);
    }
  }
  KERNEL_FN std::uint32_t mask() const { return 1u << bit; }
};

template <int kPlaces>
class TileBits {
 public:
  static constexpr int kWords = (kPlaces + 31) / 32;

  /// By all threads of the block, before a barrier and the first set().
  KERNEL_FN void clear(int thread) {
    for (int k = thread; k < kWords; k += shape::kThreads) words_[k] = 0;
  }
  KERNEL_FN void set(int place) {
    const BitPlace at = BitPlace::of(place);
    or_in_block(&words_[at.word], at.mask());
  }
  /// Sets the bit of the thread's place of a stripe if `bit`. By all threads of the block: on a
  /// device the lanes of a warp do so at once.
  KERNEL_FN void set_striped(int thread, int stripe, bool bit) {
    const BitPlace at = BitPlace::striped(thread, stripe);
#if defined(CVL_CUDA_WARPS)
    const std::uint32_t word = __ballot_sync(kAllLanes, bit);
    if (at.bit == 0) words_[at.word] = word;
#else
    if (bit) or_in_block(&words_[at.word], at.mask());
#endif
  }

  KERNEL_FN std::uint32_t word(std::uint32_t k) const {
    return words_[k];
  }
  /// The bits of `count` places from `place` on, which lie in one word.
  KERNEL_FN std::uint32_t run(int place, int count) const {
    const BitPlace at = BitPlace::of(place);
    const std::uint32_t bits = words_[at.word] >> at.bit;
    return count == 32 ? bits : bits & ((1u << count) - 1);
  }

 private:
  std::uint32_t words_[kWords];
};

/// The same with the numbers of bits that are set before each word.
template <int kPlaces>
class CountedBits {
 public:
  TileBits<kPlaces> bits;

  /// By all threads of the block, when all bits are set; leaves in `total` how many there are.
  template <class Block, class PerThreadInt>
  KERNEL_FN void count(Block& block, PerThreadInt& state, ScanShared<int>& scan, int& total) {
    constexpr int kWords = TileBits<kPlaces>::kWords;
    static_assert(kWords <= shape::kThreads);
    block.each([&](int thread) {
      state[thread] = thread < kWords ? ones_in(bits.word(static_cast<std::uint32_t>(thread))) : 0;
    });
    exclusive_scan<CountFold>(block, state, scan, total);
    block.each([&](int thread) {
      if (thread < kWords) before_[thread] = state[thread];
    });
  }

  KERNEL_FN bool operator[](const BitPlace& at) const {
    return (bits.word(at.word) & at.mask()) != 0;
  }
  /// How many bits are set at lower places. REQUIRES: this one is below kPlaces.
  KERNEL_FN int before(const BitPlace& at) const {
    return before_[at.word] + ones_in(bits.word(at.word) & (at.mask() - 1));
  }

 private:
  int before_[TileBits<kPlaces>::kWords];
};

/// A flag for each place of a tile in a byte of its own, which threads can set that know nothing of
/// each other.
template <int kPlaces>
class TileFlags {
 public:
  /// By all threads of the block, before a barrier and the first set().
  KERNEL_FN void clear(int thread) {
    for (int k = thread; k < kPlaces / 4; k += shape::kThreads) words_[k] = 0;
  }
  KERNEL_FN void set(int place) { reinterpret_cast<std::uint8_t*>(words_)[place] = 1; }
  /// Those of `count` places from `place` on, as bits. Both are multiples of 4.
  KERNEL_FN std::uint32_t run(int place, int count) const {
    std::uint32_t bits = 0;
    for (int k = 0; k < count / 4; ++k) {
      // The product has its bytes 0, 1, 2, 3 in bits 24, 25, 26, 27.
      bits |= (words_[place / 4 + k] * 0x01020408u >> 24 & 15) << 4 * k;
    }
    return bits;
  }

 private:
  static_assert(kPlaces % 4 == 0);
  alignas(16) std::uint32_t words_[kPlaces / 4];
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
