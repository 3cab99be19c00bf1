// Folding segments of BOOL: elements become bits, and a segment of up to kMostBits is one word.
#pragma once

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/lanes.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// The bits of a tile, and folds of parts of it.
template <class Op>
class FlagFold {
 public:
  /// Takes the elements [begin, end), at most a tile of them. REQUIRES: x + begin is aligned to 64.
  CVL_FN FlagFold(const Bool* x, std::int64_t begin, std::int64_t end) : begin_(begin) {
    std::uint64_t* word = words_;
    for (std::int64_t i = begin; i < end; i += kBlockBytes) {
      *word++ = gather_bits<kBlockBytes>(x + i) ^ kFlip;
    }
    *word = 0;
  }

  CVL_FN Bool total(std::int64_t from, std::int64_t to) const {
    std::uint64_t bit = static_cast<std::uint64_t>(from - begin_);
    std::uint64_t left = static_cast<std::uint64_t>(to - from);
    if (left <= kMostBits) return result(bits_at(bit) & lanes_below(static_cast<int>(left)));
    // Up to the next whole word, whole words, and the rest.
    std::uint64_t folded = words_[bit / 64] >> (bit % 64);
    const std::uint64_t head = 64 - bit % 64;
    if (head >= left) return result(folded & (~std::uint64_t{0} >> (64 - left)));
    left -= head;
    const std::uint64_t* word = words_ + bit / 64 + 1;
    for (; left >= 64; left -= 64) folded = Fold::apply(folded, *word++);
    return result(Fold::apply(folded, *word & lanes_below(static_cast<int>(left))));
  }

 private:
  /// So many bits fit a word that begins with any byte.
  static constexpr std::uint64_t kMostBits = 57;
  /// A conjunction is F where any inverted bit is set: zeros are neutral for all operators.
  static constexpr bool kInverted = std::is_same_v<Op, ops::And>;
  static constexpr std::uint64_t kFlip = kInverted ? ~std::uint64_t{0} : 0;
  using Fold = std::conditional_t<std::is_same_v<Op, ops::Xor>, ops::Xor, ops::Or>;

  CVL_FN std::uint64_t bits_at(std::uint64_t bit) const {
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const std::byte*>(words_) + bit / 8, sizeof word);
    return word >> (bit % 8);
  }
  static CVL_FN Bool result(std::uint64_t bits) {
    if constexpr (std::is_same_v<Op, ops::Xor>) {
      return static_cast<Bool>(__builtin_parityll(bits));
    } else {
      return (bits != 0) != kInverted;
    }
  }

  std::int64_t begin_;
  // One word more, which reads of the last bits may touch.
  std::uint64_t words_[LargestTuning::fold_tile_bytes / kBlockBytes + 1];
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
