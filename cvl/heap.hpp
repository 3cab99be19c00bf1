// Vector memory: pooled, reference counted, limited, counted.
//
// Small blocks, up to 2 kB, come in size classes, four to a doubling, carved from slabs. A freed
// one goes to the free list of its class and is handed out again last in, first out, so that a loop
// keeps working on memory that is in the cache. Large blocks are cut from big regions by best fit,
// and freed neighbours merge, so that a program whose vectors change their sizes all the time does
// not spread over ever more memory. Once warm, neither takes a fresh page from the system.
//
// The heap knows nothing about where memory is: a MemorySource supplies host pages or device
// memory. Not thread safe: used by the thread that runs the program.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "cvl/ref.hpp"

namespace cvl {

/// Supplies raw memory. `acquire` returns null when there is none; never throws.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  virtual void* acquire(std::size_t bytes) noexcept = 0;
  virtual void release(void* data, std::size_t bytes) noexcept = 0;
  /// How much to acquire at a time for blocks to be cut from; 0: each block by itself.
  virtual std::size_t region_bytes() const noexcept { return std::size_t{64} << 20; }
  /// Says, before that happens, that of the `acquired` bytes at `data` the first `bytes` are going
  /// to be in use; so far only the first `used` ever were. What lies beyond is perhaps never
  /// touched.
  virtual void expect(void* /*data*/, std::size_t /*acquired*/, std::size_t /*used*/,
                      std::size_t /*bytes*/) noexcept {}
  /// Takes the pages of a part of the memory back until it is used again; its contents are lost.
  /// False if that cannot be done.
  virtual bool discard(void* /*data*/, std::size_t /*bytes*/) noexcept { return false; }
  /// How much of it one process may reasonably use.
  virtual std::size_t limit() const { return SIZE_MAX; }
  /// Is a block out of use as soon as it is freed? Not where a device works on it later, in order.
  virtual bool immediate() const noexcept { return false; }
  /// Is it the memory that the process has everything else in?
  virtual bool is_of_process() const noexcept { return false; }
  /// Does it watch over accesses? Then it is told of every block that comes into use, with the
  /// bytes that will be used (Heap::Extent), and that goes out of use, with all that it occupied.
  virtual bool watches() const noexcept { return false; }
  virtual void begin_use(void* /*data*/, std::size_t /*bytes*/) noexcept {}
  virtual void end_use(void* /*data*/, std::size_t /*bytes*/) noexcept {}
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
  /// For libraries: does it hold a vector that another one was appended to? The next time it does
  /// not fit, it gets room to spare.
  bool grows = false;
  Buffer* next_free = nullptr;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data);
  }
  static void destroy(Buffer* buffer);
};

struct HeapStatistics {
  std::size_t live_bytes = 0;  // in blocks that are in use, rounding and padding included
  std::size_t peak_live_bytes = 0;
  std::size_t held_bytes = 0;  // of the source's memory that was ever handed out and not given back
  std::size_t peak_held_bytes = 0;
  std::size_t charged_bytes = 0;  // other memory counted against the limit (charge())
  std::uint64_t allocations = 0;
  std::uint64_t recycled = 0;   // allocations served from memory that had been in use before
  std::uint64_t takeovers = 0;  // results written over a dying operand instead of a new block
};

class RegionAllocator;

class Heap {
 public:
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kUnlimited = SIZE_MAX;
  /// A limit that stands for that of the source, which is asked for it when more than
  /// heap_tuning.modest_bytes are in use: finding it out takes longer than a small program
  /// computes.
  static constexpr std::size_t kOfSource = SIZE_MAX - 1;

  /// `source` must outlive the heap; every buffer must be gone before the heap is destroyed.
  /// The limit counts what is in use (live and charged bytes) and, in memory of the process, what
  /// operator new has given the process beyond that at the start (process_memory.hpp). Free blocks
  /// keep their pages only as long as these are within the limit, too.
  explicit Heap(MemorySource& source, std::size_t limit_bytes = kUnlimited);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  /// What of a block its owner is going to use: what was asked for, all of its capacity, or more
  /// and more. Then a large one has what follows it to itself, so that extend() succeeds, and a
  /// small one gets half as much again as it needs; neither of them if the limit is near.
  enum class Extent { Asked, Capacity, Growing };
  /// A block of at least `bytes` bytes, contents undefined. Throws Failure (OutOfMemory).
  Ref<Buffer> allocate(std::size_t bytes, Extent extent = Extent::Asked);

  /// Makes a block in use at least `bytes` bytes long where it lies; its contents stay. False when
  /// that cannot be done: what follows it is in use, the limit forbids it, or the source watches.
  bool extend(Buffer& buffer, std::size_t bytes);

  /// Counts memory outside the heap (stacks) against the limit. Throws Failure (OutOfMemory).
  void charge(std::size_t bytes);
  void discharge(std::size_t bytes) noexcept;

  /// Gives regions without any block in use back to the source.
  void trim() noexcept;

  const HeapStatistics& statistics() const { return statistics_; }
  /// In bytes; kOfSource as long as that limit need not be known.
  std::size_t limit() const { return limit_; }
  /// What counts against the limit, in bytes.
  std::size_t in_use() const;
  void count_takeover() { ++statistics_.takeovers; }

  /// For tests: the n-th allocation from now on (counting from 1) fails; 0 switches this off.
  void fail_at(std::uint64_t n) { fail_countdown_ = n; }

 private:
  friend struct Buffer;

  /// Size classes that heap_tuning.small_classes can allow.
  static constexpr std::size_t kMostClasses = 16;

  void recycle(Buffer* buffer) noexcept;
  void count_use(std::size_t bytes, bool large);
  Buffer* carve(std::uint32_t size_class) noexcept;
  Buffer* allocate_large(std::size_t bytes, Extent extent, bool& recycled) noexcept;
  bool may_allocate(std::size_t bytes);
  bool exceeds(std::size_t bytes, std::size_t limit) const;
  void tell_process() const;
  void check_injected_failure(std::size_t bytes);
  [[noreturn]] void out_of_memory(std::size_t bytes) const;

  MemorySource& source_;
  std::size_t limit_;
  bool immediate_, watches_, of_process_;
  HeapStatistics statistics_;
  std::array<Buffer*, kMostClasses> free_{};
  std::byte* slab_cursor_ = nullptr;
  std::size_t slab_left_ = 0;
  Buffer* slabs_ = nullptr;  // all slabs, linked; they are large blocks themselves
  std::unique_ptr<RegionAllocator> large_;
  std::uint64_t fail_countdown_ = 0;
};

}  // namespace cvl
