// What a panel fetches (kernel_panels.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"
#include "cvl-cpu/kernels/kernels.hpp"
#include "cvl-cpu/tuning.hpp"

namespace cvl::cpu {

/// Elements that are computed at a time, …
inline constexpr std::int64_t kPanelBlock = LargestTuning::longest_block;
/// … and rows: what is read of a column fills whole cache lines, and a block has several columns.
inline constexpr std::int64_t kPanelRows = 2 * kRowsTogether;

/// Elements of a vector that are fetched for some rows, column by column.
class PanelRead {
 public:
  /// Elements of a Narrow vector are widened.
  PanelRead(const CpuBackend& cpu, const Vector& vector)
      : from_(elements<std::byte>(vector)),
        length_(vector.length),
        width_(static_cast<std::int64_t>(cpu.element_bytes(vector.type))),
        stored_width_(cpu.stored_bytes(vector)),
        transpose_(vector.form == Form::Dense
                       ? cpu.kernels().transpose_rows[type_index(vector.type)]
                       : nullptr),
        prefetches_(length_ * stored_width_ > tuning.prefetched_bytes) {}

  /// Where n rows read, counted from the place of a column.
  void set_rows(const BoundPass& pass, const std::byte* places, std::int64_t n) {
    stretches_.clear();
    rows_.clear();
    near_ = true;
    for (std::int64_t r = 0; r < n; ++r) {
      const std::int64_t place = pass.int_at(places, r);
      if (!is_near(place)) {
        near_ = false;
        return;
      }
      rows_.push_back(place);
      Stretch* const last = stretches_.empty() ? nullptr : &stretches_.back();
      if (last != nullptr && last->count == 1 &&
          (place == last->place || place == last->place + 1)) {
        last->stride = place - last->place;
      }
      if (last != nullptr && place == last->place + last->count * last->stride) {
        ++last->count;
      } else {
        stretches_.push_back({place, 1, 1});
      }
    }
    least_ = stretches_[0].place;
    greatest_ = least_;
    for (const Stretch& stretch : stretches_) {
      least_ = std::min(least_, stretch.place);
      greatest_ = std::max(greatest_, stretch.place + (stretch.count - 1) * stretch.stride);
    }
  }

  /// Do rows lie side by side, but the first n columns apart?
  bool is_by_columns(const BoundPass& pass, const std::byte* places, std::int64_t n) const {
    constexpr std::int64_t kLine = 64;
    const std::int64_t first = pass.int_at(places, 0), last = pass.int_at(places, n - 1);
    return near_ && is_near(first) && is_near(last) && stretches_.size() <= kFewStretches &&
           std::abs(last - first) * stored_width_ >= n * kLine;
  }

  /// The elements of columns [begin, end) of n, the rows of each side by side. False if any lies
  /// outside. What the next block reads is fetched into the cache.
  bool read(const BoundPass& pass, const std::byte* places, std::int64_t begin, std::int64_t end,
            std::int64_t n, std::byte* out) const {
    if (!near_) return false;
    bool follow = true;  // do columns?
    for (std::int64_t c = begin; c < end; ++c) {
      const std::int64_t place = pass.int_at(places, c);
      if (!is_near(place) || place + least_ < 0 || place + greatest_ >= length_) return false;
      follow &= place == pass.int_at(places, begin) + (c - begin);
    }
    if (follow && transpose_ != nullptr && stretches_.size() > kFewStretches) {
      read_along_rows(pass.int_at(places, begin), end - begin, out);
      return true;
    }
    if (prefetches_) {
      const std::int64_t some = std::min(end + (end - begin), n);
      for (std::int64_t c = end; c < some; ++c) {
        if (is_near(pass.int_at(places, c))) prefetch(pass.int_at(places, c));
      }
    }
    const auto place = [&](std::int64_t c) { return pass.int_at(places, c); };
    if (stored_width_ == 8) {
      read_columns<std::uint64_t, std::uint64_t>(place, begin, end, out);
    } else if (stored_width_ == 4) {
      read_columns<std::uint32_t, std::uint32_t>(place, begin, end, out);
    } else if (width_ == 8) {
      read_columns<std::uint8_t, std::uint64_t>(place, begin, end, out);
    } else if (width_ == 4) {
      read_columns<std::uint8_t, std::uint32_t>(place, begin, end, out);
    } else {
      read_columns<std::uint8_t, std::uint8_t>(place, begin, end, out);
    }
    return true;
  }

