// An evaluation in a process of its own: what it is given, what it gives back, and its process.
//
// The process is a new instance of this program, not a copy of the running one: a copy would
// inherit the threads' locks without the threads, and a device cannot be used in it at all. It is
// given compiled programs with the values of their constants, and needs neither the session nor the
// source text; places in its result are numbers of instructions, which are the same in both
// processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "cli/options.hpp"
#include "machine/file_descriptor.hpp"
#include "neslc/evaluation/execution.hpp"

namespace neslc {

/// The name that makes this program carry out the job that it was given (run_job()).
inline constexpr std::string_view kJobProgram = "nesl-job";

/// A program as text, which no value is in that the run is given.
struct JobProgram {
  std::string text;
  /// Of each CONST, in the order of the linked program, its number among JobRequest::values.
  std::vector<std::uint32_t> constants;
};

struct JobRequest {
  vinterp::Options machine;  // where to run, with which limits of memory and time
  ExecutionOptions options;
  std::vector<cvl::Value> values;
  std::vector<JobProgram> programs;  // what runs, and how it was written if that is optimized
};

/// The process of a job. It ends with this object, and when this process ends in whatever way.
class Job {
 public:
  /// Starts the process. `backend` holds the values. Throws cvl::Failure.
  Job(const JobRequest& request, cvl::Backend& backend);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  /// Has it ended? Does not wait.
  bool has_ended();
  /// Waits for its end, or until this process is asked to end what it does (machine/interrupt.hpp):
  /// then false.
  bool wait();
  /// What became of it; its values are taken over by `backend`. Throws cvl::Failure if there is
  /// nothing because the process was killed or did not get far enough. REQUIRES: it has ended.
  Executions result(cvl::Backend& backend);

 private:
  bool ends_within(int milliseconds);

  pid_t process_ = -1;  // the leader of a group of its own; -1: collected
  int status_ = 0;      // then its status
  vinterp::FileDescriptor answer_;
  vinterp::FileDescriptor life_;  // at its end as soon as the process has ended
};

/// Carries out the job that this process was started for by `session`, which is its only argument;
/// the exit status. Throws cvl::Failure if it was not started so.
int run_job(pid_t session);

}  // namespace neslc
