#include "cli/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include <fmt/core.h>

#include "cli/command_line.hpp"

namespace vinterp {
namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Applies the options and returns the other words. Most command lines are the name of a file: they
/// do without the table, which takes as long to make as the rest of a small program's start.
std::vector<std::string> files_of(std::span<const std::string> arguments, Options& options) {
  const bool plain = std::none_of(arguments.begin(), arguments.end(),
                                  [](const std::string& word) { return word.starts_with('-'); });
  if (plain) return {arguments.begin(), arguments.end()};
  return parse_arguments(option_table(), arguments, options);
}

}  // namespace

Options parse_options(std::span<const std::string> arguments) {
  Options options;
  const std::vector<std::string> files = files_of(arguments, options);
  if (options.json && options.task == Task::Version) options.task = Task::VersionJson;
  if (options.json && options.task == Task::ListOps) options.task = Task::ListOpsJson;
  if (options.task == Task::Run || options.task == Task::Check) {
    if (files.empty()) throw UsageError("a program file is needed");
    if (files.size() > 1) {
      throw UsageError(fmt::format("one program file is needed, not {}", files.size()));
    }
    options.file = files[0];
  }
  return options;
}

bool use_color(ColorMode mode) {
  if (mode != ColorMode::Auto) return mode == ColorMode::Always;
  if (is_set("NO_COLOR")) return false;
  return is_set("FORCE_COLOR") || isatty(STDERR_FILENO) != 0;
}

}  // namespace vinterp
