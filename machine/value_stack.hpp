// The machine's stack of values, and its stack of calls. Both grow as far as the memory limit lets
// them: what they take is charged to the heap.
//
// A Value holds no pointer into itself, so values are moved within memory as bytes; that is what
// makes stack instructions and growth cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "cvl/heap.hpp"
#include "cvl/value.hpp"

namespace vinterp {

namespace detail {

/// `bytes` of C heap memory at the new size, charged to `heap`. Throws Failure (OutOfMemory).
void* resize_charged(cvl::Heap& heap, void* old, std::size_t old_bytes, std::size_t new_bytes);
void release_charged(cvl::Heap& heap, void* data, std::size_t bytes) noexcept;

/// Moves a value to memory that holds none; its old place holds none afterwards.
inline void relocate_one(cvl::Value* to, const cvl::Value* from) {
  std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), sizeof(cvl::Value));
}

/// The same for `count` values; the places may overlap. A few are moved one by one: the wide loads
/// that memmove makes of what was just stored in smaller pieces would wait for the stores to
/// finish.
inline void relocate(cvl::Value* to, cvl::Value* from, std::size_t count) {
  constexpr std::size_t kFew = 32;
  if (count > kFew) {
    std::memmove(static_cast<void*>(to), static_cast<const void*>(from),
                 count * sizeof(cvl::Value));
  } else if (to < from) {
    for (std::size_t i = 0; i < count; ++i) relocate_one(to + i, from + i);
  } else {
    for (std::size_t i = count; i-- > 0;) relocate_one(to + i, from + i);
  }
}

}  // namespace detail

class ValueStack {
 public:
  explicit ValueStack(cvl::Heap& heap) : heap_(heap) {}
  ~ValueStack() { release(); }
  ValueStack(const ValueStack&) = delete;
  ValueStack& operator=(const ValueStack&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(top_ - begin_); }
  std::span<const cvl::Value> values() const { return {begin_, size()}; }

  /// Are there at least `count` values? Cheaper than size().
  bool holds(std::uint64_t count) const {
    return bytes_between(begin_, top_) >= count * sizeof(cvl::Value);
  }

  /// The topmost `count` values, deepest first. REQUIRES: so many are there.
  cvl::Value* topmost(std::size_t count) { return top_ - count; }

  /// Makes room for `count` more values. Throws Failure (OutOfMemory).
  void reserve(std::size_t count) {
    if (static_cast<std::size_t>(limit_ - top_) < count) [[unlikely]]
      grow(count);
  }

  /// REQUIRES: room was reserved.
  void push(const cvl::Value& value) { new (top_++) cvl::Value(value); }
  void push(cvl::Value&& value) { new (top_++) cvl::Value(std::move(value)); }

  /// Replaces the topmost `count` values by `results`, which are left empty.
  /// REQUIRES: room for them was reserved.
  void replace(std::size_t count, cvl::Value* results, std::size_t result_count) {
    cvl::Value* const bottom = top_ - count;
    for (cvl::Value* dead = bottom; dead != top_; ++dead) dead->~Value();
    for (std::size_t i = 0; i < result_count; ++i) {
      detail::relocate_one(bottom + i, results + i);
      new (results + i) cvl::Value();
    }
    top_ = bottom + result_count;
  }

  void drop(std::size_t count) {
    for (cvl::Value* const bottom = top_ - count; top_ != bottom;) (--top_)->~Value();
  }
  void clear() { drop(size()); }
  /// Gives the memory back, too.
  void release() {
    clear();
    detail::release_charged(heap_, begin_, capacity_bytes());
    begin_ = top_ = limit_ = nullptr;
  }

  // The stack instructions on the block of `count` values above which `start` others lie.
  // REQUIRES: start + count <= size().

  /// REQUIRES: room for `count` values was reserved.
  void copy(std::size_t count, std::size_t start) {
    const cvl::Value* source = top_ - start - count;
    for (std::size_t i = 0; i < count; ++i) push(source[i]);
  }
  void pop(std::size_t count, std::size_t start) {
    cvl::Value* const block = top_ - start - count;
    for (std::size_t i = 0; i < count; ++i) block[i].~Value();
    detail::relocate(block, block + count, start);
    top_ -= count;
  }
  void move_to_top(std::size_t count, std::size_t start) {
    count == 1 ? move_one_to_top(start) : move_many_to_top(count, start);
  }

 private:
  static std::size_t bytes_between(const cvl::Value* from, const cvl::Value* to) {
    return static_cast<std::size_t>(reinterpret_cast<const char*>(to) -
                                    reinterpret_cast<const char*>(from));
  }
  std::size_t capacity_bytes() const { return bytes_between(begin_, limit_); }
  void grow(std::size_t count);
  void move_one_to_top(std::size_t start);
  void move_many_to_top(std::size_t count, std::size_t start);

  cvl::Heap& heap_;
  cvl::Value* begin_ = nullptr;
  cvl::Value* top_ = nullptr;
  cvl::Value* limit_ = nullptr;
};

/// Return places of the calls that are active: four bytes a call.
class CallStack {
 public:
  /// So many nested calls are called many: a recursion that gets that far may have no end.
  static constexpr std::size_t kMany = 10'000;

  CallStack(cvl::Heap& heap, std::size_t max_depth) : heap_(heap), max_depth_(max_depth) {}
  ~CallStack() { detail::release_charged(heap_, places_, capacity_ * sizeof(std::uint32_t)); }
  CallStack(const CallStack&) = delete;
  CallStack& operator=(const CallStack&) = delete;

  std::size_t depth() const { return depth_; }
  std::span<const std::uint32_t> places() const { return {places_, depth_}; }
  /// Throws Failure (CallDepth) at the limit, of the depth or of memory; and, unless another depth
  /// than the default one was asked for, where many calls hold an eighth of the memory in vectors:
  /// a recursion without an end would take all of it.
  void push(std::uint32_t place) {
    if (depth_ == capacity_) [[unlikely]]
      grow();
    places_[depth_++] = place;
  }
  /// REQUIRES: depth() > 0.
  std::uint32_t pop() { return places_[--depth_]; }

 private:
  void grow();

  cvl::Heap& heap_;
  std::size_t max_depth_;
  std::uint32_t* places_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace vinterp
