// Operands as kernels see them: elements in memory, a compact form that is computed where it is
// read, or a few elements that travel in the parameters of the kernel and so need no copy.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cvl-cuda/shapes.hpp"
#include "cvl-cuda/target.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

enum class SourceKind : std::uint32_t { Dense, Constant, Progression, Few };

/// An operand before its element type matters.
struct RawSource {
  SourceKind kind = SourceKind::Dense;
  const void* data = nullptr;
  std::int64_t length = 0;
  /// A constant; first element and step of a progression, each in a word; or all elements.
  std::uint64_t payload[shape::kParameterWords] = {};
};

/// Elements side by side, loaded and stored together.
template <class T, int kCount>
struct alignas(sizeof(T) * kCount < 16 ? sizeof(T) * kCount : 16) Pack {
  T element[kCount];
};

/// A pack from an address that is a multiple of its alignment.
template <class T, int kCount>
KERNEL_FN Pack<T, kCount> load_pack(const T* address) {
  return *reinterpret_cast<const Pack<T, kCount>*>(address);
}
/// REQUIRES: `index` is a multiple of kCount, and the array has kCount elements from there on.
template <int kCount, class T>
KERNEL_FN Pack<std::remove_const_t<T>, kCount> load_pack(const Array<T>& array,
                                                         std::int64_t index) {
  return load_pack<std::remove_const_t<T>, kCount>(array.at(index, kCount));
}
template <class T, int kCount>
KERNEL_FN void store_pack(const Array<T>& array, std::int64_t index, const Pack<T, kCount>& pack) {
  *reinterpret_cast<Pack<T, kCount>*>(array.at(index, kCount)) = pack;
}

template <class T>
class Source {
 public:
  Source() = default;
  explicit Source(const RawSource& raw)
      : dense_(static_cast<const T*>(raw.data), raw.length), kind_(raw.kind) {
    std::memcpy(payload_, raw.payload, sizeof payload_);
  }

  KERNEL_FN bool dense() const { return kind_ == SourceKind::Dense; }
  /// Of a dense one, without asking what it is.
  KERNEL_FN T dense_element(std::int64_t index) const { return dense_[index]; }
  KERNEL_FN const T* dense_address(std::int64_t index, std::int64_t count) const {
    return dense_.at(index, count);
  }
  template <int kCount>
  KERNEL_FN Pack<T, kCount> dense_pack(std::int64_t index) const {
    return load_pack<kCount>(dense_, index);
  }
  KERNEL_FN T operator[](std::int64_t index) const {
    return kind_ == SourceKind::Dense ? dense_[index] : computed(index);
  }
  template <int kCount>
  KERNEL_FN Pack<T, kCount> pack(std::int64_t index) const {
    if (kind_ == SourceKind::Dense) return dense_pack<kCount>(index);
    Pack<T, kCount> result;
    for (int k = 0; k < kCount; ++k) result.element[k] = computed(index + k);
    return result;
  }

 private:
  KERNEL_FN T computed(std::int64_t index) const {
    if constexpr (std::is_integral_v<T>) {
      if (kind_ == SourceKind::Progression) {
        return static_cast<T>(payload_[0] + static_cast<std::uint64_t>(index) * payload_[1]);
      }
    }
    if (kind_ == SourceKind::Constant) {
      index = 0;
    } else {
      dense_.check(index, 1);
    }
    T element;
    memcpy(&element, reinterpret_cast<const char*>(payload_) + index * sizeof(T), sizeof element);
    return element;
  }

  Array<const T> dense_;
  SourceKind kind_ = SourceKind::Constant;
  std::uint64_t payload_[shape::kParameterWords] = {};
};

/// A descriptor as kernels see it. Uniform ones have no table, and the table of a few segments
/// travels in the parameters of the kernel.
struct Segments {
  bool uniform = true;
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t uniform_length = 0;
  Array<const std::int64_t> offsets;                   // count + 1 starts, unless uniform or few
  std::int64_t few_ends[shape::kParameterWords] = {};  // of up to so many segments

  KERNEL_FN std::int64_t start(std::int64_t segment) const {
    if (uniform) return segment * uniform_length;
    if (offsets) return offsets[segment];
    return segment == 0 ? 0 : few_ends[segment - 1];
  }
  KERNEL_FN std::int64_t length(std::int64_t segment) const {
    return uniform ? uniform_length : start(segment + 1) - start(segment);
  }
};

/// Calls take(k, start of segment first + k, its end) for the numbers k below `count` that a thread
/// of a block of kThreads cares for. Several loads are on their way together.
template <int kThreads = shape::kThreads, class Take>
KERNEL_FN void for_segments(const Segments& segments, std::int64_t first, int count, int thread,
                            const Take& take) {
  constexpr int kAhead = 4;
  for (int from = thread; from < count; from += kAhead * kThreads) {
    std::int64_t starts[kAhead], ends[kAhead];
    for (int k = 0; k < kAhead; ++k) {
      if (from + k * kThreads >= count) continue;
      starts[k] = segments.start(first + from + k * kThreads);
      ends[k] = segments.start(first + from + k * kThreads + 1);
    }
    for (int k = 0; k < kAhead; ++k) {
      if (from + k * kThreads < count) take(from + k * kThreads, starts[k], ends[k]);
    }
  }
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
