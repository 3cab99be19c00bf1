// Elements collected on the host before they become a vector.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "cvl/heap.hpp"

namespace vinterp {

/// A growing array whose memory counts against the limit of the heap, so that input of any length
/// ends in OutOfMemory at the limit that the user has set.
template <class T>
class HostElements {
 public:
  explicit HostElements(cvl::Heap& heap) : heap_(heap) {}
  HostElements(const HostElements&) = delete;
  HostElements& operator=(const HostElements&) = delete;
  ~HostElements() { heap_.discharge(charged_); }

  /// Throws Failure (OutOfMemory).
  void push_back(T element) {
    if (elements_.size() == elements_.capacity()) grow(elements_.size() + 1);
    elements_.push_back(element);
  }
  /// Throws Failure (OutOfMemory).
  void append(std::span<const T> elements) {
    const std::size_t size = elements_.size() + elements.size();
    if (size > elements_.capacity()) grow(size);
    elements_.insert(elements_.end(), elements.begin(), elements.end());
  }
  /// Makes room for so many elements in all. Throws Failure (OutOfMemory).
  void reserve(std::size_t size) {
    if (size > elements_.capacity()) grow_to(size);
  }
  void clear() { elements_.clear(); }
  const T* data() const { return elements_.data(); }
  std::int64_t size() const { return static_cast<std::int64_t>(elements_.size()); }
  const T* begin() const { return elements_.data(); }
  const T* end() const { return elements_.data() + elements_.size(); }

 private:
  void grow(std::size_t least) {
    constexpr std::size_t kFirst = 64;
    grow_to(std::max({kFirst, least, 2 * elements_.capacity()}));
  }
  void grow_to(std::size_t capacity) {
    const std::size_t more = (capacity - elements_.capacity()) * sizeof(T);
    heap_.charge(more);
    charged_ += more;
    elements_.reserve(capacity);
  }

  cvl::Heap& heap_;
  std::vector<T> elements_;
  std::size_t charged_ = 0;
};

}  // namespace vinterp
