#include "machine/new_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "machine/streams.hpp"

namespace vinterp {
namespace {

/// The file behind symbolic links.
std::string behind_links(const std::string& name) {
  const std::unique_ptr<char, decltype(&std::free)> path(::realpath(name.c_str(), nullptr),
                                                         &std::free);
  return path ? std::string(path.get()) : name;
}

}  // namespace

NewFile::NewFile(NewFile&& other) noexcept
    : name_(std::move(other.name_)), unfinished_(std::exchange(other.unfinished_, {})) {}

NewFile::~NewFile() {
  if (!unfinished_.empty()) ::unlink(unfinished_.c_str());
}

FileDescriptor NewFile::create(const std::string& name) {
  struct stat old {};
  const bool exists = name.find('\0') == std::string::npos && ::stat(name.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) return open_file(name, FileMode::Write);
  if (exists && ::access(name.c_str(), W_OK) != 0) return {};
  const std::string target = behind_links(name);
  std::string unfinished = target + "." + std::to_string(::getpid()) + ".part";
  FileDescriptor fd = open_file(unfinished, FileMode::Write);
  if (!fd) return fd;
  unfinished_ = std::move(unfinished);
  name_ = target;
  if (exists && ::fchmod(fd.get(), old.st_mode & 07777) != 0) return {};
  return fd;
}

int NewFile::complete() {
  if (unfinished_.empty()) return 0;
  if (std::rename(unfinished_.c_str(), name_.c_str()) != 0) return errno;
  unfinished_.clear();
  return 0;
}

}  // namespace vinterp
