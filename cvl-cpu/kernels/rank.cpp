// Ranks and sorting by radix: stable, least significant digit first.
//
// What is sorted for ranks are entries: a number, whose order is that of the keys, and a tag that
// says where it came from. Numbers of 32 bits and tags of 32 bits share one word.

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/kernels/lanes.hpp"
#include "cvl-cpu/kernels/widths.hpp"
#include "cvl/scalar_ops.hpp"
#include "cvl/sort_key.hpp"

namespace cvl::cpu::CVL_ISA {
namespace {

constexpr std::int64_t kPrefetchDistance = 32;

/// `flip` has all bits set to reverse the order.
template <class U, bool is_float>
CVL_FN U ordered(U bits, U flip) {
  return sort_key<U, is_float>(bits) ^ flip;
}

struct Packed {
  using Place = std::uint32_t;
  std::uint64_t word;
  static CVL_FN Packed make(std::uint64_t number, std::uint64_t tag) {
    return {number << 32 | tag};
  }
  CVL_FN std::uint64_t number() const { return word >> 32; }
  CVL_FN std::uint64_t tag() const { return word & 0xFFFFFFFFu; }
};

struct Wide {
  using Place = std::uint64_t;
  std::uint64_t sorted_by, origin;
  static CVL_FN Wide make(std::uint64_t number, std::uint64_t tag) { return {number, tag}; }
  CVL_FN std::uint64_t number() const { return sorted_by; }
  CVL_FN std::uint64_t tag() const { return origin; }
};

CVL_FN std::uint64_t digit_of(std::uint64_t number, RankDigit digit) {
  return (number >> digit.shift) & ((std::uint64_t{1} << digit.bits) - 1);
}

template <class U>
CVL_FN U flip_of(bool down) {
  return down ? static_cast<U>(~U{0}) : U{0};
}

/// U: bits of a key; I: type of ranks.
template <class U, bool is_float, class I, class Entry>
struct Sorter {
  using Place = typename Entry::Place;
  static CVL_FN Place* as_places(void* places) { return static_cast<Place*>(places); }

  /// Reads the numbers of a range of elements, or a digit of them.
  struct Reader {
    const U* key;
    U flip, base;
    int drop;

    CVL_FN Reader(const RankNumbers& numbers, std::int64_t begin)
        : key(static_cast<const U*>(numbers.keys) + begin),
          flip(flip_of<U>(numbers.down)),
          base(static_cast<U>(numbers.base)),
          drop(numbers.drop) {}
    CVL_FN std::uint64_t number(std::int64_t i) const {
      return static_cast<U>(ordered<U, is_float>(key[i], flip) - base) >> drop;
    }
  };

  static void count_numbers(void* places, const RankNumbers& numbers, std::int64_t begin,
                            std::int64_t n, RankDigit digit) {
    Place* count = as_places(places);
    const Reader reader(numbers, begin);
    for (std::int64_t i = 0; i < n; ++i) ++count[digit_of(reader.number(i), digit)];
  }

  static void count_entries(void* places, const void* entries, std::int64_t n, RankDigit digit) {
    Place* count = as_places(places);
    const auto* entry = static_cast<const Entry*>(entries);
    for (std::int64_t i = 0; i < n; ++i) ++count[digit_of(entry[i].number(), digit)];
  }

  static void place(void* places, std::int64_t digits, std::int64_t parts) {
    Place* places_of_part = as_places(places);
    Place next = 0;
    for (std::int64_t digit = 0; digit < digits; ++digit) {
      for (std::int64_t part = 0; part < parts; ++part) {
        Place& here = places_of_part[part * digits + digit];
        const Place count = here;
        here = next;
        next += count;
      }
    }
  }

  static void sort_numbers(void* out, const RankNumbers& numbers, std::int64_t begin,
                           std::int64_t n, RankDigit digit, void* places) {
    auto* r = static_cast<Entry*>(out);
    Place* place = as_places(places);
    const Reader reader(numbers, begin);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t number = reader.number(i);
      r[place[digit_of(number, digit)]++] =
          Entry::make(number, static_cast<std::uint64_t>(begin + i));
    }
  }

  static void sort_entries(void* out, const void* entries, std::int64_t n, RankDigit digit,
                           void* places) {
    auto* r = static_cast<Entry*>(out);
    Place* place = as_places(places);
    const auto* entry = static_cast<const Entry*>(entries);
    for (std::int64_t i = 0; i < n; ++i) {
      r[place[digit_of(entry[i].number(), digit)]++] = entry[i];
    }
  }

