// The execution policies that kernel bodies are written against.
//
// A kernel body is a function template over a Block. It is a sequence of phases: `each` runs a
// function for every thread of the block and ends with a barrier. What a thread keeps from phase to
// phase lies in a PerThread, what the threads share in the kernel's Shared struct. On a device a
// phase runs for the calling thread only and ends with __syncthreads(); on the host it is a loop
// over all threads of the block. Branches between phases must depend on values that all threads
// agree on (parameters, shared memory after a barrier).
//
// Blocks talk to each other through the atomics below, never through plain memory alone.
#pragma once

#include <cstdint>

#if !defined(__CUDACC_RTC__)
#include <atomic>
#include <bit>
#include <thread>
#endif

#include "cvl-cuda/target.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// A block whose threads are the turns of a loop.
template <int kThreadCount>
class HostBlock {
 public:
  template <class T>
  class PerThread {
   public:
    T& operator[](int thread) { return values_[thread]; }

   private:
    T values_[kThreadCount];
  };

  explicit HostBlock(std::int64_t index) : index_(index) {}

  std::int64_t index() const { return index_; }
  template <class Phase>
  void each(Phase phase) const {
    for (int thread = 0; thread < kThreadCount; ++thread) phase(thread);
  }

 private:
  std::int64_t index_;
};

#if defined(__CUDACC__)
/// The block that the calling device thread belongs to.
template <int kThreadCount>
class DeviceBlock {
 public:
  template <class T>
  class PerThread {
   public:
    __device__ T& operator[](int) { return value_; }

   private:
    T value_;
  };

  __device__ std::int64_t index() const { return blockIdx.x; }
  template <class Phase>
  __device__ void each(Phase phase) const {
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
};
#endif

// ---- atomics on memory that blocks share ----
//
// The orders of the host are those of the device, so that what holds for the one is tested on the
// other (test/cuda/threads). What states none is relaxed.

KERNEL_FN inline std::uint64_t atomic_min(std::uint64_t* place, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  return atomicMin(reinterpret_cast<unsigned long long*>(place), value);
#else
  std::atomic_ref<std::uint64_t> shared(*place);
  std::uint64_t old = shared.load(std::memory_order_relaxed);
  while (value < old && !shared.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
#endif
}

KERNEL_FN inline std::uint64_t atomic_max(std::uint64_t* place, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  return atomicMax(reinterpret_cast<unsigned long long*>(place), value);
#else
  std::atomic_ref<std::uint64_t> shared(*place);
  std::uint64_t old = shared.load(std::memory_order_relaxed);
  while (value > old && !shared.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
#endif
}

/// Sets bits of a word that only the threads of a block share.
KERNEL_FN inline void or_in_block(std::uint32_t* word, std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  atomicOr(word, bits);
#else
  std::atomic_ref<std::uint32_t>(*word).fetch_or(bits, std::memory_order_relaxed);
#endif
}

/// How many bits are set.
KERNEL_FN inline int ones_in(std::uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return __popc(bits);
#else
  return std::popcount(bits);
#endif
}

/// Adds and returns what was there before. Everything that this thread wrote before can be seen by
/// whoever comes to the same counter later.
KERNEL_FN inline std::uint32_t atomic_arrive(std::uint32_t* place, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  __threadfence();
  const std::uint32_t old = atomicAdd(place, value);
  __threadfence();
  return old;
#else
  return std::atomic_ref<std::uint32_t>(*place).fetch_add(value, std::memory_order_acq_rel);
#endif
}

KERNEL_FN inline std::uint32_t load_acquire(std::uint32_t* place) {
#if defined(__CUDA_ARCH__)
  std::uint32_t value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  return value;
#else
  return std::atomic_ref<std::uint32_t>(*place).load(std::memory_order_acquire);
#endif
}

KERNEL_FN inline void store_release(std::uint32_t* place, std::uint32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(place), "r"(value) : "memory");
#else
  std::atomic_ref<std::uint32_t>(*place).store(value, std::memory_order_release);
#endif
}

/// The next of `count` numbers: as many calls, of whichever blocks, get each of them once, in the
/// order of the calls. The counter is zero before the first and after the last. The order of calls
/// orders nothing else: who waits for others looks at what they publish.
KERNEL_FN inline std::int64_t take_number(std::uint32_t* counter, std::int64_t count) {
#if defined(__CUDA_ARCH__)
  const std::int64_t number = atomicAdd(counter, 1u);
#else
  const std::int64_t number =
      std::atomic_ref<std::uint32_t>(*counter).fetch_add(1, std::memory_order_relaxed);
#endif
  if (number == count - 1) store_release(counter, 0);
  return number;
}

/// Between two looks at what another block is to write.
KERNEL_FN inline void pause() {
#if !defined(__CUDA_ARCH__)
  std::this_thread::yield();  // emulated devices have more blocks at once than processors
#endif
}

/// Looks at a word until `found(word)` holds, and returns it. What was written before the word, by
/// whoever stored it with release order, can then be seen. Devices look with relaxed loads and keep
/// what their caches hold until the word is there.
template <class Found>
KERNEL_FN std::uint32_t await_word(std::uint32_t* place, const Found& found) {
#if defined(__CUDA_ARCH__)
  std::uint32_t word;
  do {
    asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(place) : "memory");
  } while (!found(word));
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
  return word;
#else
  std::uint32_t word = load_acquire(place);
  for (; !found(word); word = load_acquire(place)) pause();
  return word;
#endif
}

KERNEL_FN inline std::uint64_t load_relaxed(std::uint64_t* place) {
#if defined(__CUDA_ARCH__)
  std::uint64_t value;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
#else
  return std::atomic_ref<std::uint64_t>(*place).load(std::memory_order_relaxed);
#endif
}

KERNEL_FN inline void store_relaxed(std::uint64_t* place, std::uint64_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(place), "l"(value) : "memory");
#else
  std::atomic_ref<std::uint64_t>(*place).store(value, std::memory_order_relaxed);
#endif
}

/// Runs `section` while no other thread is in a section with this lock. The lanes of a warp take
/// turns: one that waits for another lane of its warp might keep that one from going on. (A section
/// inside of the loop that tries the lock does not help: nvcc moves it behind that loop.)
template <class Section>
KERNEL_FN void exclusively(std::uint32_t* lock, Section section) {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
  for (unsigned lane = 0; lane < 32; ++lane) {
    if (lane != threadIdx.x % 32) continue;
    while (atomicExch(lock, 1u) != 0) {
    }
    __threadfence();
    section();
    __threadfence();
    store_release(lock, 0);
  }
#else
  while (std::atomic_ref<std::uint32_t>(*lock).exchange(1, std::memory_order_acquire) != 0) pause();
  section();
  store_release(lock, 0);
#endif
}

}  // namespace cvl::cuda::CVL_CUDA_TARGET
