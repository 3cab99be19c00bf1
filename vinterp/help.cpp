#include "vinterp/help.hpp"

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "vinterp/backends.hpp"
#include "vinterp/build_info.hpp"
#include "vinterp/option_table.hpp"

namespace vinterp {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kTextColumn = 24;

constexpr Explained kExamples[] = {
    {"vinterp program.vcode", "run a program and print what it leaves on the stack"},
    {"vinterp --profile --threads 4 program.vcode",
     "the same on four threads; see where time goes"},
};

constexpr Explained kEnvironment[] = {
    {"NO_COLOR", "if set and not empty: no colours in messages"},
    {"FORCE_COLOR", "if set and not empty: colours even if standard error is no terminal"},
};

constexpr Explained kStatuses[] = {
    {"0", "success, or EXIT"},
    {"1", "the program text is wrong"},
    {"2", "the command line is wrong, or the file cannot be read"},
    {"3", "the program failed while it ran"},
    {"4", "out of memory, or a limit was reached"},
    {"5", "the environment: vector library, output"},
    {"70", "an internal error; please report it"},
    {"130, 143", "interrupted, terminated"},
};

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
  std::string text = fmt::format("\n{}:\n", title);
  for (const Explained& row : rows) text += entry(row.name, row.text);
  return text;
}

std::string option_groups() {
  std::string text;
  std::string_view group;
  for (const OptionRow& row : option_table()) {
    if (row.hidden) continue;
    if (row.group != group) text += fmt::format("\n{}:\n", row.group);
    group = row.group;
    text += entry(option_usage(row), row.text);
  }
  return text;
}

}  // namespace

std::span<const Explained> examples() {
  return kExamples;
}
std::span<const Explained> environment_variables() {
  return kEnvironment;
}
std::span<const Explained> exit_statuses() {
  return kStatuses;
}

std::string help_text() {
  std::string text = fmt::format("{}\n\nusage: vinterp [option...] file\n\nExamples:\n", kPurpose);
  for (const Explained& example : kExamples) {
    text += fmt::format("  {}\n      {}\n", example.name, example.text);
  }
  text += option_groups();
  text += section("Environment variables", kEnvironment);
  text += section("Exit status", kStatuses);
  return text + "\nThe manual is docs/manual.md, or `man vinterp`. Options may follow the file.\n";
}

std::string version_text() {
  std::string libraries;
  for (const std::string_view name : built_backends()) {
    libraries += fmt::format("{}{}", libraries.empty() ? "" : ", ", name);
  }
  std::string text = fmt::format("vinterp {} (commit {})\nbuild: {}, {}\nvector libraries: {}\n",
                                 kBuildInfo.version, kBuildInfo.commit, kBuildInfo.build_type,
                                 kBuildInfo.compiler, libraries);
  try {
    text += fmt::format("in use: {}\n", make_backend({})->description());
  } catch (const cvl::Failure& failure) {
    text += fmt::format("in use: none ({})\n", failure.message());
  }
  return text;
}

}  // namespace vinterp
