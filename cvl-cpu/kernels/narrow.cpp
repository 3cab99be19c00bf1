// INTs that are held in a byte each: widened, narrowed, compared, and those with a flag moved
// together.

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstring>
#include <type_traits>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/lanes.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

template <class I>
void widen(void* out, const std::uint8_t* bytes, std::int64_t n) {
  auto* r = static_cast<std::make_unsigned_t<I>*>(out);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) r[i] = bytes[i];
}

template <class I>
void narrow(std::uint8_t* bytes, const void* in, std::int64_t n) {
  const auto* from = static_cast<const std::make_unsigned_t<I>*>(in);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(from[i]);
}

void match_bytes(std::uint8_t* out, const std::uint8_t* bytes, ByteRange range, std::int64_t n) {
  const std::uint8_t outside = range.outside ? 1 : 0;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const auto beyond = static_cast<std::uint8_t>(bytes[i] - range.least);
    out[i] = static_cast<std::uint8_t>((beyond <= range.more ? 1 : 0) ^ outside);
  }
}

/// Which of 64 bytes lie in the range, or outside of it if it says that?
CVL_FN std::uint64_t match_64(const std::uint8_t* bytes, ByteRange range) {
#if defined(__AVX512BW__)
  const __m512i least = _mm512_set1_epi8(static_cast<char>(range.least));
  const __m512i more = _mm512_set1_epi8(static_cast<char>(range.more));
  const __m512i beyond = _mm512_sub_epi8(_mm512_loadu_si512(bytes), least);
  const std::uint64_t inside = _mm512_cmple_epu8_mask(beyond, more);
  return range.outside ? ~inside : inside;
#else
  std::uint8_t flags[64];
  match_bytes(flags, bytes, range, 64);
  return gather_bits<64>(flags);
#endif
}

void match_masks(std::uint64_t* masks, const std::uint8_t* bytes, ByteRange range, std::int64_t n) {
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    prefetch_ahead(bytes + i);
    masks[i / 64] = match_64(bytes + i, range);
  }
  if (i < n) {
    std::uint8_t rest[64] = {};
    std::memcpy(rest, bytes + i, static_cast<std::size_t>(n - i));
    masks[i / 64] = match_64(rest, range) & (~std::uint64_t{0} >> (64 - (n - i)));
  }
}

/// Bytes i ... i+n-1, at most 64, by a mask.
CVL_FN std::int64_t compress_some(std::uint8_t* out, const std::uint8_t* in, std::uint64_t mask,
                                  std::int64_t n) {
  std::int64_t kept = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    out[kept] = in[k];
    kept += static_cast<std::int64_t>((mask >> k) & 1);
  }
  return kept;
}

CVL_FN std::int64_t compress_64(std::uint8_t* out, const std::uint8_t* in, std::uint64_t mask) {
#if defined(__BMI2__)
  // Eight bytes in a register, of which those stay whose bits are spread over them.
  std::int64_t kept = 0;
  for (int k = 0; k < 64; k += 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, in + k, sizeof bytes);
    const std::uint64_t part = (mask >> k) & 0xFF;
    bytes = _pext_u64(bytes, _pdep_u64(part, 0x0101010101010101u) * 0xFF);
    std::memcpy(out + kept, &bytes, sizeof bytes);
    kept += __builtin_popcountll(part);
  }
  return kept;
#else
  return compress_some(out, in, mask, 64);
#endif
}

std::int64_t compress_bytes(void* out, const void* in, const std::uint64_t* masks, std::int64_t n) {
  auto* r = static_cast<std::uint8_t*>(out);
  const auto* from = static_cast<const std::uint8_t*>(in);
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    if (~masks[i / 64] == 0) {  // texts have long stretches of which all or nothing is kept
      std::memcpy(r, from + i, 64);
      r += 64;
    } else if (masks[i / 64] != 0) {
      r += compress_64(r, from + i, masks[i / 64]);
    }
  }
  if (i < n) r += compress_some(r, from + i, masks[i / 64], n - i);
  return r - static_cast<std::uint8_t*>(out);
}

template <class I>
void add_for_width(Kernels& kernels) {
  kernels.widen = widen<I>;
  kernels.narrow = narrow<I>;
  kernels.compress_bytes = compress_bytes;
  kernels.match_bytes = match_bytes;
  kernels.match_masks = match_masks;
}

}  // namespace

void add_narrow_kernels(Kernels& kernels, Widths widths) {
  for_widths(widths, [&]<class I, class F>() { add_for_width<I>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
