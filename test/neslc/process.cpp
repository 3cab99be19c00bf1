#include "process.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {

namespace fs = std::filesystem;

Folder::Folder() {
  static int made = 0;
  path_ = fs::temp_directory_path() /
          ("nesl_test_" + std::to_string(getpid()) + "_" + std::to_string(made++));
  fs::create_directories(path_);
}

Folder::~Folder() {
  std::error_code ignored;  // a process in the background may still write there
  fs::remove_all(path_, ignored);
}

fs::path Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return path_ / name;
}

Output run(const std::string& command) {
  const Folder folder;
  return run(command, folder);
}

Output run(const std::string& command, const Folder& folder) {
  const std::string line =
      "cd '" + folder.path().string() + "' && { " + command + "\n} 2> standard_error";
  Output result;
  std::FILE* const pipe = popen(line.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  for (std::size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    result.out.append(buffer.data(), count);
  }
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.err = read_file(folder.path() / "standard_error");
  return result;
}

MemoryRun run_measured(const std::string& command, const Folder& folder) {
  const std::string line =
      "cd '" + folder.path().string() + "' && exec " + command + " > /dev/null 2> standard_error";
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  REQUIRE(wait4(child, &status, 0, &usage) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder.path() / "standard_error"),
          usage.ru_maxrss};
}

std::string nesl(const std::string& arguments) {
  return std::string("'") + NESL_PROGRAM + "' " + arguments + " --backend cpu --threads 1";
}

}  // namespace neslc::testing
