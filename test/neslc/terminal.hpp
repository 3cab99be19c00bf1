// A session at a pseudo-terminal.
#pragma once

#include <string>
#include <sys/types.h>

#include "process.hpp"

namespace neslc::testing {

class Terminal {
 public:
  /// Starts `nesl` in a folder, on one thread of the CPU.
  explicit Terminal(const Folder& folder);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& text);
  /// Reads on until the text has come; false if the session ends or is silent for a long time.
  bool shows(const std::string& text);
  /// As shows("nesl> "), and the editor reads keys: it shows the prompt before it takes over from
  /// the terminal, which would read a Ctrl-D in another way.
  bool prompts();
  int exit_status();

 private:
  int fd_ = -1;
  pid_t pid_ = -1;
  std::string seen_;
};

}  // namespace neslc::testing
