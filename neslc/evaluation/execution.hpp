// Runs linked programs on a backend and records what became of them.
//
// Nothing here knows the NESL text: places are numbers of instructions, so that a run in another
// process (job.hpp) can be told to whoever compiled the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "machine/adaptive.hpp"
#include "machine/io_ops.hpp"
#include "machine/machine.hpp"
#include "machine/profile.hpp"
#include "neslc/evaluation/cost.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace neslc {

struct ExecutionOptions {
  std::uint64_t seed = 1;  // of RAND
  bool cost = false;       // measure it
  bool profile = false;    // count by instruction
  bool sandbox = false;    // no files, no processes
  bool recorded = false;   // what is read and written: the program may run again
  std::size_t max_depth = vinterp::MachineOptions::kDefaultDepth;  // of nested calls
  std::string trace_file;                // gets the Chrome trace; empty: none
  vinterp::Observer* watcher = nullptr;  // sees the run, if it is in this process
  vinterp::KernelUse kernels = vinterp::KernelUse::Always;
  vinterp::WorkLimit limit;  // of a run in this process
};

/// A program and the values of its constants.
struct Executable {
  vcode::LinkedProgram program;
  std::vector<cvl::Value> constants;
};

/// In the place of an instruction: the failure was outside of the program.
inline constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

/// What became of a run.
struct Execution {
  vinterp::RunResult run;
  std::vector<cvl::Value> values;               // Returned
  std::string message;                          // what it wrote to standard error before it EXITed
  std::optional<Cost> cost;                     // if it was measured, of a failed run too
  std::vector<vinterp::Profile::Cost> profile;  // by instruction, if they were counted
};

/// How a program reads and writes in all of its runs. What it has done in one of them is not done
/// again in the next one, which therefore must be recorded (ExecutionOptions::recorded).
struct ProgramStreams {
  ProgramStreams(cvl::Backend& backend, const ExecutionOptions& options);

  std::string messages;  // that WRITE has written in the last run
  vinterp::IoOperations io;
};

/// Throws cvl::Failure if the trace cannot be written.
Execution execute(const Executable& executable, cvl::Backend& backend,
                  const ExecutionOptions& options, ProgramStreams& streams);

/// Runs a program as it was written, up to a limit. Nothing if it has more to do, or lacks memory:
/// optimized it may do with less of both, and `streams` is ready for it. REQUIRES: `streams`
/// records.
std::optional<Execution> execute_if_short(const Executable& executable, cvl::Backend& backend,
                                          const ExecutionOptions& options,
                                          const vinterp::WorkLimit& limit, ProgramStreams& streams);

/// The runs of an optimized program and, where it failed, of the program as it was written. That
/// one decides: it says which operation failed first, what with, and how the program got there; or,
/// where the optimized program only lacked memory, or departed from what had been done, has the
/// values.
struct Executions {
  Execution first;
  std::optional<Execution> as_written;
};

/// Makes the program as it was written, or nothing if it cannot be had.
using AsWritten = std::function<std::optional<Executable>()>;

/// `as_written` is asked only after a failure, and only if `streams` has recorded everything that
/// was done. Empty: `executable` is not optimized. Otherwise a failure leaves `executable` without
/// its constants: the other program gets the same memory that it would have alone.
Executions execute(Executable& executable, const AsWritten& as_written, cvl::Backend& backend,
                   const ExecutionOptions& options, ProgramStreams& streams);

}  // namespace neslc
