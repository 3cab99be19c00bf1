// The observers that the command line asks for, from their making to their reports.
#pragma once

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "cvl/backend.hpp"
#include "machine/chrome_trace.hpp"
#include "machine/file_descriptor.hpp"
#include "machine/machine.hpp"
#include "machine/profile.hpp"
#include "machine/statistics.hpp"
#include "machine/trace.hpp"
#include "vcode/program.hpp"

namespace vinterp {

class Observers {
 public:
  /// Opens the files that the options name. Throws cvl::Failure (OutputFailed) if that fails. The
  /// references must outlive this.
  Observers(const Options& options, const vcode::LinkedProgram& program, cvl::Backend& backend);

  /// Do the options ask for any?
  static bool wanted(const Options& options);

  void attach(Machine& machine);

  /// Writes reports to standard error and those with files to their files, after a run of any
  /// outcome. Throws cvl::Failure (OutputFailed).
  void report(double seconds);

 private:
  void report_profile(double seconds);

  const vcode::LinkedProgram& program_;
  cvl::Backend& backend_;
  FileDescriptor trace_file_;
  FileDescriptor chrome_file_;
  FileDescriptor rows_file_;
  bool rows_as_json_ = false;
  bool show_profile_;
  std::optional<Trace> trace_;
  std::optional<Profile> profile_;
  std::optional<ChromeTrace> chrome_trace_;
  std::optional<Statistics> statistics_;
};

}  // namespace vinterp
