#include "cvl/heap.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <fmt/core.h>

#include "cvl/failure.hpp"

namespace cvl {
namespace {

constexpr std::size_t kSlabBytes = std::size_t{2} << 20;   // one huge page
constexpr std::size_t kLargeBytes = std::size_t{1} << 20;  // from here blocks are not carved
constexpr std::size_t kMinCachedBytes = std::size_t{64} << 20;

/// Classes 0..3 are 64, 128, 192 and 256 bytes; then four to a doubling.
std::uint32_t class_of(std::size_t bytes) {
  if (bytes <= 256) return bytes == 0 ? 0 : static_cast<std::uint32_t>((bytes - 1) / 64);
  const int exponent = std::bit_width(bytes - 1) - 1;  // 2^exponent <= bytes-1 < 2^(exponent+1)
  const std::size_t quarter = std::size_t{1} << (exponent - 2);
  const auto step =
      static_cast<std::uint32_t>((bytes - 1 - (std::size_t{1} << exponent)) / quarter);
  return 4 + static_cast<std::uint32_t>(exponent - 8) * 4 + step;
}

std::size_t class_bytes(std::uint32_t size_class) {
  if (size_class < 4) return (std::size_t{size_class} + 1) * 64;
  const std::uint32_t exponent = 8 + (size_class - 4) / 4;
  const std::size_t quarter = std::size_t{1} << (exponent - 2);
  return (std::size_t{1} << exponent) + ((size_class - 4) % 4 + 1) * quarter;
}

}  // namespace

void Buffer::destroy(Buffer* buffer) {
  buffer->heap->recycle(buffer);
}

Heap::Heap(MemorySource& source, std::size_t limit_bytes) : source_(source), limit_(limit_bytes) {}

Heap::~Heap() {
  trim();
  for (Buffer*& list : free_) {
    while (Buffer* buffer = std::exchange(list, list == nullptr ? nullptr : list->next_free)) {
      delete buffer;
    }
  }
  for (const Slab& slab : slabs_) source_.release(slab.data, slab.bytes);
}

Ref<Buffer> Heap::allocate(std::size_t bytes) {
  if (fail_countdown_ != 0 && --fail_countdown_ == 0) out_of_memory(bytes);
  if (bytes > SIZE_MAX / 4) out_of_memory(bytes);
  const std::size_t padded = bytes + kPadding;
  const std::uint32_t size_class = class_of(padded);
  ++statistics_.allocations;
  Buffer* buffer = take_free(size_class);
  if (buffer != nullptr) {
    ++statistics_.recycled;
  } else {
    const std::size_t block = class_bytes(size_class);
    buffer = block < kLargeBytes ? carve(size_class, block) : acquire_large(size_class, block);
    if (buffer == nullptr) out_of_memory(bytes);
  }
  statistics_.live_bytes += class_bytes(buffer->size_class);
  if (statistics_.live_bytes > statistics_.peak_live_bytes) {
    statistics_.peak_live_bytes = statistics_.live_bytes;
  }
  return Ref<Buffer>(buffer);
}

void Heap::charge(std::size_t bytes) {
  if (fail_countdown_ != 0 && --fail_countdown_ == 0) out_of_memory(bytes);
  if (!may_hold(bytes)) out_of_memory(bytes);
  statistics_.charged_bytes += bytes;
}

void Heap::discharge(std::size_t bytes) noexcept {
  statistics_.charged_bytes -= bytes;
}

void Heap::recycle(Buffer* buffer) noexcept {
  statistics_.live_bytes -= class_bytes(buffer->size_class);
  if (class_bytes(buffer->size_class) >= kLargeBytes) {
    free_large_bytes_ += class_bytes(buffer->size_class);
  }
  buffer->next_free = free_[buffer->size_class];
  free_[buffer->size_class] = buffer;
}

Buffer* Heap::take_free(std::uint32_t size_class) noexcept {
  // A large request may also be served by a block of the next two classes: at most half as large
  // again.
  const bool large = class_bytes(size_class) >= kLargeBytes;
  const std::uint32_t last = large ? size_class + 2 : size_class;
  for (std::uint32_t candidate = size_class; candidate <= last && candidate < kClasses;
       ++candidate) {
    Buffer* buffer = free_[candidate];
    if (buffer == nullptr) continue;
    free_[candidate] = buffer->next_free;
    if (large) free_large_bytes_ -= class_bytes(candidate);
    return buffer;
  }
  return nullptr;
}

Buffer* Heap::carve(std::uint32_t size_class, std::size_t block_bytes) noexcept {
  if (slab_left_ < block_bytes) {
    if (!may_hold(kSlabBytes)) return nullptr;
    void* data = source_.acquire(kSlabBytes);
    if (data == nullptr) return nullptr;
    slabs_.push_back({data, kSlabBytes});
    slab_cursor_ = static_cast<std::byte*>(data);
    slab_left_ = kSlabBytes;
    statistics_.held_bytes += kSlabBytes;
    statistics_.peak_held_bytes = std::max(statistics_.peak_held_bytes, statistics_.held_bytes);
  }
  auto* buffer = new (std::nothrow) Buffer;
  if (buffer == nullptr) return nullptr;
  buffer->heap = this;
  buffer->data = std::exchange(slab_cursor_, slab_cursor_ + block_bytes);
  slab_left_ -= block_bytes;
  buffer->capacity = block_bytes - kPadding;
  buffer->size_class = size_class;
  return buffer;
}

Buffer* Heap::acquire_large(std::uint32_t size_class, std::size_t block_bytes) noexcept {
  const std::size_t worth_caching = std::max(kMinCachedBytes, statistics_.peak_live_bytes / 4);
  if (free_large_bytes_ > worth_caching) trim();
  if (!may_hold(block_bytes)) return nullptr;
  void* data = source_.acquire(block_bytes);
  if (data == nullptr) {
    trim();
    data = source_.acquire(block_bytes);
    if (data == nullptr) return nullptr;
  }
  auto* buffer = new (std::nothrow) Buffer;
  if (buffer == nullptr) {
    source_.release(data, block_bytes);
    return nullptr;
  }
  buffer->heap = this;
  buffer->data = static_cast<std::byte*>(data);
  buffer->capacity = block_bytes - kPadding;
  buffer->size_class = size_class;
  statistics_.held_bytes += block_bytes;
  statistics_.peak_held_bytes = std::max(statistics_.peak_held_bytes, statistics_.held_bytes);
  return buffer;
}

/// May `bytes` more be taken within the limit? Gives free blocks back first if that helps.
bool Heap::may_hold(std::size_t bytes) noexcept {
  const auto fits = [&] {
    const std::size_t used = statistics_.held_bytes + statistics_.charged_bytes;
    return used <= limit_ && bytes <= limit_ - used;
  };
  if (fits()) return true;
  trim();
  return fits();
}

void Heap::trim() noexcept {
  for (std::uint32_t size_class = class_of(kLargeBytes); size_class < kClasses; ++size_class) {
    while (Buffer* buffer = free_[size_class]) {
      free_[size_class] = buffer->next_free;
      release_block(buffer);
    }
  }
  free_large_bytes_ = 0;
}

void Heap::release_block(Buffer* buffer) noexcept {
  const std::size_t block_bytes = class_bytes(buffer->size_class);
  source_.release(buffer->data, block_bytes);
  statistics_.held_bytes -= block_bytes;
  delete buffer;
}

void Heap::out_of_memory(std::size_t bytes) const {
  const std::string limit =
      limit_ == kUnlimited ? std::string("the machine's memory") : format_bytes(limit_);
  throw Failure(vcode::ErrorCode::OutOfMemory, "out of memory",
                {fmt::format("requested {}; in use {}; peak {}; limit {}", format_bytes(bytes),
                             format_bytes(statistics_.live_bytes + statistics_.charged_bytes),
                             format_bytes(statistics_.peak_live_bytes), limit)},
                "raise the limit with --memory, or make the problem smaller");
}

}  // namespace cvl
