// The totals of segments, taken out of the running sums of a chunk.
//
// With AVX-512 no instruction is spent on a single segment: the sums before borders are compressed
// to the front of a list, which thus has one entry for each segment that is not empty, and then
// expanded to the segments that have elements. Elsewhere each segment loads and stores once.
#pragma once

#include "cvl-cpu/kernels/scan_blocks.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

/// Can totals of elements of T be computed as differences of sums that go on across segments?
template <class Op, class T>
constexpr bool kInvertible = std::is_same_v<Op, ops::Add>&& std::is_integral_v<T>;
template <class Op, class T>
constexpr bool kInvertible<Op, Block<T>> = kInvertible<Op, T>;

/// sum - before, in wrapping arithmetic.
template <class T>
CVL_FN T difference(T sum, T before) {
  return ops::Subtract::apply(sum, before);
}
template <class T>
CVL_FN Block<T> difference(const Block<T>& sum, const Block<T>& before) {
  using Wrapping [[gnu::vector_size(kRegisterBytes)]] = UnsignedLane<T>;
  Block<T> result;
  for (int k = 0; k < kRegisters; ++k) {
    result.parts[k] = reinterpret_cast<typename Block<T>::Register>(
        reinterpret_cast<Wrapping>(sum.parts[k]) - reinterpret_cast<Wrapping>(before.parts[k]));
  }
  return result;
}

/// What lies between two sums.
template <class Op, class Sums>
CVL_FN Sums total(const Sums& sum, const Sums& before) {
  if constexpr (kInvertible<Op, Sums>) {
    return difference(sum, before);
  } else {
    return sum;
  }
}

#if defined(__AVX512F__)

/// The set of segments with elements among the `valid` ones of kLanes.
template <int kLanes, class I>
CVL_FN LaneSet with_elements(const I* lengths, LaneSet valid) {
  if constexpr (sizeof(I) == 4) {
    const auto lanes = static_cast<__mmask16>(valid);
    const __m512i loaded = _mm512_maskz_loadu_epi32(lanes, lengths);
    return _mm512_test_epi32_mask(loaded, loaded);
  } else {
    const auto eight = [&](int shift) __attribute__((always_inline)) {
      const auto lanes = static_cast<__mmask8>(valid >> shift);
      const __m512i loaded = _mm512_maskz_loadu_epi64(lanes, lengths + shift);
      return static_cast<LaneSet>(_mm512_test_epi64_mask(loaded, loaded));
    };
    if constexpr (kLanes == 8) {
      return eight(0);
    } else {
      return eight(0) | eight(8) << 8;
    }
  }
}

/// Lanes of the set, moved together; the others are 0.
template <class T>
CVL_FN Block<T> compressed(LaneSet set, const Block<T>& x) {
  Block<T> result;
  const auto lanes = reinterpret_cast<__m512i>(x.parts[0]);
  result.parts[0] = reinterpret_cast<typename Block<T>::Register>(
      sizeof(T) == 8 ? _mm512_maskz_compress_epi64(static_cast<__mmask8>(set), lanes)
                     : _mm512_maskz_compress_epi32(static_cast<__mmask16>(set), lanes));
  return result;
}

/// The first lanes of `x` moved to the lanes of the set; the others are those of `fill`.
template <class T>
CVL_FN Block<T> expanded(LaneSet set, const Block<T>& x, const Block<T>& fill) {
  Block<T> result;
  const auto lanes = reinterpret_cast<__m512i>(x.parts[0]);
  const auto other = reinterpret_cast<__m512i>(fill.parts[0]);
  result.parts[0] = reinterpret_cast<typename Block<T>::Register>(
      sizeof(T) == 8 ? _mm512_mask_expand_epi64(other, static_cast<__mmask8>(set), lanes)
                     : _mm512_mask_expand_epi32(other, static_cast<__mmask16>(set), lanes));
  return result;
}

template <class T>
CVL_FN void store_some(T* to, LaneSet set, const Block<T>& x) {
  const auto lanes = reinterpret_cast<__m512i>(x.parts[0]);
  if constexpr (sizeof(T) == 8) {
    _mm512_mask_storeu_epi64(to, static_cast<__mmask8>(set), lanes);
  } else {
    _mm512_mask_storeu_epi32(to, static_cast<__mmask16>(set), lanes);
  }
}

#endif

/// Takes totals out of running sums, chunk by chunk. Every block of a chunk is given to put(), or
/// several at once to skip().
template <class Op, class T, class I>
class TotalsTaker {
 public:
  /// Memory to work in. It lies outside so that everything else can stay in registers.
  struct Buffer {
    T sums[kChunk + 2 * Block<T>::kLanes];
  };

