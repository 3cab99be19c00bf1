// Blocks whose threads are threads of the host: the memory model of C++ holds between them, and
// ThreadSanitizer sees whether the orders that kernels state are enough.
#pragma once

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "cvl-cuda/target.hpp"

namespace cvl::cuda::CVL_CUDA_TARGET {

/// What a thread knows of itself.
struct ThreadPlace {
  std::int64_t block;
  int thread;
  std::barrier<>* barrier;  // of the block
  void* shared;             // memory of the block, full of garbage at first
};

/// The block that the calling thread belongs to (see block.hpp).
template <int kThreadCount>
class ThreadBlock {
 public:
  template <class T>
  class PerThread {
   public:
    T& operator[](int) { return value_; }

   private:
    T value_;
  };

  explicit ThreadBlock(const ThreadPlace& place) : place_(place) {}

  std::int64_t index() const { return place_.block; }
  template <class Phase>
  void each(Phase phase) const {
    phase(place_.thread);
    place_.barrier->arrive_and_wait();
  }

 private:
  const ThreadPlace& place_;
};

/// Calls body on `threads` threads for each of `blocks` blocks, of which a few run at a time and
/// begin in random order.
void run_on_threads(std::int64_t blocks, int threads, std::size_t shared_bytes,
                    const std::function<void(const ThreadPlace&)>& body);

}  // namespace cvl::cuda::CVL_CUDA_TARGET
