#include "cvl-cpu/append.hpp"

#include <cstdint>

#include "cvl-cpu/movement.hpp"

namespace cvl::cpu {
namespace {

/// A vector of `length` elements, of which the first are those of `first`.
Vector with_room(CpuBackend& cpu, Vector& first, std::int64_t length) {
  Heap& heap = cpu.heap();
  const std::size_t width = cpu.element_bytes(first.type);
  const auto count = static_cast<std::size_t>(length);
  const std::size_t bytes = count > SIZE_MAX / width ? SIZE_MAX : count * width;
  const bool alone = first.form == Form::Dense && first.buffer.unique();
  Vector result;
  result.type = first.type;
  result.length = length;
  if (Vector::fits_inline(length, width)) {
    copy_elements(cpu, result, 0, first, first.length);
    return result;
  }
  result.form = Form::Dense;
  if (alone && heap.extend(*first.buffer, bytes)) {
    heap.count_takeover();
    result.buffer = first.buffer;
  } else {
    const bool again = alone && first.buffer->grows;
    result.buffer = heap.allocate(bytes, again ? Heap::Extent::Growing : Heap::Extent::Asked);
    copy_elements(cpu, result, 0, first, first.length);
  }
  result.buffer->grows = true;
  return result;
}

}  // namespace

Vector appended(CpuBackend& cpu, Vector& first, std::int64_t length, const void* rest) {
  const std::int64_t begin = first.length;
  Vector result = with_room(cpu, first, length);
  copy_elements(cpu, result, begin, constant_vector(cpu, result.type, length - begin, rest),
                length - begin);
  return result;
}

}  // namespace cvl::cpu