  /// `open` is the sum before the tile. Totals of the segments of the tile go to `results`, that of
  /// an earlier segment to `continued`.
  CVL_FN TotalsTaker(T* results, T* continued, T open, Buffer& buffer)
      : results_(results),
        open_result_(continued),
        open_(open),
        last_(broadcast(open, Block<T>{})),
        sums_(buffer.sums) {}

  /// The inclusive sums of the block that begins at element i of the chunk.
  CVL_FN void put(std::int64_t i, LaneSet heads, const Block<T>& sums) {
#if defined(__AVX512F__)
    static_cast<void>(i);
    // Stores that overwrite each other again and again would keep end_chunk() waiting.
    if (heads != 0) {
      const Block<T> before = compressed(heads, shift_up<1>(sums, last_));
      std::memcpy(sums_ + 1 + listed_, before.parts, kBlockBytes);
      listed_ += __builtin_popcountll(heads);
    }
#else
    static_cast<void>(heads);
    sums_[i] = last_lane(last_);
    std::memcpy(sums_ + i + 1, sums.parts, kBlockBytes);
#endif
    last_ = sums;
  }
  /// Any number of blocks without borders; all lanes are the sum at their end.
  CVL_FN void skip(const Block<T>& sum) {
    last_ = sum;
  }

  /// Segments from.next ... to.next-1 begin in the chunk, at least one. The chunk begins at
  /// `begin`.
  CVL_FN void end_chunk(const SegmentCursor<I>& from, const SegmentCursor<I>& to,
                        std::int64_t begin) {
#if defined(__AVX512F__)
    static_cast<void>(begin);
    expand_list(from, to);
#else
    take_each(from, to, begin);
#endif
    // The last segment goes on: what may have been written for it is overwritten at last.
    open_result_ = results_ + to.next - 1;
  }

  /// The tile ends behind lane `lane` of the last block, or after a skip.
  CVL_FN void finish(std::int64_t lane) {
    T lanes[kLanes];
    std::memcpy(lanes, last_.parts, kBlockBytes);
    *open_result_ = total<Op>(lanes[lane], open_);
  }

 private:
  static constexpr int kLanes = Block<T>::kLanes;

#if defined(__AVX512F__)
  CVL_FN void expand_list(const SegmentCursor<I>& from, const SegmentCursor<I>& to) {
    sums_[0] = open_;
    *open_result_ = total<Op>(sums_[1], sums_[0]);
    const Block<T> identity = broadcast(Op::template identity<T>(), Block<T>{});
    const T* entry = sums_ + 1;
    for (std::int64_t k = from.next; k < to.next; k += kLanes) {
      const std::int64_t left = to.next - k;
      const LaneSet valid = lanes_below(static_cast<int>(left < kLanes ? left : kLanes));
      const LaneSet set =
          from.lengths != nullptr ? with_elements<kLanes>(from.lengths + k, valid) : valid;
      const Block<T> totals = total<Op>(load_lanes(entry + 1), load_lanes(entry));
      __builtin_prefetch(results_ + k + kAhead<T>, 1, 3);
      store_some(results_ + k, valid, expanded(set, totals, identity));
      entry += __builtin_popcountll(set);
    }
    open_ = sums_[listed_];
    listed_ = 0;
  }
#else
  CVL_FN void take_each(const SegmentCursor<I>& from, const SegmentCursor<I>& to,
                        std::int64_t begin) {
    const T identity = Op::template identity<T>();
    std::int64_t position = from.position - begin;
    T before = sums_[position];
    *open_result_ = total<Op>(before, open_);
    T* const end = results_ + to.next - 1;
    const I* length = from.lengths != nullptr ? from.lengths + from.next : nullptr;
    for (T* result = results_ + from.next; result < end; ++result) {
      const std::int64_t n = length != nullptr ? *length++ : from.uniform_length;
      position += n;
      const T sum = sums_[position];
      *result = n == 0 ? identity : total<Op>(sum, before);
      before = sum;
    }
    open_ = before;
  }
#endif

  T* results_;
  T* open_result_;
  T open_;         // the sum before the open segment
  Block<T> last_;  // the sums of the last block
#if defined(__AVX512F__)
  std::int64_t listed_ = 0;
#endif
  /// With AVX-512 the sum before the open segment and those before all borders of the chunk, else
  /// the sums before all elements of it.
  T* sums_;
};

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
