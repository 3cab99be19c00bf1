#include "bench/gpu-report/command.hpp"

#include <chrono>
#include <cstdio>
#include <sys/wait.h>

namespace gpu_report {

CommandResult run_command(const std::string& command) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "cannot start", 0};
  std::string output;
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    output.append(buffer, count);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output,
          std::chrono::duration<double>(Clock::now() - begin).count()};
}

std::string quoted(const std::filesystem::path& path) {
  std::string result = "'";
  for (const char c : path.string()) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

}  // namespace gpu_report
