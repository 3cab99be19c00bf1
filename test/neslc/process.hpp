// Runs programs as their users do.
#pragma once

#include <filesystem>
#include <string>

namespace neslc::testing {

struct Output {
  int status = 0;
  std::string out;
  std::string err;
};

/// A folder for the time of a test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// Runs a shell command in a folder; without one, in a folder of its own.
Output run(const std::string& command);
Output run(const std::string& command, const Folder& folder);

/// What a command took in memory at most, as the system has it, in kilobytes; its output is left
/// out.
struct MemoryRun {
  int status = 0;
  std::string err;
  long kilobytes = 0;
};
MemoryRun run_measured(const std::string& command, const Folder& folder);

/// `nesl ARGUMENTS` on one thread of the CPU, as a shell command.
std::string nesl(const std::string& arguments);

}  // namespace neslc::testing
