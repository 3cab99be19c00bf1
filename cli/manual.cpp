#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "cli/build_info.hpp"
#include "cli/command_line.hpp"

namespace vinterp {
namespace {

/// Text in which troff sees no commands.
std::string quoted(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '-' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string item(std::string_view name, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", quoted(name), quoted(text));
}

std::string manual_section(std::string_view title, std::span<const Explained> rows) {
  if (rows.empty()) return {};
  std::string text = fmt::format(".SH {}\n", title);
  for (const Explained& row : rows) text += item(row.name, row.text);
  return text;
}

std::string capitals(std::string_view word) {
  std::string result(word);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

}  // namespace

std::string manual_page(const CommandLine& line) {
  std::string text =
      fmt::format(".TH {} 1 \"\" \"version {}\"\n", capitals(line.program), kBuildInfo.version);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", line.program, quoted(line.purpose));
  for (const std::string_view usage : line.usage) {
    text += fmt::format(".B {}\n{}\n.br\n", line.program, quoted(usage));
  }
  text += fmt::format(".SH DESCRIPTION\n{}\n", quoted(line.description));
  text += manual_section("COMMANDS", line.commands);
  std::string_view group;
  text += ".SH OPTIONS\n";
  for (const OptionRow& row : line.options) {
    if (row.hidden) continue;
    if (row.group != group) text += fmt::format(".SS {}\n", row.group);
    group = row.group;
    text += item(option_usage(row), row.text);
  }
  text += manual_section("ENVIRONMENT", line.environment);
  text += manual_section("EXIT STATUS", line.exit_statuses);
  text += manual_section("EXAMPLES", line.examples);
  return text;
}

}  // namespace vinterp
