// What the operations that move data share.
#pragma once

#include <cstdint>
#include <string_view>

#include "cvl-cpu/cpu_backend.hpp"

namespace cvl::cpu {

inline std::size_t type_index(Type type) {
  return static_cast<std::size_t>(type);
}

/// Element `position` of an INT vector in any form.
std::int64_t int_at(const CpuBackend& cpu, const Vector& vector, std::int64_t position);

/// A vector of `length` copies of the element at `element`: Inline or Constant.
Vector constant_vector(const CpuBackend& cpu, Type type, std::int64_t length, const void* element);

/// Consecutive elements of an operand, whatever its form, as a plain array.
class Window {
 public:
  Window(CpuBackend& cpu, const Vector& vector)
      : cpu_(cpu),
        vector_(vector),
        width_(static_cast<std::int64_t>(cpu.element_bytes(vector.type))),
        plain_(vector.is_plain()) {}

  std::int64_t width() const { return width_; }
  /// Does the operand lie in memory as it is?
  bool plain() const { return plain_; }
  /// The address of element `begin`; `buffer` has room for `count` elements and may be used.
  const std::byte* at(std::int64_t begin, std::int64_t count, void* buffer) const {
    if (plain_) return elements<std::byte>(vector_) + begin * width_;
    cpu_.download(vector_, begin, count, buffer);
    return static_cast<const std::byte*>(buffer);
  }

 private:
  CpuBackend& cpu_;
  const Vector& vector_;
  std::int64_t width_;
  bool plain_;
};

/// Copies `bytes` bytes with all threads, around the cache when they would not stay in it.
void copy_parallel(CpuBackend& cpu, void* to, const void* from, std::int64_t bytes);
/// Writes the first `count` elements of a vector in any form to places [begin, begin + count) of a
/// Dense or Inline one of the same type, with all threads.
void copy_elements(CpuBackend& cpu, Vector& to, std::int64_t begin, const Vector& from,
                   std::int64_t count);
/// Clears `bytes` bytes with all threads.
void zero_parallel(CpuBackend& cpu, void* to, std::int64_t bytes);

/// Copies a block that lies in the cache to its place in a result, of which `streamed` says whether
/// it is to be written around the cache.
inline void put_block(const CpuBackend& cpu, void* to, const void* from, std::int64_t bytes,
                      bool streamed) {
  if (streamed) {
    cpu.kernels().stream(to, from, bytes);
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

/// Where an index was found to be wrong.
struct BadIndex {
  std::int64_t position;  // in the index vector
  std::int64_t index;
  std::int64_t segment;
  std::int64_t segment_length;
};
[[noreturn]] void throw_index_failure(vcode::Op op, const BadIndex& bad);

}  // namespace cvl::cpu
