#include <fmt/core.h>

#include "cli/command_line.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kTextColumn = 24;

/// A name and its explanation, which is broken into lines beside it.
std::string entry(std::string_view name, std::string_view text) {
  std::string result = fmt::format("{:{}}{}", "", kIndent, name);
  std::size_t column = result.size();
  if (column + 2 > kTextColumn) {
    result += '\n';
    column = 0;
  }
  result.append(kTextColumn - column, ' ');
  column = kTextColumn;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (column > kTextColumn && column + 1 + end > kColumns) {
      result += '\n' + std::string(kTextColumn, ' ');
      column = kTextColumn;
    }
    if (column > kTextColumn) {
      result += ' ';
      ++column;
    }
    result += text.substr(0, end);
    column += end;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + '\n';
}

std::string section(std::string_view title, std::span<const Explained> rows) {
  if (rows.empty()) return {};
  std::string text = fmt::format("\n{}:\n", title);
  for (const Explained& row : rows) text += entry(row.name, row.text);
  return text;
}

std::string option_groups(std::span<const OptionRow> options) {
  std::string text;
  std::string_view group;
  for (const OptionRow& row : options) {
    if (row.hidden) continue;
    if (row.group != group) text += fmt::format("\n{}:\n", row.group);
    group = row.group;
    text += entry(option_usage(row), row.text);
  }
  return text;
}

}  // namespace

std::string help_text(const CommandLine& line) {
  std::string text = fmt::format("{} - {}\n\n", line.program, line.purpose);
  std::string_view label = "usage:";
  for (const std::string_view usage : line.usage) {
    text += fmt::format("{:6} {} {}\n", label, line.program, usage);
    label = "";
  }
  text += "\nExamples:\n";
  for (const Explained& example : line.examples) {
    text += fmt::format("  {}\n      {}\n", example.name, example.text);
  }
  text += section("Commands", line.commands);
  text += option_groups(line.options);
  text += section("Environment variables", line.environment);
  text += section("Exit status", line.exit_statuses);
  return text + fmt::format("\n{}\n", line.closing);
}

}  // namespace vinterp
