// Messages between this process and the processes of background evaluations: bytes in the layout of
// this machine and build, in a file without a name that both have open.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "cvl/backend.hpp"
#include "machine/file_descriptor.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {

/// A file in memory that no other process sees unless it is given the descriptor. Throws
/// cvl::Failure.
vinterp::FileDescriptor make_message_file();

/// Appends to a file. Throws cvl::Failure (OutOfMemory) when there is no room for the message.
class MessageWriter {
 public:
  /// `backend` holds the values that are written.
  MessageWriter(int fd, cvl::Backend& backend) : fd_(fd), backend_(backend) {}

  template <class T>
  void put(const T& item) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&item, sizeof item);
  }
  template <class T>
  void put(const std::vector<T>& items) {
    put(items.size());
    if constexpr (std::is_trivially_copyable_v<T>) {
      put_bytes(items.data(), items.size() * sizeof(T));
    } else {
      for (const T& item : items) put(item);
    }
  }
  template <class T>
  void put(const std::optional<T>& item) {
    put(item.has_value());
    if (item) put(*item);
  }
  void put(const std::string& text);
  void put(const cvl::Value& value);
  void put(const vcode::Note& note);
  void put(const vcode::Diagnostic& diagnostic);
  /// Must be called behind the last item.
  void flush();

 private:
  void put_bytes(const void* bytes, std::size_t count);
  void put_vector(const cvl::Vector& vector);
  void align();

  int fd_;
  cvl::Backend& backend_;
  std::vector<std::byte> waiting_;
  std::size_t written_ = 0;  // those waiting included
};

/// The bytes of a file, from its beginning. Throws cvl::Failure (OutOfMemory) if there is no room.
class MappedFile {
 public:
  explicit MappedFile(int fd);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  std::span<const std::byte> bytes() const { return {bytes_, size_}; }

 private:
  const std::byte* bytes_ = nullptr;
  std::size_t size_ = 0;
};

/// Reads the items in the order in which they were written. Throws cvl::Failure: Background if the
/// message ends early, and whatever the backend throws that takes over the values.
class MessageReader {
 public:
  explicit MessageReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Who takes over the values from now on. REQUIRED before the first of them.
  void set_backend(cvl::Backend& backend) { backend_ = &backend; }

  template <class T>
  void get(T& item) {
    static_assert(std::is_trivially_copyable_v<T>);
    get_bytes(&item, sizeof item);
  }
  template <class T>
  void get(std::vector<T>& items) {
    std::size_t count = 0;
    get(count);
    check(count);
    if constexpr (std::is_trivially_copyable_v<T>) {
      check(count * sizeof(T));
      items.resize(count);
      get_bytes(items.data(), count * sizeof(T));
    } else {
      for (std::size_t i = 0; i < count; ++i) get(items.emplace_back());
    }
  }
  template <class T>
  void get(std::optional<T>& item) {
    bool there = false;
    get(there);
    if (there) get(item.emplace());
  }
  void get(std::string& text);
  void get(cvl::Value& value);
  void get(vcode::Note& note);
  void get(vcode::Diagnostic& diagnostic);

 private:
  void check(std::size_t count) const;
  void get_bytes(void* bytes, std::size_t count);
  cvl::Vector get_vector();

  std::span<const std::byte> bytes_;
  cvl::Backend* backend_ = nullptr;
  std::size_t next_ = 0;
};

}  // namespace neslc
