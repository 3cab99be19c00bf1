// Files that appear when they are complete.
#pragma once

#include <string>

#include "machine/file_descriptor.hpp"

namespace vinterp {

/// A file that is written beside the one whose name it takes at last, so that nobody takes a part
/// of it for the whole: until then the older file of that name, if there is one, stays. What is no
/// ordinary file, as a device or a pipe, is written itself. Move only.
class NewFile {
 public:
  NewFile() = default;
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&& other) = delete;
  /// Removes what is not complete.
  ~NewFile();

  /// Creates it; on failure the descriptor is empty and errno says why.
  FileDescriptor create(const std::string& name);
  /// Is it written beside the older file?
  bool is_beside() const { return !unfinished_.empty(); }
  /// It is complete, and closed: it takes its name. Returns 0 or the error number.
  int complete();

 private:
  std::string name_;        // that it will have
  std::string unfinished_;  // that it has; empty: none of its own
};

}  // namespace vinterp
