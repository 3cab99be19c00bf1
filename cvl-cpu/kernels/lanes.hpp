// Blocks of 64 bytes, the unit that scans and reductions work in.
//
// A block has the same lanes on every processor: one AVX-512 register, two of AVX2, four of SSE.
// What is computed lane by lane and in which order therefore never depends on the instruction set,
// and FLOAT results have the same bits everywhere. BOOL blocks of scans are one bit per lane in a
// general register: 64 lanes shift and combine in single instructions.
//
// Private to kernel files: everything is local to the file that includes it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

using Bool = ops::Bool;

constexpr std::int64_t kBlockBytes = 64;
#if defined(__AVX512F__)
constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
constexpr int kRegisterBytes = 32;
#else
constexpr int kRegisterBytes = 16;
#endif
constexpr int kRegisters = kBlockBytes / kRegisterBytes;

/// 64 / sizeof(T) lanes of T.
template <class T>
struct Block {
  static constexpr int kLanes = kBlockBytes / sizeof(T);
  static constexpr int kPart = kRegisterBytes / sizeof(T);  // lanes of one register
  using Register [[gnu::vector_size(kRegisterBytes)]] = T;
  Register parts[kRegisters];
};

/// The lanes of a BOOL block, lane i in bit i.
struct BitBlock {
  static constexpr int kLanes = kBlockBytes;
  std::uint64_t bits;
};

/// How a scan holds a block of T.
template <class T>
using ScanBlock = std::conditional_t<std::is_same_v<T, Bool>, BitBlock, Block<T>>;

template <class T>
using SignedLane = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
template <class T>
using UnsignedLane = std::make_unsigned_t<SignedLane<T>>;

/// A set of lanes; lane i is bit i.
using LaneSet = std::uint64_t;

constexpr LaneSet lanes_below(int lane) {
  return (LaneSet{1} << lane) - 1;
}

/// Makes the compiler compute a set in a general register. It would shift it in a mask register,
/// which takes four cycles instead of one.
CVL_FN void keep_in_register(LaneSet& set) {
#if defined(__x86_64__)
  asm("" : "+r"(set));
#else
  static_cast<void>(set);
#endif
}

// --- Bytes and bits -----------------------------------------------------------------------------

#if !defined(__SSE2__)
/// Lowest bits of eight bytes as one byte: the multiplication moves byte i to bit 56 + i.
CVL_FN std::uint64_t low_bits(std::uint64_t bytes) {
  return ((bytes & 0x0101010101010101u) * 0x0102040810204080u) >> 56;
}
#endif

/// The lowest bit of each of `kCount` bytes (8, 16 or 64).
template <int kCount>
CVL_FN LaneSet gather_bits(const std::uint8_t* bytes) {
#if defined(__AVX512BW__)
  if constexpr (kCount == 64) {
    return _mm512_test_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(1));
  }
#endif
#if defined(__SSE2__)
  const auto sixteen = [](const std::uint8_t* from) __attribute__((always_inline)) {
    const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return static_cast<LaneSet>(
        static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(loaded, 7))));
  };
  if constexpr (kCount == 8) {
    const __m128i loaded = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
    return static_cast<LaneSet>(
        static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_slli_epi16(loaded, 7))));
  } else if constexpr (kCount == 16) {
    return sixteen(bytes);
  } else {
    return sixteen(bytes) | sixteen(bytes + 16) << 16 | sixteen(bytes + 32) << 32 |
           sixteen(bytes + 48) << 48;
  }
#else
  LaneSet result = 0;
  for (int i = 0; i < kCount; i += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, bytes + i, 8);
    result |= low_bits(eight) << i;
  }
  return result;
#endif
}

// --- Lane-wise ----------------------------------------------------------------------------------

template <class T>
CVL_FN Block<T> broadcast(T element, const Block<T>&) {
  Block<T> result;
  for (auto& part : result.parts) part = element - typename Block<T>::Register{};
  return result;
}
CVL_FN BitBlock broadcast(Bool element, const BitBlock&) {
  return {std::uint64_t{0} - element};
}
template <class T>
CVL_FN ScanBlock<T> broadcast(T element) {
  return broadcast(element, ScanBlock<T>{});
}

