#include "cvl-cpu/kernel_storage.hpp"

#include <fmt/core.h>

#include "cvl/failure.hpp"

namespace cvl::cpu {
namespace {

/// Elements that there is room for.
std::int64_t room_of(const CpuBackend& cpu, const Vector& vector) {
  const bool in_buffer = vector.is_buffered() && vector.buffer;
  const bool in_place = vector.form == Form::Inline;
  return static_cast<std::int64_t>(in_buffer  ? vector.buffer->capacity
                                   : in_place ? sizeof vector.payload
                                              : 0) /
         cpu.stored_bytes(vector);
}

}  // namespace

std::byte* checked_storage(const CpuBackend& cpu, Vector& result, std::int64_t begin,
                           std::int64_t end) {
  const std::int64_t room = room_of(cpu, result);
  if (begin < 0 || end > result.length || end > room) [[unlikely]] {
    throw Failure(vcode::ErrorCode::Internal, "a kernel was about to write outside of a result",
                  {fmt::format("elements {} to {} of a vector of {} elements, with room for {}",
                               begin, end, result.length, room)},
                  "please report it with the program; until then -O0 runs without kernels");
  }
  return mutable_elements<std::byte>(result);
}

}  // namespace cvl::cpu
