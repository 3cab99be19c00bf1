#include "cvl-cpu/kernel_spans.hpp"

#include <algorithm>
#include <utility>

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
                      RowNumbers& rows, RunTable& table) {
  table.rows = &rows;
  table.segment = segment.segment;
  table.bounds[0] = segment.start;
  table.bounds[1] = segment.end;
  if (!find_runs(*cpu_, *read_->runs, begin, n, table)) return false;
  runs_.clear();
  std::int64_t from = table.before;
  for (std::int64_t k = 0; k < table.count; ++k) {
    const std::int64_t end = table.before + table.ends[k];
    runs_.push_back({std::exchange(from, end), end, table.positions[k]});
  }
  end_ = n;
  run_ = part_ = 0;
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
  for (; run_ < runs_.size() && i >= runs_[run_].end; ++run_) part_ = 0;
  if (run_ == runs_.size()) return outside(i, end_);
  const Run& run = runs_[run_];
  if (i < run.begin) return outside(i, run.begin);
  const bool backwards = read_->runs->backwards;
  const std::int64_t position = run.position + (backwards ? run.end - 1 - i : i - run.begin);
  if (read_->join == nullptr) return {read_->base + position * read_->width, run.end};
  const BoundJoin& join = *read_->join;
  const auto at = [&](std::int64_t end) {
    return Span{reinterpret_cast<const std::byte*>(join.place(part_, position)), end};
  };
  if (backwards) return at(run.end);  // it does not pass from one vector to another
  while (position >= join.vectors[part_].end) ++part_;
  const std::int64_t left = join.vectors[part_].end - position;
  // What is the same everywhere lies there only so many times.
  const std::int64_t most = join.fills[part_] ? std::min(left, kSegmentBlock) : left;
  return at(std::min(run.end, i + most));
}

}  // namespace cvl::cpu
