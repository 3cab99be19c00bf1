// Every option of the command, once.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/options.hpp"

namespace vinterp {

enum class ArgumentKind {
  None,
  Required,
  Optional,  // only as --option=ARGUMENT
};

struct OptionRow {
  std::string_view group = {};  // heading in the help
  std::string_view name = {};   // long name, without dashes; empty: none
  char letter = 0;              // 0: none
  ArgumentKind argument = ArgumentKind::None;
  std::string_view placeholder = {};  // name of the argument
  std::string_view choices = {};      // possible arguments, separated by |, if they are few
  std::string_view text = {};         // what it does, default included
  /// Stores the argument: empty if an optional one was left out, the option's own letter or name
  /// if it takes none. Throws UsageError.
  std::function<void(Options& options, const std::string& argument)> apply = {};
  std::function<void(Options& options)> undo = {};  // what --no-NAME does, if that exists
  bool hidden = false;  // works, but is not in help, manual and completions
  bool on = false;      // is the default: help shows --no-NAME
};

/// The options of `vinterp`, in the order of the help; rows of one group lie together.
std::span<const OptionRow> option_table();
/// The row of that name, which other commands share. REQUIRES: there is one.
const OptionRow& option_row(std::string_view name);

/// The option as messages name it: "--seed", or "-m" if there is no long name.
std::string option_name(const OptionRow& row);
/// The option with its argument as the help shows it: "-m NUM", "--trace[=FILE]", "--no-verify".
std::string option_usage(const OptionRow& row);

}  // namespace vinterp
