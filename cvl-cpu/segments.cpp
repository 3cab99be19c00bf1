#include "cvl-cpu/segments.hpp"

#include <cstring>

#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {

Segments::Segments(CpuBackend& cpu, const Segdes& segdes)
    : cpu_(cpu),
      lengths_(segdes.uniform ? nullptr : elements<std::byte>(segdes.tables->lengths)),
      index_(segdes.uniform ? nullptr : segment_index(cpu, segdes)),
      width_(static_cast<std::int64_t>(cpu.element_bytes(Type::Int))),
      uniform_length_(segdes.uniform_length),
      count_(segdes.count),
      total_(segdes.total) {}

bool Segments::are_those_of(const Segments& other) const {
  if (count_ != other.count_ || total_ != other.total_) return false;
  if (lengths_ == nullptr || other.lengths_ == nullptr) {
    return lengths_ == other.lengths_ && uniform_length_ == other.uniform_length_;
  }
  return lengths_ == other.lengths_ ||
         std::memcmp(lengths_, other.lengths_, static_cast<std::size_t>(count_ * width_)) == 0;
}

std::int64_t Segments::start(std::int64_t segment) const {
  if (lengths_ == nullptr) return segment * uniform_length_;
  if (segment == count_) return total_;
  StartsBuffer<1> buffer;
  return *starts(segment, 0, buffer);
}

std::int64_t Segments::length(std::int64_t segment) const {
  if (lengths_ == nullptr) return uniform_length_;
  if (width_ == 8) return reinterpret_cast<const std::int64_t*>(lengths_)[segment];
  return reinterpret_cast<const std::int32_t*>(lengths_)[segment];
}

const std::int64_t* Segments::starts(std::int64_t first, std::int64_t count,
                                     std::int64_t* buffer) const {
  if (lengths_ == nullptr) {
    const std::int64_t length = uniform_length_;  // a copy: `buffer` might be *this
    std::int64_t start = first * length;
    for (std::int64_t k = 0; k <= count; ++k, start += length) buffer[k] = start;
    return buffer;
  }
  const std::int64_t group = first / kIndexStep;
  const std::int64_t before = first % kIndexStep;
  cpu_.kernels().starts(buffer, lengths_ + group * kIndexStep * width_, before + count,
                        index_[group]);
  return buffer + before;
}

Segments::Place Segments::place_of(std::int64_t position) const {
  if (lengths_ == nullptr) {
    const std::int64_t segment = position / uniform_length_;
    return {segment, segment * uniform_length_, (segment + 1) * uniform_length_};
  }
  StartsBuffer<kIndexStep> buffer;
  const std::int64_t group = segment_containing(index_, tile_count(count_, kIndexStep), position);
  const std::int64_t first = group * kIndexStep;
  const std::int64_t count = std::min(kIndexStep, count_ - first);
  const std::int64_t* bounds = starts(first, count, buffer);
  const std::int64_t k = segment_containing(bounds, count, position);
  return {first + k, bounds[k], bounds[k + 1]};
}

Segments::Begun Segments::begun_in(std::int64_t begin, std::int64_t end) const {
  const Place before = begin == 0 ? Place{-1, 0, 0} : place_of(begin - 1);
  const Place last = place_of(end - 1);
  const std::int64_t first = before.segment + 1;
  return {first,
          {lengths(first), uniform_length_, before.end, last.segment - before.segment},
          last.start};
}

SegmentRun all_segments(const Segdes& segdes) {
  const void* lengths = segdes.uniform ? nullptr : elements<std::byte>(segdes.tables->lengths);
  return {lengths, segdes.uniform_length, 0, segdes.count};
}

std::int64_t segment_containing(const std::int64_t* starts, std::int64_t count,
                                std::int64_t position) {
  // Without branches on the data: the start of the answer moves up in halves of what is left.
  std::int64_t first = 0;
  while (count > 1) {
    const std::int64_t half = count / 2;
    first = starts[first + half] <= position ? first + half : first;
    count -= half;
  }
  return first;
}

}  // namespace cvl::cpu
