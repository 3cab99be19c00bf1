// Vector memory: pooled, reference counted, limited, counted.
//
// Blocks come in size classes, four to a doubling. A freed block goes to the free list of its class
// and is handed out again last in, first out, so that a loop keeps working on memory that is in the
// cache and, once warm, takes no fresh pages. Small blocks are carved from slabs; large ones come
// from the source directly. Free large blocks are given back when they would push the memory held
// well above the greatest amount ever in use at once.
//
// The heap knows nothing about where memory is: a MemorySource supplies host pages or device
// memory. Not thread safe: used by the thread that runs the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cvl/ref.hpp"

namespace cvl {

/// Supplies raw memory. `acquire` returns null when there is none; never throws.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  virtual void* acquire(std::size_t bytes) noexcept = 0;
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
};

class Heap;

/// One block of vector memory. `data` is aligned to Heap::kAlignment, and at least Heap::kPadding
/// bytes after the requested size belong to the block too, so that kernels may read and write whole
/// SIMD registers at the end of a vector.
struct Buffer : Counted {
  Heap* heap = nullptr;
  std::byte* data = nullptr;
  std::size_t capacity = 0;  // bytes that may be used, padding not counted
  std::uint32_t size_class = 0;
  Buffer* next_free = nullptr;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data);
  }
  static void destroy(Buffer* buffer);
};

struct HeapStatistics {
  std::size_t live_bytes = 0;  // in vectors that are in use
  std::size_t peak_live_bytes = 0;
  std::size_t held_bytes = 0;  // taken from the source, free blocks included
  std::size_t peak_held_bytes = 0;
  std::size_t charged_bytes = 0;  // other memory counted against the limit (charge())
  std::uint64_t allocations = 0;
  std::uint64_t recycled = 0;   // allocations served from a free list
  std::uint64_t takeovers = 0;  // results written over a dying operand instead of a new block
};

class Heap {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kUnlimited = SIZE_MAX;

  /// `source` must outlive the heap; every buffer must be gone before the heap is destroyed.
  explicit Heap(MemorySource& source, std::size_t limit_bytes = kUnlimited);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// A block of at least `bytes` bytes, contents undefined. Throws Failure (OutOfMemory).
  Ref<Buffer> allocate(std::size_t bytes);

  /// Counts memory outside the heap (stacks) against the limit. Throws Failure (OutOfMemory).
  void charge(std::size_t bytes);
  void discharge(std::size_t bytes) noexcept;

  /// Gives all free large blocks back to the source.
  void trim() noexcept;

  std::size_t limit() const { return limit_; }
  const HeapStatistics& statistics() const { return statistics_; }
  void count_takeover() { ++statistics_.takeovers; }

  /// For tests: the n-th allocation from now on (counting from 1) fails; 0 switches this off.
  void fail_at(std::uint64_t n) { fail_countdown_ = n; }

 private:
  friend struct Buffer;
  static constexpr std::size_t kClasses = 160;
  struct Slab {
    void* data;
    std::size_t bytes;
  };

  void recycle(Buffer* buffer) noexcept;
  Buffer* take_free(std::uint32_t size_class) noexcept;
  Buffer* carve(std::uint32_t size_class, std::size_t block_bytes) noexcept;
  Buffer* acquire_large(std::uint32_t size_class, std::size_t block_bytes) noexcept;
  bool may_hold(std::size_t bytes) noexcept;
  void release_block(Buffer* buffer) noexcept;
  [[noreturn]] void out_of_memory(std::size_t bytes) const;

  MemorySource& source_;
  std::size_t limit_;
  HeapStatistics statistics_;
  std::array<Buffer*, kClasses> free_{};
  std::size_t free_large_bytes_ = 0;
  std::vector<Slab> slabs_;
  std::byte* slab_cursor_ = nullptr;
  std::size_t slab_left_ = 0;
  std::uint64_t fail_countdown_ = 0;
};

}  // namespace cvl
