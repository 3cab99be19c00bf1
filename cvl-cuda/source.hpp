// Operands as kernels see them: elements in memory, or a compact form that is computed where it is
// read.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cvl-cuda/target.hpp"
#include "cvl-cuda/tuning.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

enum class SourceKind : std::uint8_t { Dense, Constant, Progression };

/// An operand before its element type matters.
struct RawSource {
  SourceKind kind = SourceKind::Dense;
  const void* data = nullptr;
  std::int64_t length = 0;
  std::uint64_t start = 0;  // the bits of a constant; the first element of a progression
  std::uint64_t step = 0;
};

/// Four elements side by side, loaded and stored together.
template <class T>
struct alignas(sizeof(T) * tuning::kPack < 16 ? sizeof(T) * tuning::kPack : 16) Pack {
  T element[tuning::kPack];
};

/// REQUIRES: `index` is a multiple of kPack, and the array has kPack elements from there on.
template <class T>
KERNEL_FN Pack<std::remove_const_t<T>> load_pack(const Array<T>& array, std::int64_t index) {
  return *reinterpret_cast<const Pack<std::remove_const_t<T>>*>(array.at(index, tuning::kPack));
}
template <class T>
KERNEL_FN void store_pack(const Array<T>& array, std::int64_t index, const Pack<T>& pack) {
  *reinterpret_cast<Pack<T>*>(array.at(index, tuning::kPack)) = pack;
}

template <class T>
class Source {
 public:
  Source() = default;
  explicit Source(const RawSource& raw)
      : dense_(static_cast<const T*>(raw.data), raw.length),
        kind_(raw.kind),
        start_(raw.start),
        step_(raw.step) {}

  KERNEL_FN bool dense() const { return kind_ == SourceKind::Dense; }
  KERNEL_FN T operator[](std::int64_t index) const {
    return kind_ == SourceKind::Dense ? dense_[index] : computed(index);
  }
  KERNEL_FN Pack<T> pack(std::int64_t index) const {
    if (kind_ == SourceKind::Dense) return load_pack(dense_, index);
    Pack<T> result;
    for (int k = 0; k < tuning::kPack; ++k) result.element[k] = computed(index + k);
    return result;
  }

 private:
  KERNEL_FN T computed(std::int64_t index) const {
    std::uint64_t bits = start_;
    if constexpr (std::is_integral_v<T>) {
      if (kind_ == SourceKind::Progression) bits += static_cast<std::uint64_t>(index) * step_;
      return static_cast<T>(bits);
    } else {
      T element;
      memcpy(&element, &bits, sizeof element);  // the low bytes: all supported hosts are little
      return element;                           // endian, as devices are
    }
  }

  Array<const T> dense_;
  SourceKind kind_ = SourceKind::Constant;
  std::uint64_t start_ = 0;
  std::uint64_t step_ = 0;
};

/// A descriptor as kernels see it. Uniform ones have no table.
struct Segments {
  Array<const std::int64_t> offsets;  // count + 1 starts, unless uniform
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t uniform_length = 0;

  KERNEL_FN std::int64_t start(std::int64_t segment) const {
    return offsets ? offsets[segment] : segment * uniform_length;
  }
  KERNEL_FN std::int64_t length(std::int64_t segment) const {
    return offsets ? offsets[segment + 1] - offsets[segment] : uniform_length;
  }
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
