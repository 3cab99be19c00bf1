// What gathering and scattering operations share: indices to positions, and elements by position.
#pragma once

#include <cstdint>

#include "cvl-cpu/movement.hpp"
#include "cvl-cpu/segments.hpp"

namespace cvl::cpu {

/// Turns the indices of a vector into positions in another one. Element i of the index vector, in
/// segment k of `own`, refers to segment k of `target`. Without flags all indices count.
class Locator {
 public:
  Locator(CpuBackend& cpu, const Vector& index, const Vector* flags, const Segments& own,
          const Segments& target)
      : cpu_(cpu), index_(index), flags_(flags), own_(own), target_(target) {}

  bool flagged() const { return flags_ != nullptr; }
  /// The flags of a block or null. `buffer` has room for a block.
  const std::uint8_t* flags(const SegmentBlock& block, std::uint8_t* buffer) const;
  /// Positions of the elements of a block. False when an index is out of range.
  bool locate(const SegmentBlock& block, const std::uint8_t* flags, std::uint64_t* positions,
              std::uint64_t nowhere) const;
  /// Reports the first wrong index. REQUIRES: there is one.
  [[noreturn]] void fail(vcode::Op op) const;

 private:
  CpuBackend& cpu_;
  const Vector& index_;
  const Vector* flags_;
  const Segments& own_;
  const Segments& target_;
};

/// The same for operations with one index per segment (EXTRACT, REPLACE).
class SegmentLocator {
 public:
  SegmentLocator(CpuBackend& cpu, const Vector& index, const Segments& target)
      : cpu_(cpu), index_(index), target_(target) {}

  /// Positions for segments [first, first + count), at most a block of them.
  bool locate(std::int64_t first, std::int64_t count, std::uint64_t* positions) const;
  [[noreturn]] void fail(vcode::Op op) const;

 private:
  CpuBackend& cpu_;
  const Vector& index_;
  const Segments& target_;
};

/// A vector in any form that elements are fetched from.
class Source {
 public:
  Source(CpuBackend& cpu, const Vector& vector)
      : cpu_(cpu),
        vector_(vector),
        prefetch_(vector.is_buffered() &&
                  vector.length * cpu.stored_bytes(vector) > tuning.prefetched_bytes) {}

  /// out[i] = element positions[i]; 0 where there are flags and the flag is F. With flags,
  /// `positions` may be changed.
  void fetch(void* out, std::uint64_t* positions, const std::uint8_t* flags, std::int64_t n) const;
  /// The same by INTs of the run that all lie inside, and need not become positions. False, and
  /// nothing done, when the vector has no form for that.
  bool fetch_by_index(void* out, const std::byte* indices, std::int64_t n) const;

 private:
  CpuBackend& cpu_;
  const Vector& vector_;
  bool prefetch_;
};

/// One share of a send: destinations [begin, end) and the segments whose elements may go there.
struct SendPart {
  std::int64_t begin, end;
  std::int64_t first_segment, last_segment;
};

/// Cuts the destinations into equal ranges. Every segment belongs to at least one part, so that all
/// indices are checked; empty destination segments go with the part before them.
SendPart send_part(const Segments& target, int part, int parts);

/// A vector with the elements of `dying` that may be written, each in its full width: its own
/// storage if nobody else holds that, else a copy.
Vector writable(CpuBackend& cpu, Vector& dying);

}  // namespace cvl::cpu
