#include "vinterp/manual.hpp"

#include <string_view>

#include <fmt/core.h>

#include "vinterp/build_info.hpp"
#include "vinterp/help.hpp"
#include "vinterp/option_table.hpp"

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

std::string section(std::string_view title, std::span<const Explained> rows) {
  std::string text = fmt::format(".SH {}\n", title);
  for (const Explained& row : rows) text += item(row.name, row.text);
  return text;
}

}  // namespace

std::string manual_page() {
  std::string text = fmt::format(".TH VINTERP 1 \"\" \"version {}\"\n", kBuildInfo.version);
  text += fmt::format(".SH NAME\n{}\n", quoted(kPurpose));
  text += ".SH SYNOPSIS\n.B vinterp\n[\\fIoption\\fR...] \\fIfile\\fR\n";
  text +=
      ".SH DESCRIPTION\nReads a VCODE program, checks it and runs it. Whatever is on the stack "
      "when "
      "its first function (or MAIN) returns is printed to standard output, one line for each "
      "value, "
      "bottom first. Messages go to standard error. Options may follow the file, short ones may be "
      "combined.\n";
  std::string_view group;
  text += ".SH OPTIONS\n";
  for (const OptionRow& row : option_table()) {
    if (row.hidden) continue;
    if (row.group != group) text += fmt::format(".SS {}\n", row.group);
    group = row.group;
    text += item(option_usage(row), row.text);
  }
  text += section("ENVIRONMENT", environment_variables());
  text += section("EXIT STATUS", exit_statuses());
  text += section("EXAMPLES", examples());
  return text;
}

}  // namespace vinterp
