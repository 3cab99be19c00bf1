// Large blocks, cut from regions by best fit; freed neighbours merge.
//
// A region is a row of blocks, in use or free, followed by a tail that was never handed out. The
// tail is used last: its pages cost a page fault each. No operation on a block in use can fail, and
// freeing never allocates: every block has a header outside the vector memory (which may be on a
// device) that lives as long as the block.
#pragma once

#include <cstddef>

#include <boost/intrusive/set.hpp>

#include "cvl/heap.hpp"

namespace cvl {

class RegionAllocator {
 public:
  /// `statistics` receives the bytes held. Both must outlive this.
  RegionAllocator(MemorySource& source, HeapStatistics& statistics);
  /// REQUIRES: no block is in use.
  ~RegionAllocator();

  /// A block of at least `bytes` bytes (a multiple of kGranule is used), or null when the source
  /// has no more. `recycled` tells whether the memory had been in use before.
  Buffer* allocate(std::size_t bytes, bool& recycled) noexcept;
  /// The same in a region of its own, at least twice as long, in which nothing else is put as long
  /// as the block is in use. Null also when there is no such region.
  Buffer* allocate_alone(std::size_t bytes, bool& recycled) noexcept;
  void free(Buffer* buffer) noexcept;
  /// Makes a block in use at least `bytes` bytes long where it lies. False when what follows it is
  /// in use, or too short.
  bool extend(Buffer& buffer, std::size_t bytes) noexcept;
  /// Bytes that a block occupies.
  static std::size_t occupied(const Buffer& buffer);
  void trim() noexcept;
  /// Gives the pages of free blocks and of tails back to the source, which lends them again when
  /// they are used.
  void discard_free() noexcept;

 private:
  static constexpr std::size_t kGranule = 512;

  struct Region;
  struct Block : Buffer, boost::intrusive::set_base_hook<> {
    Region* region = nullptr;
    Block* before = nullptr;  // neighbours in the region
    Block* after = nullptr;
    std::size_t bytes = 0;
    bool is_free = false;
    bool held = true;  // false: its pages have been given back
  };
  struct BySizeThenAddress {
    bool operator()(const Block& a, const Block& b) const {
      return a.bytes != b.bytes ? a.bytes < b.bytes : a.data < b.data;
    }
  };
  struct FitsIn {  // compares a size wanted with blocks
    bool operator()(std::size_t bytes, const Block& block) const { return bytes <= block.bytes; }
    bool operator()(const Block& block, std::size_t bytes) const { return block.bytes < bytes; }
  };
  struct Region {
    Region* next = nullptr;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    std::size_t used = 0;     // bytes before the tail
    std::size_t touched = 0;  // the greatest that `used` ever was
    bool of_one = false;      // its block has the rest of it to itself
    Block* last = nullptr;    // the block before the tail
  };
  using FreeBlocks =
      boost::intrusive::multiset<Block, boost::intrusive::compare<BySizeThenAddress>>;

  static std::size_t rounded(std::size_t bytes);
  Block* new_header() noexcept;
  void drop_header(Block* block) noexcept;
  Block* take_fitting(std::size_t bytes) noexcept;
  Block* append(Region& region, std::size_t bytes) noexcept;
  void use_tail(Region& region, std::size_t bytes) noexcept;
  Block* take_tail(std::size_t bytes, bool& recycled) noexcept;
  Region* add_region(std::size_t bytes) noexcept;
  Buffer* give_out(Block* block) noexcept;
  void split(Block& block, std::size_t bytes) noexcept;
  Block* absorb(Block* block, Block* next) noexcept;
  void give_to_tail(Block* block) noexcept;
  void hold(Block& block) noexcept;

  MemorySource& source_;
  HeapStatistics& statistics_;
  Region* regions_ = nullptr;
  FreeBlocks free_;
  Block* spare_ = nullptr;  // headers that are not in use, one `after` the other
};

}  // namespace cvl