// The larger or smaller lanes of FLOAT registers, the second operand where neither is. Processors
// have instructions with just this meaning, but g++ does not find them for vector types.
#if defined(__AVX512F__)
#define CVL_FLOAT_INSTRUCTION(name, a, b) _mm512_maskz_##name(-1, a, b)
#elif defined(__AVX2__)
#define CVL_FLOAT_INSTRUCTION(name, a, b) _mm256_##name(a, b)
#elif defined(__SSE2__)
#define CVL_FLOAT_INSTRUCTION(name, a, b) _mm_##name(a, b)
#endif

template <bool kLarger, class T, class Register>
CVL_FN Register extreme(Register a, Register b) {
#if defined(CVL_FLOAT_INSTRUCTION)
  if constexpr (std::is_same_v<T, double>) {
    return kLarger ? CVL_FLOAT_INSTRUCTION(max_pd, a, b) : CVL_FLOAT_INSTRUCTION(min_pd, a, b);
  } else if constexpr (std::is_same_v<T, float>) {
    return kLarger ? CVL_FLOAT_INSTRUCTION(max_ps, a, b) : CVL_FLOAT_INSTRUCTION(min_ps, a, b);
  } else
#endif
    return (kLarger ? a > b : a < b) ? a : b;
}

/// Stands for a combiner where no operand is NaN.
template <class Op>
struct OfNumbers {};

/// The combiner of scans and reductions on all lanes of a register. The functors of scalar_ops.hpp
/// define what it means; these are the forms of them that vector types can be given to.
template <class Op, class T, class Register>
CVL_FN Register combine_register(Register a, Register b) {
  if constexpr (std::is_same_v<Op, ops::Add> || std::is_same_v<Op, ops::Multiply>) {
    if constexpr (ops::is_float<T>) {
      return std::is_same_v<Op, ops::Add> ? a + b : a * b;
    } else {
      using Wrapping [[gnu::vector_size(kRegisterBytes)]] = std::make_unsigned_t<T>;
      const auto x = reinterpret_cast<Wrapping>(a);
      const auto y = reinterpret_cast<Wrapping>(b);
      return reinterpret_cast<Register>(std::is_same_v<Op, ops::Add> ? x + y : x * y);
    }
  } else if constexpr (std::is_same_v<Op, OfNumbers<ops::Max>> ||
                       std::is_same_v<Op, OfNumbers<ops::Min>>) {
    return extreme<std::is_same_v<Op, OfNumbers<ops::Max>>, T>(a, b);
  } else if constexpr (std::is_same_v<Op, ops::Max> || std::is_same_v<Op, ops::Min>) {
    const Register chosen = extreme<std::is_same_v<Op, ops::Max>, T>(a, b);
    if constexpr (ops::is_float<T>) {
      return a != a ? a : chosen;
    } else {
      return chosen;
    }
  } else {
    return Op::apply(a, b);  // bitwise
  }
}

template <class Op, class T>
CVL_FN Block<T> combine(const Block<T>& a, const Block<T>& b) {
  Block<T> result;
  for (int k = 0; k < kRegisters; ++k) {
    result.parts[k] = combine_register<Op, T>(a.parts[k], b.parts[k]);
  }
  return result;
}

