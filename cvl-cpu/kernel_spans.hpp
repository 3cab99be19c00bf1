// What is read through runs (kernel_runs.hpp), cut wherever it passes from one vector to the next,
// or between a vector and what lies outside of it. Within a span elements follow each other in
// memory, or are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cvl-cpu/kernel_bind.hpp"

namespace cvl::cpu {

/// A vector, or several joined ones, with the operands of one run.
struct SpannedRead {
  NodeId node = kNone;
  const BoundRuns* runs = nullptr;
  const BoundJoin* join = nullptr;  // null: it is one vector, …
  const std::byte* base = nullptr;  // … whose element 0 is here
  std::int64_t width = 0;
  std::uint32_t place = 0;  // in the rows of NativePieces
  /// kSegmentBlock times the element at BoundRuns::otherwise, if there is that.
  std::vector<std::byte> outside;
};

/// What a step of a program reads, as elements of that type, into storage that may have been one
/// before. False if they do not lie one after the other, each as wide as the result.
bool open_spanned(CpuBackend& cpu, const BoundProgram& program, const BoundStep& step, Type type,
                  SpannedRead& read);

/// Goes through the spans of some elements of a segment.
class SpanCursor {
 public:
  struct Span {
    const std::byte* first;  // the first element of it; backwards, others lie before it
    std::int64_t end;
  };

  /// The elements [begin, begin + n) of a segment. False when a check fails; then there are no
  /// spans. `table` is overwritten. REQUIRES: n is positive.
  bool find(CpuBackend& cpu, const SpannedRead& read, const Segments::Place& segment,
            std::int64_t begin, std::int64_t n, RunTable& table);
  /// The span from element i on, which goes on as long as possible. REQUIRES: i < n, and not below
  /// that of the last call.
  Span at(std::int64_t i);

 private:
  const SpannedRead* read_ = nullptr;
  std::int64_t run_begin_ = 0, run_end_ = 0, end_ = 0;
  std::int64_t position_ = 0;  // of the run's first element; backwards, of its last one
  std::size_t part_ = 0;       // of joined vectors: that of the last span
};

}  // namespace cvl::cpu
