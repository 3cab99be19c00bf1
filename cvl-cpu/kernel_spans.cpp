#include "cvl-cpu/kernel_spans.hpp"

#include <algorithm>

namespace cvl::cpu {

bool open_spanned(CpuBackend& cpu, const BoundProgram& program, const BoundStep& step, Type type,
                  SpannedRead& read) {
  read.node = step.node;
  read.runs = &program.runs[step.runs];
  read.join = nullptr;
  read.width = step.width;
  if (step.kind == BoundStep::Kind::JoinedRuns) {
    read.join = &program.joins[step.join];
    if (read.join->narrow) return false;
  } else {
    if (step.vector->form != Form::Dense) return false;
    read.base = elements<std::byte>(*step.vector);
  }
  const std::optional<std::int64_t>& otherwise = read.runs->otherwise;
  if (!otherwise || *otherwise >= read.runs->limit) return true;  // then nothing lies outside
  const std::byte* element =
      read.join != nullptr ? place_of(*read.join, *otherwise) : read.base + *otherwise * read.width;
  read.outside.resize(static_cast<std::size_t>(kSegmentBlock * read.width) + Heap::kPadding);
  cpu.kernels().fill[type_index(type)](read.outside.data(), element, kSegmentBlock);
  return true;
}

bool SpanCursor::find(CpuBackend& cpu, const SpannedRead& read, const Segments::Place& segment,
                      std::int64_t begin, std::int64_t n, RunTable& table) {
  table.segment = segment.segment;
  table.bounds[0] = segment.start;
  table.bounds[1] = segment.end;
  if (!find_runs(cpu, *read.runs, begin, n, table)) return false;
  read_ = &read;
  run_begin_ = table.before;
  run_end_ = n - table.behind;
  end_ = n;
  position_ = table.positions[0];
  part_ = 0;
  return true;
}

SpanCursor::Span SpanCursor::at(std::int64_t i) {
  const bool backwards = read_->runs->backwards;
  if (i < run_begin_ || i >= run_end_) {
    const std::byte* first = read_->outside.data();
    if (backwards) first += (kSegmentBlock - 1) * read_->width;
    return {first, std::min(i + kSegmentBlock, i < run_begin_ ? run_begin_ : end_)};
  }
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