/// Lanes of `a` where the set has them, else lanes of `b`.
template <class T>
CVL_FN Block<T> select(LaneSet set, const Block<T>& a, const Block<T>& b) {
  using Register = typename Block<T>::Register;
  Block<T> result;
#if defined(__AVX512F__)
  // Blends of the lanes' own type, which the compiler can make part of what computes `a`.
  if constexpr (std::is_same_v<T, double>) {
    result.parts[0] = reinterpret_cast<Register>(
        _mm512_mask_blend_pd(static_cast<__mmask8>(set), reinterpret_cast<__m512d>(b.parts[0]),
                             reinterpret_cast<__m512d>(a.parts[0])));
  } else if constexpr (std::is_same_v<T, float>) {
    result.parts[0] = reinterpret_cast<Register>(
        _mm512_mask_blend_ps(static_cast<__mmask16>(set), reinterpret_cast<__m512>(b.parts[0]),
                             reinterpret_cast<__m512>(a.parts[0])));
  } else if constexpr (sizeof(T) == 8) {
    result.parts[0] = reinterpret_cast<Register>(
        _mm512_mask_blend_epi64(static_cast<__mmask8>(set), reinterpret_cast<__m512i>(b.parts[0]),
                                reinterpret_cast<__m512i>(a.parts[0])));
  } else {
    result.parts[0] = reinterpret_cast<Register>(
        _mm512_mask_blend_epi32(static_cast<__mmask16>(set), reinterpret_cast<__m512i>(b.parts[0]),
                                reinterpret_cast<__m512i>(a.parts[0])));
  }
#else
  using Word = UnsignedLane<T>;
  using Words [[gnu::vector_size(kRegisterBytes)]] = Word;
  Words lane_bits;
  for (int i = 0; i < Block<T>::kPart; ++i) lane_bits[i] = Word{1} << i;
  for (int k = 0; k < kRegisters; ++k) {
    const Words spread = static_cast<Word>(set >> (k * Block<T>::kPart)) - Words{};
    result.parts[k] = (spread & lane_bits) == lane_bits ? a.parts[k] : b.parts[k];
  }
  static_assert(sizeof(Register) == sizeof(Words));
#endif
  return result;
}
CVL_FN BitBlock select(LaneSet set, BitBlock a, BitBlock b) {
  return {(a.bits & set) | (b.bits & ~set)};
}

/// Is any lane of a FLOAT block NaN?
template <class T>
CVL_FN bool has_nan(const Block<T>& x) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8) {
    return _mm512_cmp_pd_mask(x.parts[0], x.parts[0], _CMP_UNORD_Q) != 0;
  } else {
    return _mm512_cmp_ps_mask(x.parts[0], x.parts[0], _CMP_UNORD_Q) != 0;
  }
#else
  auto unordered = x.parts[0] != x.parts[0];
  for (int k = 1; k < kRegisters; ++k) unordered |= x.parts[k] != x.parts[k];
#if defined(__AVX2__)
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(unordered)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8(reinterpret_cast<__m128i>(unordered)) != 0;
#else
  bool any = false;
  for (int i = 0; i < Block<T>::kPart; ++i) any |= unordered[i] != 0;
  return any;
#endif
#endif
}

// --- Across lanes -------------------------------------------------------------------------------

template <int kDistance, class Register, int... kLane>
CVL_FN Register join(Register low, Register high, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(low, high, (int{sizeof...(kLane)} - kDistance + kLane)...);
}

/// Lane i of the result is lane i - kDistance of `x`, or of `fill` (all lanes equal) below that.
template <int kDistance, class T>
CVL_FN Block<T> shift_up(const Block<T>& x, const Block<T>& fill) {
  using Register = typename Block<T>::Register;
  Block<T> result;
#if defined(__AVX512F__)
  const auto high = reinterpret_cast<__m512i>(x.parts[0]);
  const auto low = reinterpret_cast<__m512i>(fill.parts[0]);
  if constexpr (sizeof(T) == 8) {
    result.parts[0] =
        reinterpret_cast<Register>(_mm512_maskz_alignr_epi64(0xFF, high, low, 8 - kDistance));
  } else {
    result.parts[0] =
        reinterpret_cast<Register>(_mm512_maskz_alignr_epi32(0xFFFF, high, low, 16 - kDistance));
  }
#else
  constexpr int kPart = Block<T>::kPart;
  for (int k = 0; k < kRegisters; ++k) {
    if constexpr (kDistance >= kPart) {  // both are powers of two: whole registers move
      constexpr int kMoved = kDistance / kPart;
      result.parts[k] = k >= kMoved ? x.parts[k - kMoved] : fill.parts[0];
    } else {
      const Register low = k > 0 ? x.parts[k - 1] : fill.parts[0];
      result.parts[k] = join<kDistance>(low, x.parts[k], std::make_integer_sequence<int, kPart>{});
    }
  }
#endif
  return result;
}

