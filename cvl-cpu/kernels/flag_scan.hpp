// Scans of BOOL: 64 elements are one word of bits, and a handful of word operations scans them all,
// whatever segments they lie in.
//
// A disjunction spreads from a lane that is T up to the next border, as a carry spreads through an
// addition: see spread(). Conjunctions are disjunctions of inverted bits. A parity is that of all
// lanes from the beginning of the word on, from which that before the segment is taken away.
#pragma once

#include "cvl-cpu/kernels/scan_blocks.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class Op>
class TileScan<Op, Bool> {
 public:
  static constexpr int kLanes = BitBlock::kLanes;

  CVL_FN explicit TileScan(Bool prefix) : carry_((prefix ^ kFlip) & 1) {}

  /// Exclusive results of a block without borders.
  CVL_FN BitBlock exclusive(BitBlock x) {
    const std::uint64_t bits = x.bits ^ kFlip;
    const std::uint64_t all = std::uint64_t{0} - carry_;
    if constexpr (kParity) {
      const std::uint64_t sums = parities(bits) ^ all;
      carry_ = sums >> 63;
      return {sums ^ bits};
    } else {
      carry_ |= bits != 0;
      // From above the lowest bit on.
      return {((bits ^ (std::uint64_t{0} - bits)) | all) ^ kFlip};
    }
  }

  /// Exclusive results of a block in which segments begin at `heads`.
  CVL_FN BitBlock exclusive(BitBlock x, LaneSet heads) {
    const std::uint64_t bits = x.bits ^ kFlip;
    if constexpr (kParity) {
      const std::uint64_t sums = parities(bits);
      const std::uint64_t left = sums << 1;
      const std::uint64_t before_segment = spread(left & heads, ~heads, carry_);
      carry_ = (sums ^ before_segment) >> 63;
      return {left ^ before_segment};
    } else {
      const std::uint64_t sums = spread(bits, ~heads, carry_);
      const std::uint64_t left = sums << 1 | carry_;
      carry_ = sums >> 63;
      return {(left & ~heads) ^ kFlip};
    }
  }

  /// Takes in a block without borders, without any results.
  CVL_FN void skip(BitBlock x) {
    const std::uint64_t bits = x.bits ^ kFlip;
    if constexpr (kParity) {
      carry_ ^= static_cast<std::uint64_t>(__builtin_parityll(bits));
    } else {
      carry_ |= bits != 0;
    }
  }

  /// Total of the segment that is open after the last block.
  CVL_FN Bool total() const { return static_cast<Bool>((carry_ ^ kFlip) & 1); }
  CVL_FN Bool next_prefix() const { return total(); }
  /// Neutral lanes.
  CVL_FN BitBlock start() const { return {kFlip}; }

 private:
  static constexpr bool kParity = std::is_same_v<Op, ops::Xor>;
  static constexpr std::uint64_t kFlip = std::is_same_v<Op, ops::And> ? ~std::uint64_t{0} : 0;

  /// A lane of the result is set if it is in `set`, or if it is in `joined` and the lane below it
  /// is set in the result; `carry` stands for the lane below the lowest. These are the carries out
  /// of the places of an addition.
  static CVL_FN std::uint64_t spread(std::uint64_t set, std::uint64_t joined, std::uint64_t carry) {
    const std::uint64_t either = set | joined;
    const std::uint64_t carries_in = either ^ set ^ (either + set + carry);
    return set | (joined & carries_in);
  }
  /// Parity of each lane and all below it.
  static CVL_FN std::uint64_t parities(std::uint64_t bits) {
    for (int distance = 1; distance < kLanes; distance *= 2) bits ^= bits << distance;
    return bits;
  }

  std::uint64_t carry_;  // 0 or 1: of the open segment, inverted if kFlip
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
