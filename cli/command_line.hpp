// A program's command line as data, and what is derived from it: the parser, --help, the manual
// page and the shell completions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/option_table.hpp"
#include "cli/options.hpp"

namespace vinterp {

/// A name and what it means.
struct Explained {
  std::string_view name;
  std::string_view text;
};

/// Environment variables that all commands know.
inline constexpr Explained kNoColor{"NO_COLOR", "if set and not empty: no colours in messages"};
inline constexpr Explained kForceColor{
    "FORCE_COLOR", "if set and not empty: colours even if standard error is no terminal"};

struct CommandLine {
  std::string_view program;
  std::string_view purpose;             // one line
  std::vector<std::string_view> usage;  // one line each, without the program's name
  std::string_view description;         // for the manual page
  std::span<const Explained> commands;  // the first word, for programs that have such; else empty
  std::span<const Explained> examples;
  std::span<const OptionRow> options;  // rows of one group lie together
  std::span<const Explained> environment;
  std::span<const Explained> exit_statuses;
  std::string_view closing;  // the last line of the help
};

/// Applies the options among the arguments (which are without the program's name) and returns the
/// other words. Short options may be combined and have their argument attached, options may follow
/// the words, `--` ends them. Throws UsageError.
std::vector<std::string> parse_arguments(std::span<const OptionRow> table,
                                         std::span<const std::string> arguments, Options& options);

/// Fits 80 columns.
std::string help_text(const CommandLine& line);
/// A page for `man`, section 1.
std::string manual_page(const CommandLine& line);
std::string bash_completion(const CommandLine& line);
std::string zsh_completion(const CommandLine& line);
std::string fish_completion(const CommandLine& line);

}  // namespace vinterp