 private:
  /// Rows that read one behind the other, or the same.
  struct Stretch {
    std::int64_t place, count, stride;
  };
  static constexpr std::size_t kFewStretches = 4;

  /// Can places be added up? No vector is as long; two such places that meet in one are left to the
  /// pass.
  static bool is_near(std::int64_t place) {
    constexpr std::int64_t kFar = std::int64_t{1} << 48;
    return place > -kFar && place < kFar;
  }

  /// The same where columns follow each other in memory.
  void read_along_rows(std::int64_t place, std::int64_t columns, std::byte* out) const {
    constexpr std::int64_t kTogether = kPanelBlock / kRowsTogether;
    const auto n = static_cast<std::int64_t>(rows_.size());
    alignas(64) std::byte transposed[kPanelBlock * 8];
    for (std::int64_t c = 0; c < columns; c += kTogether) {
      const std::int64_t some = std::min(kTogether, columns - c);
      for (std::int64_t r = 0; r < n; r += kRowsTogether) {
        std::uintptr_t from[kRowsTogether];
        for (std::int64_t k = 0; k < kRowsTogether; ++k) {
          const std::int64_t row = rows_[static_cast<std::size_t>(std::min(r + k, n - 1))];
          from[k] = reinterpret_cast<std::uintptr_t>(from_ + (place + c + row) * width_);
        }
        transpose_(transposed, from, some);
        const std::int64_t bytes = std::min(kRowsTogether, n - r) * width_;
        for (std::int64_t k = 0; k < some; ++k) {
          std::copy_n(transposed + k * kRowsTogether * width_, bytes,
                      out + ((c + k) * n + r) * width_);
        }
      }
    }
  }

  template <class Stored, class E, class Place>
  void read_columns(const Place& place, std::int64_t begin, std::int64_t end,
                    std::byte* out) const {
    const auto* const from = reinterpret_cast<const Stored*>(from_);
    auto* to = reinterpret_cast<E*>(out);
    for (std::int64_t c = begin; c < end; ++c) {
      for (const Stretch& stretch : stretches_) {
        const Stored* const first = from + place(c) + stretch.place;
        if (stretch.stride == 0) {
          std::fill_n(to, stretch.count, static_cast<E>(*first));
        } else {
          std::copy_n(first, stretch.count, to);
        }
        to += stretch.count;
      }
    }
  }
  void prefetch(std::int64_t place) const {
    constexpr std::int64_t kLine = 64;
    for (const Stretch& stretch : stretches_) {
      // A number only: what lies outside of the vector is found out when it is read.
      const auto first = reinterpret_cast<std::uintptr_t>(from_) +
                         static_cast<std::uintptr_t>((place + stretch.place) * stored_width_);
      const std::int64_t bytes = (stretch.count - 1) * stretch.stride * stored_width_;
      for (std::int64_t b = 0; b <= bytes; b += kLine) {
        __builtin_prefetch(reinterpret_cast<const void*>(first + static_cast<std::uintptr_t>(b)));
      }
    }
  }

  const std::byte* from_;
  std::int64_t length_, width_, stored_width_;
  TransposeRowsKernel transpose_;  // null where elements are to be widened
  bool prefetches_;
  bool near_ = true;                // are all places of rows?
  std::vector<std::int64_t> rows_;  // places
  std::vector<Stretch> stretches_;
  std::int64_t least_ = 0, greatest_ = 0;  // places of the rows
};

}  // namespace cvl::cpu
