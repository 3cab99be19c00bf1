// A vector of a few plain elements, which lie in the object itself.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <type_traits>
#include <utility>

namespace ir {

/// Up to `kHere` elements take no allocation, and are copied and moved as plain bytes. With Boost's
/// small_vector in its place, compiling a long program takes a fifth longer.
template <typename T, std::uint32_t kHere>
class Few {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  Few() = default;
  Few(std::initializer_list<T> elements) : Few(elements.begin(), elements.end()) {}
  template <std::forward_iterator Iterator>
  Few(Iterator first, Iterator last) {
    assign(first, last);
  }
  Few(const Few& other) : storage_(other.storage_), size_(other.size_) {
    if (!other.is_here()) assign(other.begin(), other.end());
  }
  Few(Few&& other) noexcept
      : storage_(other.storage_), size_(other.size_), capacity_(other.capacity_) {
    other.forget();
  }
  Few& operator=(const Few& other) {
    if (this != &other) *this = Few(other);
    return *this;
  }
  Few& operator=(Few&& other) noexcept {
    if (this == &other) return *this;
    if (!is_here()) delete[] storage_.there;
    storage_ = other.storage_;
    size_ = other.size_;
    capacity_ = other.capacity_;
    other.forget();
    return *this;
  }
  ~Few() {
    if (!is_here()) delete[] storage_.there;
  }

  T* begin() { return is_here() ? storage_.here : storage_.there; }
  T* end() { return begin() + size_; }
  const T* begin() const { return is_here() ? storage_.here : storage_.there; }
  const T* end() const { return begin() + size_; }
  auto rbegin() { return std::reverse_iterator(end()); }
  auto rend() { return std::reverse_iterator(begin()); }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  T* data() { return begin(); }
  const T* data() const { return begin(); }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return begin()[i]; }
  const T& operator[](std::size_t i) const { return begin()[i]; }
  T& front() { return *begin(); }
  const T& front() const { return *begin(); }
  T& back() { return end()[-1]; }
  const T& back() const { return end()[-1]; }

  void push_back(T element) {
    if (size_ == capacity_) reserve(std::size_t{2} * capacity_);
    begin()[size_++] = element;
  }
  template <typename... Parts>
  void emplace_back(Parts&&... parts) {
    push_back(T{std::forward<Parts>(parts)...});
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void reserve(std::size_t count) {
    if (count <= capacity_) return;
    T* const wider = new T[count];
    std::copy(begin(), end(), wider);
    if (!is_here()) delete[] storage_.there;
    storage_.there = wider;
    capacity_ = static_cast<std::uint32_t>(count);
  }
  void resize(std::size_t count) {
    reserve(count);
    if (count > size_) std::fill(end(), begin() + count, T{});
    size_ = static_cast<std::uint32_t>(count);
  }
  template <std::forward_iterator Iterator>
  void assign(Iterator first, Iterator last) {
    clear();
    reserve(static_cast<std::size_t>(std::distance(first, last)));
    size_ = static_cast<std::uint32_t>(std::copy(first, last, begin()) - begin());
  }
  template <std::forward_iterator Iterator>
  T* insert(const T* before, Iterator first, Iterator last) {
    const auto at = before - begin();
    const auto added = std::distance(first, last);
    if (size_ + added > capacity_) reserve(std::max<std::size_t>(size_ + added, 2 * size_));
    T* const place = begin() + at;
    std::copy_backward(place, end(), end() + added);
    size_ += static_cast<std::uint32_t>(added);
    std::copy(first, last, place);
    return place;
  }
  T* insert(const T* before, T element) { return insert(before, &element, &element + 1); }
  T* erase(T* first, T* last) {
    size_ = static_cast<std::uint32_t>(std::copy(last, end(), first) - begin());
    return first;
  }
  T* erase(T* place) { return erase(place, place + 1); }

  friend bool operator==(const Few& a, const Few& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const Few& a, const Few& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  union Storage {
    T here[kHere] = {};
    T* there;
  };

  bool is_here() const { return capacity_ == kHere; }
  void forget() {
    size_ = 0;
    capacity_ = kHere;
  }

  Storage storage_{};
  std::uint32_t size_ = 0, capacity_ = kHere;  // more than kHere: elements are in `there`
};

}  // namespace ir
