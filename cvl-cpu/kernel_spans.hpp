// What is read through runs (kernel_runs.hpp), cut wherever it passes from one vector to the next,
// or between a vector and what lies outside of it. Within a span elements follow each other in
// memory, or are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <boost/container/small_vector.hpp>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// A vector, or several joined ones, with the operands of one run.
struct SpannedRead {
  NodeId node = kNone;
  const BoundRuns* runs = nullptr;
  const BoundJoin* join = nullptr;  // null: it is one vector, …
  const std::byte* base = nullptr;  // … whose element 0 is here
  Type type{};
  std::int64_t width = 0;
  std::uint32_t place = 0;  // in the rows of NativePieces
};

/// What a step of a program reads, as elements of that type; nothing if they do not lie one after
/// the other, each as wide as the result.
std::optional<SpannedRead> spanned_read(const BoundProgram& program, const BoundStep& step,
                                        Type type);

/// Goes through the spans of some elements of a segment.
class SpanCursor {
 public:
  /// Of memory that a cursor needs for what is read in place of elements outside of a vector.
  static constexpr std::size_t kMemoryBytes = kSegmentBlock * sizeof(std::int64_t) + 64;

  struct Span {
    const std::byte* first;  // the first element of it; backwards, others lie before it
    std::int64_t end;
  };

  /// `memory`: kMemoryBytes, or null if at() will not be called.
  void start(CpuBackend& cpu, const SpannedRead& read, std::byte* memory);
  /// The elements [begin, begin + n) of a segment of the block that `rows` is about. False when a
  /// check fails; then there are no spans. `table` is overwritten. REQUIRES: start(); n is
  /// positive.
  bool find(const Segments::Place& segment, std::int64_t begin, std::int64_t n, RowNumbers& rows,
            RunTable& table);
  /// The span from element i on, which goes on as long as possible. REQUIRES: i < n, and not below
  /// that of the last call.
  Span at(std::int64_t i);

 private:
  Span outside(std::int64_t i, std::int64_t end);

  CpuBackend* cpu_ = nullptr;
  const SpannedRead* read_ = nullptr;
  std::byte* memory_ = nullptr;
  std::int64_t filled_ = 0;  // elements of it
  struct Run {
    std::int64_t begin, end;
    std::int64_t position;  // of the first element; backwards, of the last one
  };
  boost::container::small_vector<Run, 4> runs_;
  std::size_t run_ = 0;   // that of the last span
  std::size_t part_ = 0;  // of joined vectors: likewise
  std::int64_t end_ = 0;
};

}  // namespace cvl::cpu
