// What ranking and sorting share: keys become numbers, numbers are cut into digits, and passes over
// a long segment count digits and move by them, on all threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <vector>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// The elements to be put in order, and how.
struct RadixKeys {
  RadixKeys(CpuBackend& library, Type key_type, bool descending, const std::byte* keys)
      : cpu(library),
        kernels(library.kernels().rank[static_cast<std::size_t>(key_type)]),
        type(key_type),
        down(descending),
        bytes(static_cast<std::int64_t>(library.element_bytes(key_type))),
        first(keys) {}

  CpuBackend& cpu;
  const RankKernels& kernels;
  Type type;
  bool down;
  std::int64_t bytes;  // of a key
  const std::byte* first;

  const std::byte* at(std::int64_t i) const { return first + i * bytes; }

  /// Most elements of a tile of `n` elements altogether that the kernels for short segments sort.
  static std::int64_t room(std::int64_t n) {
    return std::min(n, tuning.rank_tile + tuning.rank_longest);
  }
  /// Memory in which those kernels sort.
  Ref<Buffer> scratch(std::int64_t n) const {
    return cpu.heap().allocate(static_cast<std::size_t>(2 * room(n) * kernels.segment_entry_bytes));
  }
  /// What is known of the keys of elements [begin, begin + n).
  RankSurvey survey(std::int64_t begin, std::int64_t n) const;
};

/// How wide digits are.
struct DigitWidths {
  std::int64_t bits, last;  // at most; the most significant digit may have as many as `last`
};

/// The numbers that the keys of a segment become, and their digits, the least significant first.
struct RadixPlan {
  /// REQUIRES: keys differ
  RadixPlan(const RankSurvey& keys, DigitWidths widths);

  std::uint64_t base;
  int drop;
  std::uint64_t greatest;  // number
  std::vector<RankDigit> digits;

 private:
  RadixPlan(std::uint64_t base_key, std::uint64_t greatest_key, std::uint64_t varying,
            DigitWidths widths);
};

/// Passes over the elements of one segment: each thread has a part of them.
class RadixPasses {
 public:
  RadixPasses(CpuBackend& cpu, const RankSortKernels& kernels, std::int64_t n, int parts)
      : cpu_(cpu), kernels_(kernels), n_(n), parts_(parts) {}

  int parts() const { return parts_; }
  std::int64_t begin_of(std::int64_t part) const { return n_ / parts_ * part; }
  std::int64_t length_of(std::int64_t part) const {
    return (part + 1 == parts_ ? n_ : begin_of(part + 1)) - begin_of(part);
  }
  /// Before the first pass: for digits of up to so many values.
  void allocate_places(std::int64_t values) {
    places_ =
        cpu_.heap().allocate(static_cast<std::size_t>(parts_ * values * kernels_.place_bytes));
  }
  static std::int64_t values_of_widest(const std::vector<RankDigit>& digits) {
    int widest = 0;
    for (const RankDigit& digit : digits) widest = std::max(widest, digit.bits);
    return std::int64_t{1} << widest;
  }

  /// Counts digits with count(places, part), turns the counts into places and calls
  /// move(places, part).
  template <class Count, class Move>
  void pass(std::int64_t values, const Count& count, const Move& move) {
    const auto bytes = static_cast<std::size_t>(values * kernels_.place_bytes);
    const auto places = [&](std::int64_t part) {
      return places_->data + static_cast<std::size_t>(part) * bytes;
    };
    auto count_part = [&](std::int64_t part) {
      std::memset(places(part), 0, bytes);
      count(places(part), part);
    };
    auto move_part = [&](std::int64_t part) { move(places(part), part); };
    cpu_.scheduler().for_parts(parts_, count_part);
    kernels_.place(places_->data, values, parts_);
    cpu_.scheduler().for_parts(parts_, move_part);
  }

 private:
  CpuBackend& cpu_;
  const RankSortKernels& kernels_;
  std::int64_t n_;
  int parts_;
  Ref<Buffer> places_;
};

/// Segments of all lengths: the segments that begin in a tile of elements are put in order
/// together, threads taking tiles as they come.
class SegmentTiles {
 public:
  SegmentTiles(const RadixKeys& keys, const Segments& segments)
      : cpu_(keys.cpu),
        segments_(segments),
        tiles_(tile_count(segments.total(), tile_length())),
        parts_(static_cast<int>(std::min<std::int64_t>(
            keys.cpu.scheduler().parts(segments.total() * 2 * keys.kernels.segment_entry_bytes),
            tiles_))) {}

  int parts() const { return parts_; }

  /// Calls body(part, starts, count) for up to tile_length() segments at a time, `starts` being one
  /// more than these.
  template <class Body>
  void for_each(const Body& body) const {
    std::vector<Ref<Buffer>> starts;
    for (int part = 0; part < parts_; ++part) {
      starts.push_back(cpu_.heap().allocate(sizeof(StartsBuffer<LargestTuning::rank_tile>)));
    }
    std::atomic<std::int64_t> next{0};
    auto run_part = [&](std::int64_t part) {
      auto* buffer = starts[static_cast<std::size_t>(part)]->template as<std::int64_t>();
      for (std::int64_t tile = next.fetch_add(1); tile < tiles_; tile = next.fetch_add(1)) {
        const std::int64_t end = first_of(tile + 1);
        for (std::int64_t first = first_of(tile); first < end; first += tile_length()) {
          // More segments than elements where many are empty.
          const std::int64_t count = std::min(tile_length(), end - first);
          body(part, segments_.starts(first, count, buffer), count);
        }
      }
    };
    cpu_.scheduler().for_parts(parts_, run_part);
  }

  /// Calls body(begin, n) for segments that are too long for a tile.
  template <class Body>
  void for_each_long(const Body& body) const {
    for (std::int64_t tile = 0; tile < tiles_; ++tile) {
      // Only the last segment that begins in a tile can be longer than the tile.
      const std::int64_t last = first_of(tile + 1) - 1;
      const std::int64_t begin = last < 0 ? 0 : segments_.start(last);
      if (begin < tile * tile_length() || segments_.length(last) <= tuning.rank_longest) continue;
      body(begin, segments_.length(last));
    }
  }

 private:
  // No segment but the last of a tile is longer than the tile, and so too long to be put in order
  // with it.
  static std::int64_t tile_length() { return std::min(tuning.rank_tile, tuning.rank_longest); }
  std::int64_t first_of(std::int64_t tile) const {
    return tile == tiles_ ? segments_.count() : segments_.first_from(tile * tile_length());
  }

  CpuBackend& cpu_;
  const Segments& segments_;
  std::int64_t tiles_;
  int parts_;
};

}  // namespace cvl::cpu
