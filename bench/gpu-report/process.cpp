#include "bench/gpu-report/process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/core.h>

namespace gpu_report {
namespace {

constexpr int kCannotStart = 127;  // as shells have it

[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::filesystem::path& log) {
  setpgid(0, 0);                     // so that children can be found
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody looks after it when this process is killed
  const int input = open("/dev/null", O_RDONLY);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  _exit(kCannotStart);
}

}  // namespace

std::string text_of(const Ended& ended) {
  switch (ended.how) {
    case Ended::How::Killed:
      return fmt::format("killed by signal {}", ended.number);
    case Ended::How::OutOfTime:
      return fmt::format("stopped after {:.0f} s", ended.seconds);
    default:
      return ended.number == 0 ? "passed" : fmt::format("exit status {}", ended.number);
  }
}

Ended run_process(const std::vector<std::string>& command, double limit,
                  const std::filesystem::path& log) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const pid_t child = fork();
  if (child < 0) return {Ended::How::Exited, kCannotStart, 0};
  if (child == 0) become(command, log);
  setpgid(child, child);  // here too: it may not have begun
  Ended ended;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (seconds() > limit) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      ended.how = Ended::How::OutOfTime;
      ended.seconds = seconds();
      return ended;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(-child, SIGKILL);  // what it may have left behind
  ended.seconds = seconds();
  if (WIFEXITED(status)) {
    ended.number = WEXITSTATUS(status);
  } else {
    ended.how = Ended::How::Killed;
    ended.number = WTERMSIG(status);
  }
  return ended;
}

std::string contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace gpu_report
