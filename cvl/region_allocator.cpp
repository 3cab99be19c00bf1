#include "cvl/region_allocator.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "cvl/poison.hpp"

namespace cvl {

RegionAllocator::RegionAllocator(MemorySource& source, HeapStatistics& statistics)
    : source_(source), statistics_(statistics) {}

RegionAllocator::~RegionAllocator() {
  trim();
}

std::size_t RegionAllocator::occupied(const Buffer& buffer) {
  return static_cast<const Block&>(buffer).bytes;
}

std::size_t RegionAllocator::rounded(std::size_t bytes) {
  return (bytes + kGranule - 1) / kGranule * kGranule;
}

/// Null when there is no memory.
RegionAllocator::Block* RegionAllocator::new_header() noexcept {
  if (spare_ == nullptr) return new (std::nothrow) Block;
  Block* block = std::exchange(spare_, spare_->after);
  *block = Block();
  return block;
}

/// Loops free and allocate blocks all the time, which are cut and merged.
void RegionAllocator::drop_header(Block* block) noexcept {
  block->after = std::exchange(spare_, block);
}

Buffer* RegionAllocator::allocate(std::size_t bytes, bool& recycled) noexcept {
  bytes = rounded(bytes);
  recycled = true;
  Block* block = take_fitting(bytes);
  if (block == nullptr) block = take_tail(bytes, recycled);
  if (block == nullptr && add_region(bytes) != nullptr) block = take_tail(bytes, recycled);
  return give_out(block);
}

Buffer* RegionAllocator::allocate_alone(std::size_t bytes, bool& recycled) noexcept {
  bytes = rounded(bytes);
  // Of those that nothing is in, the one with most memory that had been in use before.
  Region* chosen = nullptr;
  for (Region* region = regions_; region != nullptr; region = region->next) {
    if (region->used != 0 || region->bytes / 2 < bytes) continue;
    if (chosen == nullptr || region->touched > chosen->touched) chosen = region;
  }
  if (chosen == nullptr) chosen = add_region(2 * bytes);
  if (chosen == nullptr) return nullptr;
  recycled = chosen->touched >= bytes;
  Block* block = append(*chosen, bytes);
  chosen->of_one = block != nullptr;
  return give_out(block);
}

Buffer* RegionAllocator::give_out(Block* block) noexcept {
  if (block == nullptr) return nullptr;
  block->is_free = false;
  block->capacity = block->bytes - Heap::kPadding;
  return block;
}

void RegionAllocator::free(Buffer* buffer) noexcept {
  auto* block = static_cast<Block*>(buffer);
  block->is_free = true;
  if (block->before != nullptr && block->before->is_free) {
    free_.erase(free_.iterator_to(*block->before));
    block = absorb(block->before, block);
  }
  if (block->after != nullptr && block->after->is_free) {
    free_.erase(free_.iterator_to(*block->after));
    block = absorb(block, block->after);
  }
  if (block->after == nullptr) {
    give_to_tail(block);
  } else {
    free_.insert(*block);
  }
}

bool RegionAllocator::extend(Buffer& buffer, std::size_t bytes) noexcept {
  auto& block = static_cast<Block&>(buffer);
  bytes = rounded(bytes);
  if (block.bytes >= bytes) return true;
  if (block.after == nullptr) {
    Region& region = *block.region;
    const std::size_t more = bytes - block.bytes;
    if (region.bytes - region.used < more) return false;
    use_tail(region, more);
    block.bytes = bytes;
  } else {
    Block& next = *block.after;
    if (!next.is_free || block.bytes + next.bytes < bytes) return false;
    free_.erase(free_.iterator_to(next));
    absorb(&block, &next);
    split(block, bytes);
  }
  block.capacity = block.bytes - Heap::kPadding;
  return true;
}

RegionAllocator::Block* RegionAllocator::take_fitting(std::size_t bytes) noexcept {
  const auto found = free_.lower_bound(bytes, FitsIn{});
  if (found == free_.end()) return nullptr;
  Block& block = *found;
  free_.erase(found);
  split(block, bytes);
  hold(block);
  return &block;
}

/// The pages of the block are about to be used, or count as such.
void RegionAllocator::hold(Block& block) noexcept {
  if (block.held) return;
  block.held = true;
  statistics_.held_bytes += block.bytes;
  statistics_.peak_held_bytes = std::max(statistics_.peak_held_bytes, statistics_.held_bytes);
}

void RegionAllocator::discard_free() noexcept {
  for (Block& block : free_) {
    if (!block.held || !source_.discard(block.data, block.bytes)) continue;
    block.held = false;
    statistics_.held_bytes -= block.bytes;
  }
  for (Region* region = regions_; region != nullptr; region = region->next) {
    const std::size_t idle = region->touched - region->used;
    if (idle == 0 || !source_.discard(region->data + region->used, idle)) continue;
    region->touched = region->used;
    statistics_.held_bytes -= idle;
  }
}

/// Cuts what is not needed off a block. Without memory for another header the block stays whole.
void RegionAllocator::split(Block& block, std::size_t bytes) noexcept {
  if (block.bytes == bytes) return;
  auto* rest = new_header();
  if (rest == nullptr) return;
  rest->heap = block.heap;
  rest->data = block.data + bytes;
  rest->bytes = block.bytes - bytes;
  rest->is_free = true;
  rest->held = block.held;
  rest->region = block.region;
  rest->before = &block;
  rest->after = block.after;
  if (rest->after != nullptr) {
    rest->after->before = rest;
  } else {
    rest->region->last = rest;
  }
  block.after = rest;
  block.bytes = bytes;
  free_.insert(*rest);
}

/// Merges two neighbours that are out of the free set; the result is the first.
RegionAllocator::Block* RegionAllocator::absorb(Block* block, Block* next) noexcept {
  if (block->held != next->held) hold(block->held ? *next : *block);
  block->bytes += next->bytes;
  block->after = next->after;
  if (block->after != nullptr) {
    block->after->before = block;
  } else {
    block->region->last = block;
  }
  drop_header(next);
  return block;
}

void RegionAllocator::give_to_tail(Block* block) noexcept {
  hold(*block);
  Region& region = *block->region;
  region.of_one = false;
  region.used -= block->bytes;
  region.last = block->before;
  if (region.last != nullptr) region.last->after = nullptr;
  drop_header(block);
}

RegionAllocator::Block* RegionAllocator::take_tail(std::size_t bytes, bool& recycled) noexcept {
  // Prefer memory that was in use before, then whatever region has room.
  Region* chosen = nullptr;
  for (Region* region = regions_; region != nullptr; region = region->next) {
    if (region->of_one || region->bytes - region->used < bytes) continue;
    recycled = region->touched - region->used >= bytes;
    chosen = region;
    if (recycled) break;
  }
  return chosen == nullptr ? nullptr : append(*chosen, bytes);
}

RegionAllocator::Block* RegionAllocator::append(Region& region, std::size_t bytes) noexcept {
  auto* block = new_header();
  if (block == nullptr) return nullptr;
  block->data = region.data + region.used;
  block->bytes = bytes;
  block->region = &region;
  block->before = region.last;
  if (region.last != nullptr) region.last->after = block;
  region.last = block;
  use_tail(region, bytes);
  return block;
}

void RegionAllocator::use_tail(Region& region, std::size_t bytes) noexcept {
  region.used += bytes;
  if (region.used > region.touched) {
    source_.expect(region.data, region.bytes, region.touched, region.used);
    statistics_.held_bytes += region.used - region.touched;
    statistics_.peak_held_bytes = std::max(statistics_.peak_held_bytes, statistics_.held_bytes);
    region.touched = region.used;
  }
}

RegionAllocator::Region* RegionAllocator::add_region(std::size_t bytes) noexcept {
  auto* region = new (std::nothrow) Region;
  if (region == nullptr) return nullptr;
  // A source may have less than a whole region left, but still enough for the block.
  for (std::size_t wanted = std::max(bytes, source_.region_bytes());;
       wanted = std::max(bytes, wanted / 2)) {
    region->data = static_cast<std::byte*>(source_.acquire(wanted));
    region->bytes = wanted;
    if (region->data != nullptr || wanted == bytes) break;
  }
  if (region->data == nullptr) {
    trim();
    region->data = static_cast<std::byte*>(source_.acquire(bytes));
    region->bytes = bytes;
  }
  if (region->data == nullptr) {
    delete region;
    return nullptr;
  }
  region->next = regions_;
  regions_ = region;
  return region;
}

void RegionAllocator::trim() noexcept {
  while (spare_ != nullptr) delete std::exchange(spare_, spare_->after);
  for (Region** link = &regions_; *link != nullptr;) {
    Region* region = *link;
    if (region->used != 0) {
      link = &region->next;
      continue;
    }
    *link = region->next;
    statistics_.held_bytes -= region->touched;
    unpoison(region->data, region->touched);
    source_.release(region->data, region->bytes);
    delete region;
  }
}

}  // namespace cvl