  /// The last digit: the place of an entry is the rank of its origin.
  static void rank_entries(void* out, const void* entries, std::int64_t n, RankDigit digit,
                           void* places) {
    auto* r = static_cast<I*>(out);
    Place* place = as_places(places);
    const auto* entry = static_cast<const Entry*>(entries);
    const auto rank = [&](std::int64_t i) __attribute__((always_inline)) {
      r[entry[i].tag()] = static_cast<I>(place[digit_of(entry[i].number(), digit)]++);
    };
    std::int64_t i = 0;
    for (; i + kPrefetchDistance < n; ++i) {
      __builtin_prefetch(r + entry[i + kPrefetchDistance].tag(), 1);
      rank(i);
    }
    for (; i < n; ++i) rank(i);
  }

  static void rank_numbers(void* out, const RankNumbers& numbers, std::int64_t begin,
                           std::int64_t n, RankDigit digit, void* places) {
    auto* r = static_cast<I*>(out) + begin;
    Place* place = as_places(places);
    const Reader reader(numbers, begin);
    for (std::int64_t i = 0; i < n; ++i) {
      r[i] = static_cast<I>(place[digit_of(reader.number(i), digit)]++);
    }
  }

  static void sort_keys(void* out, const RankNumbers& numbers, std::int64_t begin, std::int64_t n,
                        RankDigit digit, void* places, void* lines) {
    auto* r = static_cast<U*>(out);
    Place* place = as_places(places);
    const Reader reader(numbers, begin);
    if (lines != nullptr) {
      sort_by_lines(r, reader, n, digit, place, static_cast<U*>(lines));
      return;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      r[place[digit_of(reader.number(i), digit)]++] = reader.key[i];
    }
  }

  /// A line of every digit is collected before it is written.
  static void sort_by_lines(U* out, const Reader& reader, std::int64_t n, RankDigit digit,
                            Place* place, U* lines) {
    constexpr Place kKeys = kSortLine / sizeof(U);  // in a line
    const std::int64_t digits = std::int64_t{1} << digit.bits;
    auto* first = reinterpret_cast<Place*>(lines + digits * static_cast<std::int64_t>(kKeys));
    std::memcpy(first, place, static_cast<std::size_t>(digits) * sizeof(Place));
    // Lines of memory, of which `out` need not be the beginning.
    const auto ahead = static_cast<Place>(reinterpret_cast<std::uintptr_t>(out) / sizeof(U));
    const auto in_line = [=](Place k) { return (k + ahead) % kKeys; };
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t d = digit_of(reader.number(i), digit);
      U* line = lines + d * kKeys;
      const Place at = place[d]++;
      line[in_line(at)] = reader.key[i];
      if (in_line(at) != kKeys - 1) continue;
      if (at - first[d] >= kKeys - 1) {
        using Lane = std::make_signed_t<U>;
        store(reinterpret_cast<Lane*>(out + (at - (kKeys - 1))),
              load_lanes(reinterpret_cast<Lane*>(line)), true);
      } else {  // the line begins with keys of another digit or thread
        for (Place k = first[d]; k <= at; ++k) out[k] = line[in_line(k)];
      }
    }
    for (std::int64_t d = 0; d < digits; ++d) {
      const U* line = lines + static_cast<std::uint64_t>(d) * kKeys;
      const Place end = place[d];
      const Place left = std::min(in_line(end), end - first[d]);
      for (Place k = end - left; k < end; ++k) out[k] = line[in_line(k)];
    }
  }

  static RankSortKernels kernels() {
    return {count_numbers, count_entries, place,     sort_numbers,  sort_entries,
            rank_entries,  rank_numbers,  sort_keys, sizeof(Entry), sizeof(Place)};
  }
};

/// Several segments at once.
template <class U, bool is_float, class I>
struct Ranker {
  using Entry = std::conditional_t<sizeof(U) == 4, Packed, Wide>;

  static RankSurvey survey(const void* keys, std::int64_t n, bool down) {
    const auto* key = static_cast<const U*>(keys);
    const U flip = flip_of<U>(down);
    const U first = ordered<U, is_float>(key[0], flip);
    U varying = 0;
    U least = first;
    U greatest = first;
    U descents = 0;
#pragma omp simd reduction(| : varying, descents) reduction(min : least) reduction(max : greatest)
    for (std::int64_t i = 1; i < n; ++i) {
      const U a = ordered<U, is_float>(key[i - 1], flip);
      const U b = ordered<U, is_float>(key[i], flip);
      varying |= b ^ first;
      least = b < least ? b : least;
      greatest = b > greatest ? b : greatest;
      descents |= b < a ? U{1} : U{0};
    }
    return {varying, least, greatest, descents == 0};
  }

  /// Ranks of up to kMost elements by comparing each with all of them at once.
  template <std::int64_t kMost>
  static CVL_FN void rank_among(I* out, const U* key, std::int64_t n, U flip) {
    U transformed[kMost] = {};
    U rank[kMost] = {};
    for (std::int64_t i = 0; i < n; ++i) transformed[i] = ordered<U, is_float>(key[i], flip);
    for (std::int64_t j = 0; j < n; ++j) {
      const U other = transformed[j];
#pragma omp simd
      for (std::int64_t i = 0; i < kMost; ++i) {
        const bool first = other < transformed[i];
        const bool equal = other == transformed[i];
        rank[i] += static_cast<U>(first | (equal & (j < i)));
      }
    }
    for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<I>(rank[i]);
  }

