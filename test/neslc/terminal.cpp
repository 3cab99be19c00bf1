#include "terminal.hpp"

#include <csignal>
#include <cstdlib>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>

namespace neslc::testing {
namespace {

constexpr int kSilence = 60'000;  // milliseconds

}  // namespace

Terminal::Terminal(const Folder& folder) {
  pid_ = forkpty(&fd_, nullptr, nullptr, nullptr);
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    if (chdir(folder.path().c_str()) != 0) _exit(127);
    setenv("NESL_HISTORY", "", 1);
    setenv("TERM", "dumb", 1);
    execl(NESL_PROGRAM, "nesl", "--backend", "cpu", "--threads", "1", static_cast<char*>(nullptr));
    _exit(127);
  }
}

Terminal::~Terminal() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(fd_);
}

void Terminal::type(const std::string& text) {
  REQUIRE(write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

bool Terminal::shows(const std::string& text) {
  while (seen_.find(text) == std::string::npos) {
    pollfd ready{fd_, POLLIN, 0};
    char piece[4096];
    if (poll(&ready, 1, kSilence) <= 0) return false;
    const ssize_t count = read(fd_, piece, sizeof piece);
    if (count <= 0) return false;
    seen_.append(piece, static_cast<std::size_t>(count));
  }
  seen_.erase(0, seen_.find(text) + text.size());
  return true;
}

bool Terminal::prompts() {
  if (!shows("nesl> ")) return false;
  for (int waited = 0; waited < kSilence; ++waited) {
    termios mode{};
    if (tcgetattr(fd_, &mode) != 0) return false;
    if ((mode.c_lflag & ICANON) == 0) return true;
    usleep(1000);
  }
  return false;
}

int Terminal::exit_status() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace neslc::testing
