#include "cvl-cpu/kernel_spans.hpp"

#include <algorithm>

namespace cvl::cpu {

std::optional<SpannedRead> spanned_read(const BoundProgram& program, const BoundStep& step,
                                        Type type) {
  SpannedRead read;
  read.node = step.node;
  read.runs = &program.runs[step.runs];
  read.type = type;
  read.width = step.width;
  if (step.kind == BoundStep::Kind::JoinedRuns) {
    read.join = &program.joins[step.join];
    if (read.join->narrow) return std::nullopt;
  } else {
    if (step.vector->form != Form::Dense) return std::nullopt;
    read.base = elements<std::byte>(*step.vector);
  }
  return read;
}

void SpanCursor::start(CpuBackend& cpu, const SpannedRead& read, std::byte* memory) {
  cpu_ = &cpu;
  read_ = &read;
  memory_ = memory;
  filled_ = 0;
}

bool SpanCursor::find(const Segments::Place& segment, std::int64_t begin, std::int64_t n,
                      RunTable& table) {
  table.segment = segment.segment;
  table.bounds[0] = segment.start;
  table.bounds[1] = segment.end;
  if (!find_runs(*cpu_, *read_->runs, begin, n, table)) return false;
  run_begin_ = table.before;
  run_end_ = n - table.behind;
  end_ = n;
  position_ = table.positions[0];
  part_ = 0;
  return true;
}

/// Elements of that number, as many as there is room for.
SpanCursor::Span SpanCursor::outside(std::int64_t i, std::int64_t end) {
  end = std::min(end, i + kSegmentBlock);
  if (filled_ < end - i) {
    const std::int64_t place = *read_->runs->otherwise;
    const std::byte* element =
        read_->join != nullptr ? place_of(*read_->join, place) : read_->base + place * read_->width;
    filled_ = end - i;
    cpu_->kernels().fill[type_index(read_->type)](memory_, element, filled_);
  }
  const std::int64_t first = read_->runs->backwards ? filled_ - 1 : 0;
  return {memory_ + first * read_->width, end};
}

SpanCursor::Span SpanCursor::at(std::int64_t i) {
  if (i < run_begin_) return outside(i, run_begin_);
  if (i >= run_end_) return outside(i, end_);
  const bool backwards = read_->runs->backwards;
  const std::int64_t position = position_ + (backwards ? run_end_ - 1 - i : i - run_begin_);
  if (read_->join == nullptr) return {read_->base + position * read_->width, run_end_};
  const BoundJoin& join = *read_->join;
  const auto at = [&](std::int64_t end) {
    return Span{reinterpret_cast<const std::byte*>(join.place(part_, position)), end};
  };
  if (backwards) return at(run_end_);  // it does not pass from one vector to another
  while (position >= join.vectors[part_].end) ++part_;
  const std::int64_t left = join.vectors[part_].end - position;
  // What is the same everywhere lies there only so many times.
  const std::int64_t most = join.fills[part_] ? std::min(left, kSegmentBlock) : left;
  return at(std::min(run_end_, i + most));
}

}  // namespace cvl::cpu
