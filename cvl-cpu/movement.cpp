#include "cvl-cpu/movement.hpp"

#include <algorithm>
#include <cstring>

#include "cvl/op_failure.hpp"

namespace cvl::cpu {

std::int64_t int_at(const CpuBackend& cpu, const Vector& vector, std::int64_t position) {
  const bool wide = cpu.element_bytes(Type::Int) == 8;
  if (vector.form == Form::Progression) {
    const std::uint64_t number = static_cast<std::uint64_t>(vector.progression_start()) +
                                 static_cast<std::uint64_t>(position) *
                                     static_cast<std::uint64_t>(vector.progression_step());
    return wide ? static_cast<std::int64_t>(number) : static_cast<std::int32_t>(number);
  }
  if (vector.form == Form::Narrow) return elements<std::uint8_t>(vector)[position];
  const std::int64_t at = vector.form == Form::Constant ? 0 : position;
  return wide ? elements<std::int64_t>(vector)[at] : elements<std::int32_t>(vector)[at];
}

Vector constant_vector(const CpuBackend& cpu, Type type, std::int64_t length, const void* element) {
  Vector result;
  result.type = type;
  result.length = length;
  const std::size_t width = cpu.element_bytes(type);
  if (Vector::fits_inline(length, width)) {
    for (std::int64_t i = 0; i < length; ++i) {
      std::memcpy(result.payload + static_cast<std::size_t>(i) * width, element, width);
    }
  } else {
    result.form = Form::Constant;
    std::memcpy(result.payload, element, width);
  }
  return result;
}

void copy_parallel(CpuBackend& cpu, void* to, const void* from, std::int64_t bytes) {
  const bool streamed = cpu.streams(bytes);
  auto tile = [&](std::int64_t index) {
    const std::int64_t begin = index * tuning.copy_tile_bytes;
    put_block(cpu, static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
              std::min(tuning.copy_tile_bytes, bytes - begin), streamed);
  };
  cpu.scheduler().for_tiles(tile_count(bytes, tuning.copy_tile_bytes), 2 * bytes, tile);
}

void copy_elements(CpuBackend& cpu, Vector& to, std::int64_t begin, const Vector& from,
                   std::int64_t count) {
  const auto width = static_cast<std::int64_t>(cpu.element_bytes(from.type));
  auto* out = mutable_elements<std::byte>(to) + begin * width;
  if (from.form == Form::Dense) {
    copy_parallel(cpu, out, from.buffer->data, count * width);
    return;
  }
  auto tile = [&](std::int64_t index) {
    const std::int64_t first = index * tuning.move_tile;
    cpu.download(from, first, std::min(tuning.move_tile, count - first), out + first * width);
  };
  cpu.scheduler().for_tiles(tile_count(count, tuning.move_tile), count * width, tile);
}

void zero_parallel(CpuBackend& cpu, void* to, std::int64_t bytes) {
  auto tile = [&](std::int64_t index) {
    const std::int64_t begin = index * tuning.copy_tile_bytes;
    std::memset(static_cast<std::byte*>(to) + begin, 0,
                static_cast<std::size_t>(std::min(tuning.copy_tile_bytes, bytes - begin)));
  };
  cpu.scheduler().for_tiles(tile_count(bytes, tuning.copy_tile_bytes), bytes, tile);
}

void throw_index_failure(vcode::Op op, const BadIndex& bad) {
  throw index_out_of_range(op, bad.position, bad.index, bad.segment, bad.segment_length);
}

}  // namespace cvl::cpu
