// Files for tests, without a name or in a directory that disappears with them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

#include "machine/byte_buffer.hpp"
#include "machine/file_descriptor.hpp"

namespace vinterp_test {

/// A directory of its own, removed with everything in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "vinterp-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary directory");
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A file without a name that holds `content` and is read from its beginning.
inline vinterp::FileDescriptor file_with(std::string_view content) {
  std::string pattern = (std::filesystem::temp_directory_path() / "vinterp-test-XXXXXX").string();
  vinterp::FileDescriptor fd(::mkstemp(pattern.data()));
  if (!fd) throw std::runtime_error("no temporary file");
  ::unlink(pattern.c_str());
  if (vinterp::write_fully(fd.get(), content) != 0) throw std::runtime_error("cannot write");
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

/// Everything in a file, wherever its position is.
inline std::string content_of(int fd) {
  std::string result;
  char piece[4096];
  for (;;) {
    const ssize_t count = ::pread(fd, piece, sizeof piece, static_cast<off_t>(result.size()));
    if (count <= 0) return result;
    result.append(piece, static_cast<std::size_t>(count));
  }
}

}  // namespace vinterp_test
