#include "cvl-cpu/gather_scatter.hpp"

#include <algorithm>
#include <cstring>

namespace cvl::cpu {

const std::uint8_t* Locator::flags(const SegmentBlock& block, std::uint8_t* buffer) const {
  if (flags_ == nullptr) return nullptr;
  return reinterpret_cast<const std::uint8_t*>(
      Window(cpu_, *flags_).at(block.begin, block.end - block.begin, buffer));
}

bool Locator::locate(const SegmentBlock& block, const std::uint8_t* flags, std::uint64_t* positions,
                     std::uint64_t nowhere) const {
  alignas(64) std::int64_t index_buffer[kSegmentBlock];
  const std::int64_t n = block.end - block.begin;
  const std::byte* indices = Window(cpu_, index_).at(block.begin, n, index_buffer);
  if (block.count == 1) {
    return !cpu_.kernels().locate_in_one(positions, indices, flags, target_.start(block.first),
                                         target_.length(block.first), n, nowhere);
  }
  constexpr std::int64_t kSlack = 8;
  alignas(64) std::int64_t start_of[kSegmentBlock + kSlack];
  alignas(64) std::int64_t length_of[kSegmentBlock + kSlack];
  StartsBuffer<kSegmentBlock> target_buffer;
  cpu_.kernels().expand_segments(start_of, length_of, block.starts,
                                 target_.starts(block.first, block.count, target_buffer),
                                 block.count, block.begin, block.end);
  return !cpu_.kernels().locate(positions, indices, flags, start_of, length_of, n, nowhere);
}

void Locator::fail(vcode::Op op) const {
  std::int64_t position = 0;
  std::int64_t segment = 0;
  const auto is_bad = [&] {
    std::uint8_t flag = 1;
    if (flags_ != nullptr) cpu_.download(*flags_, position, 1, &flag);
    return flag != 0 && static_cast<std::uint64_t>(int_at(cpu_, index_, position)) >=
                            static_cast<std::uint64_t>(target_.length(segment));
  };
  std::int64_t segment_end = own_.length(0);
  while (true) {
    while (segment_end <= position) segment_end += own_.length(++segment);
    if (is_bad()) break;
    ++position;
  }
  throw_index_failure(op,
                      {position, int_at(cpu_, index_, position), segment, target_.length(segment)});
}

bool SegmentLocator::locate(std::int64_t first, std::int64_t count,
                            std::uint64_t* positions) const {
  alignas(64) std::int64_t index_buffer[kSegmentBlock];
  alignas(64) std::int64_t length_of[kSegmentBlock];
  StartsBuffer<kSegmentBlock> starts_buffer;
  const std::byte* indices = Window(cpu_, index_).at(first, count, index_buffer);
  const std::int64_t* starts = target_.starts(first, count, starts_buffer);
  for (std::int64_t k = 0; k < count; ++k) length_of[k] = starts[k + 1] - starts[k];
  return !cpu_.kernels().locate(positions, indices, nullptr, starts, length_of, count, 0);
}

void SegmentLocator::fail(vcode::Op op) const {
  std::int64_t k = 0;
  const auto is_good = [&] {
    return static_cast<std::uint64_t>(int_at(cpu_, index_, k)) <
           static_cast<std::uint64_t>(target_.length(k));
  };
  while (is_good()) ++k;
  throw_index_failure(op, {k, int_at(cpu_, index_, k), k, target_.length(k)});
}

void Source::fetch(void* out, std::uint64_t* positions, const std::uint8_t* flags,
                   std::int64_t n) const {
  if (vector_.form == Form::Progression) {
    cpu_.kernels().gather_progression(out, vector_.progression_start(), vector_.progression_step(),
                                      positions, flags, n);
    return;
  }
  if (vector_.form == Form::Constant && flags == nullptr) {
    cpu_.kernels().fill[type_index(vector_.type)](out, vector_.payload, n);
    return;
  }
  if (vector_.form == Form::Constant) std::fill_n(positions, n, std::uint64_t{0});
  const GatherKernel gather = vector_.form == Form::Narrow
                                  ? cpu_.kernels().gather_bytes
                                  : cpu_.kernels().gather[type_index(vector_.type)];
  gather(out, elements<void>(vector_), positions, flags, n, prefetch_);
}

bool Source::fetch_by_index(void* out, const std::byte* indices, std::int64_t n) const {
  if (vector_.form != Form::Dense) return false;
  cpu_.kernels().gather_by_index[type_index(vector_.type)](out, elements<void>(vector_), indices, n,
                                                           prefetch_);
  return true;
}

SendPart send_part(const Segments& target, int part, int parts) {
  const auto cut = [&](int k) { return target.total() / parts * k; };
  SendPart result{};
  result.begin = cut(part);
  result.end = part + 1 == parts ? target.total() : cut(part + 1);
  result.first_segment = part == 0 ? 0 : target.place_of(result.begin).segment;
  result.last_segment = target.count();
  if (part + 1 < parts) {
    const Segments::Place next = target.place_of(result.end);
    result.last_segment = next.start == result.end ? next.segment : next.segment + 1;
  }
  return result;
}

Vector writable(CpuBackend& cpu, Vector& dying) {
  if (dying.form == Form::Inline) {
    Vector result = dying;
    result.fits_bytes = false;  // as soon as it is written
    return result;
  }
  Vector result = cpu.new_vector_over(dying.type, dying.length, dying);
  if (result.buffer.get() == dying.buffer.get()) return result;
  copy_elements(cpu, result, 0, dying, dying.length);
  return result;
}

}  // namespace cvl::cpu
