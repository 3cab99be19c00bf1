// Processes started by a program (SPAWN).
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "machine/file_descriptor.hpp"

namespace vinterp {

/// The two ends of a new pipe, closed in spawned processes.
struct PipeEnds {
  FileDescriptor read;
  FileDescriptor write;
};

/// Makes a pipe; returns 0 or the error number.
int make_pipe(PipeEnds& pipe);

/// Words of a command, split at blanks; there is no quoting.
std::vector<std::string> split_command(const std::string& command);

/// What a process gets as standard input, output and error; not owned.
struct ChildStreams {
  int in;
  int out;
  int err;
};

/// Starts processes without waiting for them and collects those that have ended. Not thread safe.
class ChildProcesses {
 public:
  ChildProcesses() = default;
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;
  /// Collects what has ended; processes that still run go on.
  ~ChildProcesses() { collect(); }

  /// Starts words[0], searched in PATH, with the other words as arguments. It inherits no other
  /// descriptors than the three, and SIGPIPE has its usual effect in it. A program that cannot be
  /// executed is not a failure: as a shell would, this then writes a message to streams.err.
  /// Returns 0, or the error number if no process can be started. REQUIRES: words is not empty.
  int start(const std::vector<std::string>& words, const ChildStreams& streams);

  /// Collects the processes that have ended.
  void collect();
  std::size_t running() const { return children_.size(); }

 private:
  std::vector<pid_t> children_;
};

}  // namespace vinterp
