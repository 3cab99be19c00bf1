// Ranks by radix sorting: stable, least significant digit first, eight bits at a time.
//
// What is sorted are entries: a key, transformed so that unsigned order is the order wanted, and a
// tag that says where it came from. Keys of 32 bits and tags of 32 bits share one word. Eight bits
// are measured to be best: 256 places to write to stay in the L1 cache and in the TLB.

#include <cstring>
#include <type_traits>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

constexpr std::int64_t kPrefetchDistance = 32;

/// The bits of an element as a number whose order is that of the elements. FLOAT: the total order
/// of sign and magnitude, so -0.0 comes before 0.0 and NaNs lie beyond the infinities.
template <class U, bool is_float>
CVL_FN U ordered(U bits, U flip) {
  constexpr U kSign = U{1} << (sizeof(U) * 8 - 1);
  if constexpr (is_float) {
    const U negative = static_cast<U>(U{0} - (bits >> (sizeof(U) * 8 - 1)));
    return bits ^ (negative | kSign) ^ flip;
  } else {
    return bits ^ kSign ^ flip;
  }
}

struct Packed {
  std::uint64_t word;
  static CVL_FN Packed make(std::uint64_t key, std::uint64_t tag) { return {key << 32 | tag}; }
  CVL_FN std::uint64_t key() const { return word >> 32; }
  CVL_FN std::uint64_t tag() const { return word & 0xFFFFFFFFu; }
};

struct Wide {
  std::uint64_t sort_key, origin;
  static CVL_FN Wide make(std::uint64_t key, std::uint64_t tag) { return {key, tag}; }
  CVL_FN std::uint64_t key() const { return sort_key; }
  CVL_FN std::uint64_t tag() const { return origin; }
};

/// U: bits of a key; I: type of ranks; Entry: Packed only for keys of 32 bits.
template <class U, bool is_float, class I, class Entry>
struct Ranker {
  static CVL_FN const U* as_keys(const void* keys) { return static_cast<const U*>(keys); }
  static CVL_FN U flip_of(bool down) { return down ? static_cast<U>(~U{0}) : U{0}; }

  static RankSurvey survey(const void* keys, std::int64_t n, bool down) {
    const U* key = as_keys(keys);
    const U flip = flip_of(down);
    const U first = ordered<U, is_float>(key[0], flip);
    U varying = 0;
    U descents = 0;
#pragma omp simd reduction(| : varying, descents)
    for (std::int64_t i = 1; i < n; ++i) {
      const U a = ordered<U, is_float>(key[i - 1], flip);
      const U b = ordered<U, is_float>(key[i], flip);
      varying |= b ^ first;
      descents |= b < a ? U{1} : U{0};
    }
    return {varying, descents == 0};
  }

  /// Ranks of a few elements by comparing each with each.
  static CVL_FN void rank_few(I* out, const U* key, std::int64_t n, U flip) {
    U transformed[kRankFew];
    I rank[kRankFew];
    for (std::int64_t i = 0; i < n; ++i) {
      transformed[i] = ordered<U, is_float>(key[i], flip);
      rank[i] = 0;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      const U other = transformed[j];
      for (std::int64_t i = 0; i < j; ++i) rank[i] += other < transformed[i] ? 1 : 0;
      for (std::int64_t i = j + 1; i < n; ++i) rank[i] += other <= transformed[i] ? 1 : 0;
    }
    for (std::int64_t i = 0; i < n; ++i) out[i] = rank[i];
  }

  static void count_keys(std::uint64_t* counts, const void* keys, std::int64_t n, int shift,
                         bool down) {
    const U* key = as_keys(keys);
    const U flip = flip_of(down);
    for (std::int64_t i = 0; i < n; ++i) {
      ++counts[(ordered<U, is_float>(key[i], flip) >> shift) & (kRankDigits - 1)];
    }
  }

  static void count_entries(std::uint64_t* counts, const void* entries, std::int64_t n, int shift) {
    const auto* entry = static_cast<const Entry*>(entries);
    for (std::int64_t i = 0; i < n; ++i) ++counts[(entry[i].key() >> shift) & (kRankDigits - 1)];
  }

  static void sort_keys(void* out, const void* keys, std::int64_t n, std::int64_t first_tag,
                        int shift, std::uint64_t* places, bool down) {
    auto* r = static_cast<Entry*>(out);
    const U* key = as_keys(keys);
    const U flip = flip_of(down);
    for (std::int64_t i = 0; i < n; ++i) {
      const U k = ordered<U, is_float>(key[i], flip);
      r[places[(k >> shift) & (kRankDigits - 1)]++] =
          Entry::make(k, static_cast<std::uint64_t>(first_tag + i));
    }
  }

  static void sort_entries(void* out, const void* entries, std::int64_t n, int shift,
                           std::uint64_t* places) {
    auto* r = static_cast<Entry*>(out);
    const auto* entry = static_cast<const Entry*>(entries);
    for (std::int64_t i = 0; i < n; ++i) {
      r[places[(entry[i].key() >> shift) & (kRankDigits - 1)]++] = entry[i];
    }
  }

