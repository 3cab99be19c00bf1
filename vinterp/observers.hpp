// The observers that the command line asks for, from their making to their reports.
#pragma once

#include <optional>
#include <string>

#include "cvl/backend.hpp"
#include "vcode/program.hpp"
#include "vinterp/chrome_trace.hpp"
#include "vinterp/file_descriptor.hpp"
#include "vinterp/machine.hpp"
#include "vinterp/options.hpp"
#include "vinterp/profile.hpp"
#include "vinterp/statistics.hpp"
#include "vinterp/trace.hpp"

namespace vinterp {

class Observers {
 public:
  /// Opens the files that the options name. Throws cvl::Failure (OutputFailed) if that fails. The
  /// references must outlive this.
  Observers(const Options& options, const vcode::LinkedProgram& program, cvl::Backend& backend);

  void attach(Machine& machine);

  /// Writes reports to standard error and the Chrome trace to its file, after a run of any outcome.
  /// Throws cvl::Failure (OutputFailed).
  void report(double seconds);

 private:
  const vcode::LinkedProgram& program_;
  cvl::Backend& backend_;
  FileDescriptor trace_file_;
  FileDescriptor chrome_file_;
  std::optional<Trace> trace_;
  std::optional<Profile> profile_;
  std::optional<ChromeTrace> chrome_trace_;
  std::optional<Statistics> statistics_;
};

}  // namespace vinterp
