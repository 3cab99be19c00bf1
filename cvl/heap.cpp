#include "cvl/heap.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "cvl/poison.hpp"
#include "cvl/process_memory.hpp"
#include "cvl/region_allocator.hpp"
#include "cvl/tuning.hpp"

namespace cvl {
namespace {

constexpr std::uint32_t kLarge = UINT32_MAX;  // size class of blocks from regions

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

std::size_t occupied(const Buffer& buffer) {
  return buffer.size_class == kLarge ? RegionAllocator::occupied(buffer)
                                     : class_bytes(buffer.size_class);
}

}  // namespace

void Buffer::destroy(Buffer* buffer) {
  buffer->heap->recycle(buffer);
}

Heap::Heap(MemorySource& source, std::size_t limit_bytes)
    : source_(source),
      limit_(limit_bytes),
      immediate_(source.immediate()),
      watches_(source.watches()),
      of_process_(source.is_of_process()),
      large_(std::make_unique<RegionAllocator>(source, statistics_)) {
  if (of_process_ && limit_ < kOfSource) process_memory::set_limit(limit_);
}

Heap::~Heap() {
  const auto unlink = [](Buffer*& list) { return std::exchange(list, list->next_free); };
  for (Buffer*& list : free_) {
    while (list != nullptr) delete unlink(list);
  }
  while (slabs_ != nullptr) {
    Buffer* slab = unlink(slabs_);
    large_->free(slab);
  }
}

Ref<Buffer> Heap::allocate(std::size_t bytes, Extent extent) {
  check_injected_failure(bytes);
  if (!may_allocate(bytes)) out_of_memory(bytes);
  const bool alone = bytes >= static_cast<std::size_t>(heap_tuning.alone_bytes);
  if (extent == Extent::Growing && !alone && may_allocate(bytes + bytes / 2)) bytes += bytes / 2;
  const std::size_t padded = bytes + kPadding;
  const std::uint32_t size_class = class_of(padded);
  ++statistics_.allocations;
  Buffer* buffer = nullptr;
  bool recycled = false;
  if (size_class >= static_cast<std::size_t>(heap_tuning.small_classes)) {
    buffer = allocate_large(padded, alone ? extent : Extent::Asked, recycled);
  } else if (free_[size_class] != nullptr) {
    buffer = std::exchange(free_[size_class], free_[size_class]->next_free);
    recycled = true;
  } else {
    buffer = carve(size_class);
  }
  if (buffer == nullptr) out_of_memory(bytes);
  statistics_.recycled += recycled ? 1 : 0;
  count_use(occupied(*buffer), buffer->size_class == kLarge);
  unpoison(buffer->data, padded);
  if (heap_tuning.fresh_byte >= 0 && of_process_) {
    std::memset(buffer->data, static_cast<int>(heap_tuning.fresh_byte), bytes);
  }
  if (watches_) {
    source_.begin_use(buffer->data, extent == Extent::Capacity ? buffer->capacity : bytes);
  }
  return Ref<Buffer>(buffer);
}

Buffer* Heap::allocate_large(std::size_t bytes, Extent extent, bool& recycled) noexcept {
  Buffer* buffer = nullptr;
  if (extent == Extent::Growing) buffer = large_->allocate_alone(bytes, recycled);
  if (buffer == nullptr) buffer = large_->allocate(bytes, recycled);
  if (buffer != nullptr) {
    buffer->heap = this;
    buffer->size_class = kLarge;
  }
  return buffer;
}

bool Heap::extend(Buffer& buffer, std::size_t bytes) {
  if (bytes > buffer.capacity) {
    if (buffer.size_class != kLarge || watches_) return false;
    if (!may_allocate(bytes - buffer.capacity)) return false;
    const std::size_t before = occupied(buffer);
    if (!large_->extend(buffer, bytes + kPadding)) return false;
    count_use(occupied(buffer) - before, true);
  }
  unpoison(buffer.data, bytes + kPadding);
  return true;
}

void Heap::count_use(std::size_t bytes, bool large) {
  statistics_.live_bytes += bytes;
  statistics_.peak_live_bytes = std::max(statistics_.peak_live_bytes, statistics_.live_bytes);
  if (!large) return;
  const std::size_t others = in_use() - statistics_.live_bytes;
  if (statistics_.held_bytes + others > limit_) large_->discard_free();
  tell_process();
}

void Heap::charge(std::size_t bytes) {
  check_injected_failure(bytes);
  if (!may_allocate(bytes)) out_of_memory(bytes);
  statistics_.charged_bytes += bytes;
  tell_process();
}

void Heap::discharge(std::size_t bytes) noexcept {
  statistics_.charged_bytes -= bytes;
  tell_process();
}

void Heap::tell_process() const {
  if (of_process_) {
    process_memory::set_reserved(statistics_.live_bytes + statistics_.charged_bytes);
  }
}

void Heap::trim() noexcept {
  large_->trim();
}

void Heap::recycle(Buffer* buffer) noexcept {
  const std::size_t bytes = occupied(*buffer);
  statistics_.live_bytes -= bytes;
  buffer->grows = false;
  if (immediate_) poison(buffer->data, bytes);
  if (watches_) source_.end_use(buffer->data, bytes);
  if (buffer->size_class == kLarge) {
    large_->free(buffer);
    tell_process();
  } else {
    buffer->next_free = std::exchange(free_[buffer->size_class], buffer);
  }
}

/// A fresh small block from the current slab.
Buffer* Heap::carve(std::uint32_t size_class) noexcept {
  const std::size_t bytes = class_bytes(size_class);
  auto* buffer = new (std::nothrow) Buffer;
  if (buffer == nullptr) return nullptr;
  if (slab_left_ < bytes) {
    bool recycled = false;
    const auto slab_bytes = static_cast<std::size_t>(heap_tuning.slab_bytes);
    Buffer* slab = large_->allocate(slab_bytes, recycled);
    if (slab == nullptr) {
      delete buffer;
      return nullptr;
    }
    slab->next_free = std::exchange(slabs_, slab);
    slab_cursor_ = slab->data;
    slab_left_ = slab_bytes;
    if (immediate_) poison(slab->data, slab_bytes);
  }
  buffer->heap = this;
  buffer->data = std::exchange(slab_cursor_, slab_cursor_ + bytes);
  slab_left_ -= bytes;
  buffer->capacity = bytes - kPadding;
  buffer->size_class = size_class;
  return buffer;
}

void Heap::check_injected_failure(std::size_t bytes) {
  if (fail_countdown_ != 0 && --fail_countdown_ == 0) out_of_memory(bytes);
}

bool Heap::may_allocate(std::size_t bytes) {
  if (limit_ == kOfSource && exceeds(bytes, static_cast<std::size_t>(heap_tuning.modest_bytes)))
    limit_ = source_.limit();
  // Sizes near the end of the address space must not wrap around when they are rounded up.
  return !exceeds(bytes, limit_) && bytes <= SIZE_MAX / 4;
}

bool Heap::exceeds(std::size_t bytes, std::size_t limit) const {
  const std::size_t used = in_use();
  return used > limit || bytes > limit - used;
}

std::size_t Heap::in_use() const {
  const std::size_t vectors = statistics_.live_bytes + statistics_.charged_bytes;
  return of_process_ ? vectors + process_memory::in_use() : vectors;
}

void Heap::out_of_memory(std::size_t bytes) const {
  const std::string limit =
      limit_ >= kOfSource ? std::string("the machine's memory") : format_bytes(limit_);
  throw Failure(vcode::ErrorCode::OutOfMemory, "out of memory",
                {fmt::format("requested {}; in use {}; limit {}", format_bytes(bytes),
                             format_bytes(in_use()), limit)},
                "raise the limit with --memory, or make the problem smaller");
}

}  // namespace cvl
