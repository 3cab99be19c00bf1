// What the sources of this library are compiled for.
//
// Every source is compiled twice: by nvcc for devices, and by the host compiler for the emulated
// device of the tests, which runs the very same kernel bodies in plain loops. The host's part is
// also compiled for a device of the tests that runs the PTX of the kernels (test/cuda/ptx), and
// some kernels once more to run with a thread of the host for each thread (test/cuda/threads). The
// libraries live in namespaces of their own, so that one program may hold several.
#pragma once

#include <cstdint>

#if defined(CVL_CUDA_EMULATED)
#include <cstdio>
#include <cstdlib>
#define CVL_CUDA_TARGET emulated
#elif defined(CVL_CUDA_PTX)
#define CVL_CUDA_TARGET ptx
#elif defined(CVL_CUDA_THREADS)
#define CVL_CUDA_TARGET threads
#else
#define CVL_CUDA_TARGET native
#endif

/// Marks code that kernels use. CVL_FN of scalar_ops.hpp is the same with forced inlining on the
/// host, which is too much for whole kernel bodies.
#if defined(__CUDACC__)
#define KERNEL_FN __host__ __device__
#else
#define KERNEL_FN
#endif

namespace cvl::cuda::CVL_CUDA_TARGET {

/// Elements in device memory, as kernels see them. The emulated device knows the length and stops
/// the program at the first access outside.
template <class T>
class Array {
 public:
  Array() = default;
#if defined(CVL_CUDA_EMULATED)
  Array(T* data, std::int64_t length) : data_(data), length_(length) {}
#else
  KERNEL_FN Array(T* data, std::int64_t) : data_(data) {}
#endif

  KERNEL_FN T& operator[](std::int64_t index) const {
    check(index, 1);
    return data_[index];
  }
  /// The address of `count` elements from `index` on.
  KERNEL_FN T* at(std::int64_t index, std::int64_t count) const {
    check(index, count);
    return data_ + index;
  }
  KERNEL_FN explicit operator bool() const {
    return data_ != nullptr;
  }
#if defined(CVL_CUDA_EMULATED)
  void check(std::int64_t index, std::int64_t count) const {
    if (index >= 0 && index <= length_ - count) return;
    std::fprintf(stderr, "kernel access to elements %lld...%lld of %lld\n",
                 static_cast<long long>(index), static_cast<long long>(index + count - 1),
                 static_cast<long long>(length_));
    std::abort();
  }

 private:
  T* data_ = nullptr;
  std::int64_t length_ = 0;
#else
  KERNEL_FN void check(std::int64_t, std::int64_t) const {}

 private:
  T* data_ = nullptr;
#endif
};

}  // namespace cvl::cuda::CVL_CUDA_TARGET