  /// The last digit: the place of an entry is the rank of its origin.
  static void rank_entries(void* out, const void* entries, std::int64_t n, int shift,
                           std::uint64_t* places) {
    auto* r = static_cast<I*>(out);
    const auto* entry = static_cast<const Entry*>(entries);
    const auto rank = [&](std::int64_t i) __attribute__((always_inline)) {
      r[entry[i].tag()] = static_cast<I>(places[(entry[i].key() >> shift) & (kRankDigits - 1)]++);
    };
    std::int64_t i = 0;
    for (; i + kPrefetchDistance < n; ++i) {
      __builtin_prefetch(r + entry[i + kPrefetchDistance].tag(), 1);
      rank(i);
    }
    for (; i < n; ++i) rank(i);
  }

  /// Sorts n entries, using `other` as second buffer, and returns where they ended.
  static Entry* sort_small(Entry* entries, Entry* other, std::int64_t n) {
    constexpr int kKeyDigits = sizeof(U);
    std::uint32_t counts[kKeyDigits][kRankDigits] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t key = entries[i].key();
      for (int d = 0; d < kKeyDigits; ++d) ++counts[d][(key >> (8 * d)) & (kRankDigits - 1)];
    }
    for (int d = 0; d < kKeyDigits; ++d) {
      std::uint32_t* count = counts[d];
      if (count[(entries[0].key() >> (8 * d)) & (kRankDigits - 1)] == n) continue;  // all equal
      std::uint32_t place = 0;
      for (int k = 0; k < kRankDigits; ++k) {
        const std::uint32_t here = count[k];
        count[k] = place;
        place += here;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        other[count[(entries[i].key() >> (8 * d)) & (kRankDigits - 1)]++] = entries[i];
      }
      Entry* sorted = other;
      other = entries;
      entries = sorted;
    }
    return entries;
  }

  /// Ranks within the segments of a tile: few elements are compared with each other, longer
  /// segments up to tuning.rank_longest are sorted together, the others are left alone. Sorted
  /// order visits the elements of each segment by their rank: a counter per segment gives it.
  static void rank_segments(void* out, const void* keys, const std::int64_t* starts,
                            std::int64_t count, void* scratch, std::int64_t room, bool down) {
    const U* key = as_keys(keys);
    auto* r = static_cast<I*>(out);
    const U flip = flip_of(down);
    auto* entries = static_cast<Entry*>(scratch);
    constexpr std::uint64_t kTagBits = 16;  // of the place in the tile, and of the segment
    std::int64_t sorted_elements = 0;
    std::int64_t sorted_segments = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t begin = starts[s];
      const std::int64_t n = starts[s + 1] - begin;
      if (n <= kRankFew) {
        rank_few(r + begin, key + begin, n, flip);
      } else if (n <= tuning.rank_longest) {
        for (std::int64_t i = begin; i < begin + n; ++i) {
          const auto place = static_cast<std::uint64_t>(i - starts[0]);
          entries[sorted_elements++] =
              Entry::make(ordered<U, is_float>(key[i], flip),
                          static_cast<std::uint64_t>(sorted_segments) << kTagBits | place);
        }
        ++sorted_segments;
      }
    }
    if (sorted_elements == 0) return;
    const Entry* entry = sort_small(entries, entries + room, sorted_elements);
    I counters[(LargestTuning::rank_tile + LargestTuning::rank_longest) / (kRankFew + 1) + 1] = {};
    for (std::int64_t i = 0; i < sorted_elements; ++i) {
      const std::uint64_t tag = entry[i].tag();
      r[starts[0] + static_cast<std::int64_t>(tag & ((1u << kTagBits) - 1))] =
          counters[tag >> kTagBits]++;
    }
  }

  static RankKernels kernels() {
    return {survey,       count_keys,   count_entries, sort_keys,
            sort_entries, rank_entries, rank_segments, static_cast<std::int64_t>(sizeof(Entry))};
  }
};

template <class U, bool is_float, class I>
void add_for_key(Kernels& kernels, Type type) {
  kernels.rank[static_cast<std::size_t>(type)] = Ranker<U, is_float, I, Wide>::kernels();
  if constexpr (sizeof(U) == 4) {
    kernels.rank_packed[static_cast<std::size_t>(type)] = Ranker<U, is_float, I, Packed>::kernels();
  } else {
    kernels.rank_packed[static_cast<std::size_t>(type)] =
        kernels.rank[static_cast<std::size_t>(type)];
  }
}

template <class I, class F>
void add_for_widths(Kernels& kernels) {
  add_for_key<std::make_unsigned_t<I>, false, I>(kernels, Type::Int);
  add_for_key<F, true, I>(kernels, Type::Float);
}

}  // namespace

void add_rank_kernels(Kernels& kernels, Widths widths) {
  for_element_sizes(widths, [&]<class I, class F>() { add_for_widths<I, F>(kernels); });
}

}  // namespace cvl::cpu::CVL_ISA
