// Commands of the shell.
#pragma once

#include <filesystem>
#include <string>

namespace gpu_report {

struct CommandResult {
  int status;          // -1 when it did not end by itself
  std::string output;  // standard output and standard error together
  double seconds;
};

CommandResult run_command(const std::string& command);

/// The path as one word of a command.
std::string quoted(const std::filesystem::path& path);

}  // namespace gpu_report
