// Modules: files that others import, each read once in a session.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "neslc/front/ast.hpp"

namespace neslc {

/// The folder of the file that a source has its text from; empty, the current one, if it is no
/// file.
std::string folder_of(const std::string& source);
/// The file that `import "name"` means in a file of this folder. The ending `.nesl` may be left
/// out.
std::string module_file(const std::string& folder, const std::string& name);

/// Is it the form `import "name"`?
bool is_import(const ast::Form& form);
/// The same text as a call of the function `import`. REQUIRES: is_import(form).
std::shared_ptr<const ast::Form> call_of_import(const ast::Form& form);

/// The modules that a session has read, and those that it is reading. Files are the same if their
/// paths lead to one place.
class Modules {
 public:
  /// While it lives, the file is being read.
  class Reading {
   public:
    Reading(Modules& modules, const std::string& file);
    ~Reading() { modules_.reading_.pop_back(); }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

   private:
    Modules& modules_;
  };

  bool has(const std::string& file) const;
  void add(const std::string& file);
  /// Throws CommandError if the file is being read, with the files that lead from it to itself.
  void refuse_cycle(const std::string& file) const;

 private:
  std::set<std::string> read_;
  std::vector<std::string> reading_;
};

}  // namespace neslc
