// The command line as data.
//
// One table (option_table.hpp) holds every option once; the parser, --help, the manual page and the
// shell completions (command_line.hpp) are derived from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "cvl/random.hpp"
#include "cvl/value.hpp"
#include "machine/trace.hpp"
#include "machine/warm_up.hpp"

namespace vinterp {

/// What the command is asked to do.
enum class Task {
  Run,
  Check,
  ListOps,
  ListOpsJson,
  ListDevices,
  Version,
  VersionJson,
  Help,
  Manual,
  BashCompletion,
  ZshCompletion,
  FishCompletion,
};

/// --compare: run on two libraries. Stop (=trace) ends the run at the first difference.
enum class CompareMode { Off, Report, Stop };

enum class ColorMode { Auto, Always, Never };

struct Options {
  Task task = Task::Run;
  std::string file;

  bool strict = false;         // -c
  bool report_time = false;    // -t
  bool list_program = false;   // -d program
  bool show_commands = false;  // -d command
  bool show_stack = false;     // -d stack
  bool show_values = false;    // -d values

  std::string backend = "auto";
  int device = 0;   // -0 ... -9
  int threads = 0;  // 0: one per processor
  cvl::Widths widths;
  std::optional<std::size_t> memory;  // bytes
  std::uint64_t seed = cvl::kDefaultSeed;
  std::optional<std::size_t> max_depth;
  double time_limit = 0;  // seconds; 0: none

  std::optional<int> optimize;               // -O: level
  std::vector<std::string> disabled_passes;  // of the optimizer
  bool verify = true;
  KernelUse kernels = KernelUse::WhenItPays;
  bool native = true;
  bool sandbox = false;
  bool stats = false;
  CompareMode compare = CompareMode::Off;
  std::optional<std::string> trace;  // FILE; empty: standard error
  std::uint64_t trace_lines = TraceOptions{}.max_lines;
  std::int64_t trace_values = TraceOptions{}.values_per_vector;
  std::optional<std::string> profile;       // FILE of the Chrome trace; empty: the table only
  std::optional<std::string> profile_rows;  // FILE
  bool json = false;                        // information as JSON
  bool json_diagnostics = false;
  ColorMode color = ColorMode::Auto;
};

/// A command line that cannot be understood: one sentence, and what to do.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message, std::string hint = {})
      : std::runtime_error(message), hint_(std::move(hint)) {}
  /// Empty: nothing better than to look at the help.
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

/// Reads the arguments of `vinterp` (without the program's name). Throws UsageError.
Options parse_options(std::span<const std::string> arguments);

/// Colours on standard error? NO_COLOR and FORCE_COLOR count in mode Auto.
bool use_color(ColorMode mode);

}  // namespace vinterp