  static CVL_FN void rank_few(I* out, const U* key, std::int64_t n, U flip) {
    if (n <= kRankFew / 4) {
      rank_among<kRankFew / 4>(out, key, n, flip);
    } else {
      rank_among<kRankFew>(out, key, n, flip);
    }
  }

  /// Sorts a few elements by insertion.
  static CVL_FN void sort_few(U* out, const U* key, std::int64_t n, U flip) {
    U transformed[kRankFew];
    for (std::int64_t i = 0; i < n; ++i) {
      const U inserted = ordered<U, is_float>(key[i], flip);
      std::int64_t place = i;
      for (; place > 0 && inserted < transformed[place - 1]; --place) {
        transformed[place] = transformed[place - 1];
        out[place] = out[place - 1];
      }
      transformed[place] = inserted;
      out[place] = key[i];
    }
  }

  /// Sorts n entries, using `other` as second buffer, and returns where they ended.
  static Entry* sort_small(Entry* entries, Entry* other, std::int64_t n) {
    constexpr int kDigits = sizeof(U);
    constexpr int kDigitValues = 256;
    std::uint32_t counts[kDigits][kDigitValues] = {};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t number = entries[i].number();
      for (int d = 0; d < kDigits; ++d) ++counts[d][digit_of(number, {8 * d, 8})];
    }
    for (int d = 0; d < kDigits; ++d) {
      std::uint32_t* count = counts[d];
      if (count[digit_of(entries[0].number(), {8 * d, 8})] == n) continue;  // all equal
      std::uint32_t place = 0;
      for (int k = 0; k < kDigitValues; ++k) {
        const std::uint32_t here = count[k];
        count[k] = place;
        place += here;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        other[count[digit_of(entries[i].number(), {8 * d, 8})]++] = entries[i];
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
    I* const rank = static_cast<I*>(out) + starts[0];
    const auto* key = static_cast<const U*>(keys);
    const auto few = [&](std::int64_t begin, std::int64_t n, U flip) {
      rank_few(rank + (begin - starts[0]), key + begin, n, flip);
    };
    rank_from_first(rank, key, starts, count, scratch, room, down, few);
  }

  /// r[0] is the rank of the first element of the first segment. A segment of a few elements is
  /// left to few(begin, n, flip).
  template <class Few>
  static CVL_FN void rank_from_first(I* r, const U* key, const std::int64_t* starts,
                                     std::int64_t count, void* scratch, std::int64_t room,
                                     bool down, const Few& few) {
    const std::int64_t origin = starts[0];
    const U flip = flip_of<U>(down);
    auto* entries = static_cast<Entry*>(scratch);
    constexpr std::uint64_t kTagBits = 16;  // of the place in the tile, and of the segment
    std::int64_t sorted_elements = 0;
    std::int64_t sorted_segments = 0;
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t begin = starts[s];
      const std::int64_t n = starts[s + 1] - begin;
      if (n <= kRankFew) {
        few(begin, n, flip);
      } else if (n <= tuning.rank_longest) {
        for (std::int64_t i = begin; i < begin + n; ++i) {
          const auto place = static_cast<std::uint64_t>(i - origin);
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
      r[tag & ((1u << kTagBits) - 1)] = counters[tag >> kTagBits]++;
    }
  }

  static void sort_segments(void* out, const void* keys, const std::int64_t* starts,
                            std::int64_t count, void* scratch, std::int64_t room, bool down,
                            void* ranks) {
    const auto* key = static_cast<const U*>(keys);
    auto* r = static_cast<U*>(out);
    auto* rank = static_cast<I*>(ranks);
    const std::int64_t origin = starts[0];
    const auto few = [&](std::int64_t begin, std::int64_t n, U flip) {
      sort_few(r + begin, key + begin, n, flip);
    };
    rank_from_first(rank, key, starts, count, scratch, room, down, few);
    for (std::int64_t s = 0; s < count; ++s) {
      const std::int64_t begin = starts[s];
      const std::int64_t n = starts[s + 1] - begin;
      if (n <= kRankFew || n > tuning.rank_longest) continue;
      for (std::int64_t i = begin; i < begin + n; ++i) r[begin + rank[i - origin]] = key[i];
    }
  }

  static RankKernels kernels() {
    return {survey,
            rank_segments,
            sort_segments,
            sizeof(Entry),
            Sorter<U, is_float, I, Wide>::kernels(),
            Sorter<U, is_float, I, Packed>::kernels()};
  }
};

template <class U, bool is_float, class I>
void add_for_key(Kernels& kernels, Type type) {
  kernels.rank[static_cast<std::size_t>(type)] = Ranker<U, is_float, I>::kernels();
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
