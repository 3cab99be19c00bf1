// Counting flags and moving flagged elements together.
//
// Flags become bit masks, 64 to a word. Elements are compressed in registers and stored in full;
// what is too much is overwritten by the next store. (Compressing stores to memory are microcoded
// on some processors and many times slower.)

#include <cstring>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/lanes.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

CVL_FN std::int64_t bits_in(std::uint64_t mask) {
  return __builtin_popcountll(mask);
}

std::int64_t flag_masks(std::uint64_t* masks, const Bool* flags, std::int64_t n) {
  std::int64_t count = 0;
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    prefetch_ahead(flags + i);
    masks[i / 64] = gather_bits<64>(flags + i);
    count += bits_in(masks[i / 64]);
  }
  if (i < n) {
    std::uint64_t mask = 0;
    for (std::int64_t k = 0; i + k < n; ++k) mask |= static_cast<std::uint64_t>(flags[i + k]) << k;
    masks[i / 64] = mask;
    count += bits_in(mask);
  }
  return count;
}

void masks_before(std::int64_t* before, const std::uint64_t* masks, std::int64_t words) {
  std::int64_t count = 0;
  for (std::int64_t w = 0; w < words; ++w) {
    before[w] = count;
    count += bits_in(masks[w]);
  }
}

template <class I>
std::int64_t count_in_segments(void* out, const SegmentRun& segments, std::int64_t begin,
                               std::int64_t end, const std::uint64_t* masks,
                               const std::int64_t* before) {
  auto* r = static_cast<I*>(out);
  const auto* lengths = static_cast<const I*>(segments.lengths);
  const auto flags_before = [&](std::int64_t at) __attribute__((always_inline)) {
    const std::uint64_t below = (std::uint64_t{1} << (at % 64)) - 1;
    return before[at / 64] + bits_in(masks[at / 64] & below);
  };
  std::int64_t at = (segments.start < end ? segments.start : end) - begin;
  const std::int64_t first = flags_before(at);
  std::int64_t counted = first;
  // All but the last segment end in the range too.
  for (std::int64_t k = 0; k + 1 < segments.count; ++k) {
    at += lengths != nullptr ? lengths[k] : segments.uniform_length;
    const std::int64_t next = flags_before(at);
    r[k] = static_cast<I>(next - counted);
    counted = next;
  }
  if (segments.count > 0) {
    const std::int64_t last = segments.count - 1;
    at += lengths != nullptr ? lengths[last] : segments.uniform_length;
    r[last] = static_cast<I>(flags_before(at < end - begin ? at : end - begin) - counted);
  }
  return first;
}

/// Elements i ... i+63 by a mask, one at a time without branches.
template <class E>
CVL_FN std::int64_t compress_scalar(E* out, const E* in, std::uint64_t mask, std::int64_t n) {
  std::int64_t kept = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    out[kept] = in[k];
    kept += static_cast<std::int64_t>((mask >> k) & 1);
  }
  return kept;
}

#if defined(__BMI2__)
/// Eight bytes, all ones where the mask has a bit.
[[maybe_unused]] CVL_FN std::uint64_t spread_bytes(std::uint64_t mask) {
  return _pdep_u64(mask, 0x0101010101010101u) * 0xFF;
}
#endif

/// Elements i ... i+63 by a mask.
template <class E>
CVL_FN std::int64_t compress_64(E* out, const E* in, std::uint64_t mask) {
#if defined(__AVX512F__)
  if constexpr (sizeof(E) == 4) {
    std::int64_t kept = 0;
    for (int k = 0; k < 64; k += 16) {
      const auto part = static_cast<__mmask16>(mask >> k);
      _mm512_storeu_si512(out + kept,
                          _mm512_maskz_compress_epi32(part, _mm512_loadu_si512(in + k)));
      kept += bits_in(part);
    }
    return kept;
  }
  if constexpr (sizeof(E) == 8) {
    std::int64_t kept = 0;
    for (int k = 0; k < 64; k += 8) {
      const auto part = static_cast<__mmask8>(mask >> k);
      _mm512_storeu_si512(out + kept,
                          _mm512_maskz_compress_epi64(part, _mm512_loadu_si512(in + k)));
      kept += bits_in(part);
    }
    return kept;
  }
#elif defined(__AVX2__)
  // The numbers of the lanes to keep are themselves compressed as bytes of a word.
  if constexpr (sizeof(E) == 4 || sizeof(E) == 8) {
    constexpr int kLanes = 32 / static_cast<int>(sizeof(E));
    std::int64_t kept = 0;
    for (int k = 0; k < 64; k += kLanes) {
      const std::uint64_t part = (mask >> k) & ((std::uint64_t{1} << kLanes) - 1);
      const std::uint64_t lanes =
          sizeof(E) == 4 ? spread_bytes(part) : _pdep_u64(part, 0x0001000100010001u) * 0xFFFF;
      const std::uint64_t order = _pext_u64(0x0706050403020100u, lanes);
      const __m256i shuffle =
          _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(order)));
      const __m256i elements = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + k));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + kept),
                          _mm256_permutevar8x32_epi32(elements, shuffle));
      kept += bits_in(part);
    }
    return kept;
  }
#endif
#if defined(__BMI2__)
  if constexpr (std::is_same_v<E, Bool>) {
    store(out, BitBlock{_pext_u64(gather_bits<64>(in), mask)}, false);
    return bits_in(mask);
  }
#endif
  return compress_scalar(out, in, mask, 64);
}

template <class E>
std::int64_t compress(void* out, const void* in, const std::uint64_t* masks, std::int64_t n) {
  auto* r = static_cast<E*>(out);
  const auto* from = static_cast<const E*>(in);
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) r += compress_64(r, from + i, masks[i / 64]);
  if (i < n) r += compress_scalar(r, from + i, masks[i / 64], n - i);
  return r - static_cast<E*>(out);
}

template <class I, class F>
void add_for_widths(Kernels& kernels) {
  kernels.flag_masks = flag_masks;
  kernels.masks_before = masks_before;
  kernels.count_in_segments = count_in_segments<I>;
  kernels.compress[static_cast<std::size_t>(Type::Int)] = compress<std::make_unsigned_t<I>>;
  kernels.compress[static_cast<std::size_t>(Type::Bool)] = compress<Bool>;
  kernels.compress[static_cast<std::size_t>(Type::Float)] = compress<F>;
}

}  // namespace

void add_pack_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() { add_for_widths<I, F>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
