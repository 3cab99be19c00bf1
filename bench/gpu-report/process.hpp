// Programs run as processes of their own, each with a limit of time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gpu_report {

struct Ended {
  enum class How { Exited, Killed, OutOfTime };
  How how = How::Exited;
  int number = 0;  // the exit status, or the signal
  double seconds = 0;

  bool good() const { return how == How::Exited && number == 0; }
};

/// "passed", "exit status 3", "killed by signal 11", "stopped after 20 s".
std::string text_of(const Ended& ended);

/// Runs a program, named by its path, without input; what it and its children write goes to the
/// file `log`. When `limit` seconds are over, it and its children are killed.
Ended run_process(const std::vector<std::string>& command, double limit,
                  const std::filesystem::path& log);

std::string contents(const std::filesystem::path& file);
/// Throws std::runtime_error when the file cannot be written.
void write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace gpu_report
