// Characters that are read before it is known how many there are.
#pragma once

#include <string_view>

#include "cvl/backend.hpp"

namespace vinterp {

/// A growing block of memory of the library, counted against the limit, that a vector can take
/// over.
class CharacterBlock {
 public:
  explicit CharacterBlock(cvl::Backend& backend) : backend_(backend) {}

  std::size_t size() const { return size_; }
  /// Where the next characters go, and how many fit there.
  char* end() { return memory_ ? memory_->as<char>() + size_ : nullptr; }
  std::size_t room() const { return memory_ ? memory_->capacity - size_ : 0; }
  /// So many have been put there. REQUIRES: count <= room()
  void add(std::size_t count) { size_ += count; }
  /// Makes room for so many in all, and for at least one more; growing a bit at a time takes no
  /// longer than in large steps. Throws Failure (OutOfMemory).
  void grow(std::size_t size);
  /// Throws Failure (OutOfMemory).
  void append(std::string_view characters);
  /// The vector of all characters; the block is empty afterwards. Throws Failure (OutOfMemory).
  cvl::Vector take();
  /// The vector of the first `length` elements whose bytes these are. The same otherwise.
  cvl::Vector take(vcode::Type type, std::int64_t length);

 private:
  bool is_full() const;

  cvl::Backend& backend_;
  cvl::Ref<cvl::Buffer> memory_;
  std::size_t size_ = 0;
};

}  // namespace vinterp
