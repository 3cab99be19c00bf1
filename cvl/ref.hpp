// Intrusive reference counts.
//
// Counts are not atomic: values belong to the thread that runs the program. Kernels that run on
// other threads see plain pointers for the duration of one operation.
#pragma once

#include <cstdint>
#include <utility>

namespace cvl {

/// Base of everything that values share. A T derived from it provides `static void destroy(T*)`,
/// called when the last reference goes.
struct Counted {
  std::uint32_t refs = 0;
};

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) { retain(); }
  Ref(const Ref& other) : object_(other.object_) { retain(); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(const Ref& other) {
    Ref copy(other);
    std::swap(object_, copy.object_);
    return *this;
  }
  Ref& operator=(Ref&& other) noexcept {
    if (this != &other) {
      release();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  ~Ref() { release(); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// True when nobody else holds the object: it may be overwritten.
  bool unique() const { return object_ != nullptr && object_->refs == 1; }
  void reset() {
    release();
    object_ = nullptr;
  }
  /// Gives up ownership without touching the count.
  T* detach() { return std::exchange(object_, nullptr); }

 private:
  void retain() {
    if (object_ != nullptr) ++object_->refs;
  }
  void release() {
    if (object_ != nullptr && --object_->refs == 0) T::destroy(object_);
  }
  T* object_ = nullptr;
};

}  // namespace cvl