template <class T>
CVL_FN T last_lane(const Block<T>& x) {
  return x.parts[kRegisters - 1][Block<T>::kPart - 1];
}

template <class Register, int... kLane>
CVL_FN Register splat_last(Register x, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(x, x, (kLane * 0 + int{sizeof...(kLane)} - 1)...);
}
template <class T>
CVL_FN Block<T> broadcast_last(const Block<T>& x) {
  const auto last =
      splat_last(x.parts[kRegisters - 1], std::make_integer_sequence<int, Block<T>::kPart>{});
  Block<T> result;
  for (auto& part : result.parts) part = last;
  return result;
}

// --- Memory -------------------------------------------------------------------------------------

/// How far ahead of what is read memory is asked for: a page, which is where the processor's own
/// prefetching ends. It makes reading alone 3 to 5 % faster.
template <class T>
constexpr std::int64_t kAhead = 4096 / sizeof(T);
template <class T>
CVL_FN void prefetch_ahead(const T* x) {
  __builtin_prefetch(x + kAhead<T>, 0, 3);
}

template <class T>
CVL_FN Block<T> load_lanes(const T* from) {
  Block<T> result;
  std::memcpy(result.parts, from, kBlockBytes);
  return result;
}

/// Keeps the compiler from making a load part of a masked instruction that uses it.
template <class T>
CVL_FN void load_whole(Block<T>& block) {
#if defined(__AVX512F__)
  asm("" : "+v"(block.parts[0]));
#else
  static_cast<void>(block);
#endif
}

CVL_FN void clear_lanes(std::uint8_t* to) {
  const Block<Bool> zero = {};
  std::memcpy(to, zero.parts, kBlockBytes);
}

template <class T>
CVL_FN ScanBlock<T> load(const T* from) {
  if constexpr (std::is_same_v<T, Bool>) {
    return {gather_bits<64>(from)};
  } else {
    return load_lanes(from);
  }
}

/// Writes a block, around the cache if `streamed`. REQUIRES: `to` is aligned to the block.
template <class T>
CVL_FN void store(T* to, const Block<T>& x, bool streamed) {
#if defined(__SSE2__)
  if (streamed) {
    for (int k = 0; k < kRegisters; ++k) {
#if defined(__AVX512F__)
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), reinterpret_cast<__m512i>(x.parts[k]));
#elif defined(__AVX2__)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to) + k,
                          reinterpret_cast<__m256i>(x.parts[k]));
#else
      _mm_stream_si128(reinterpret_cast<__m128i*>(to) + k, reinterpret_cast<__m128i>(x.parts[k]));
#endif
    }
    return;
  }
#else
  static_cast<void>(streamed);
#endif
  std::memcpy(to, x.parts, kBlockBytes);
}

CVL_FN void store(Bool* to, BitBlock x, bool streamed) {
  Block<Bool> bytes;
#if defined(__AVX512BW__)
  bytes.parts[0] = reinterpret_cast<Block<Bool>::Register>(_mm512_maskz_set1_epi8(x.bits, 1));
#else
  std::uint64_t eights[8];
  for (int i = 0; i < 8; ++i) {
    // Eight copies of the byte, bit k kept in copy k, then made 1.
    const std::uint64_t copies = ((x.bits >> (8 * i)) & 0xFF) * 0x0101010101010101u;
    eights[i] = (((copies & 0x8040201008040201u) + 0x7F7F7F7F7F7F7F7Fu) >> 7) & 0x0101010101010101u;
  }
  std::memcpy(bytes.parts, eights, kBlockBytes);
#endif
  store(to, bytes, streamed);
}

}  // namespace
}  // namespace cvl::cpu::CVL_ISA
