#include "cli/options.hpp"

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "cli/command_line.hpp"
#include "cli/help.hpp"
#include "cli/option_table.hpp"

namespace {

using vinterp::Options;
using vinterp::Task;
using vinterp::UsageError;

Options parsed(std::initializer_list<std::string> arguments) {
  return vinterp::parse_options(std::vector<std::string>(arguments));
}

std::string refusal(std::initializer_list<std::string> arguments) {
  try {
    parsed(arguments);
  } catch (const UsageError& error) {
    return std::string(error.what()) + " | " + error.hint();
  }
  return "accepted";
}

TEST_CASE("classic options as getopt takes them", "[options]") {
  const Options options = parsed({"-ct", "-m5000", "-m", "7", "-d", "stack", "-dvalues", "-g", "-r",
                                  "3", "-l", "x.so", "-4", "file"});
  CHECK(options.strict);
  CHECK(options.report_time);
  CHECK(options.show_stack);
  CHECK(options.show_values);
  CHECK_FALSE(options.show_commands);
  CHECK(options.device == 4);
  CHECK(options.file == "file");
  CHECK(parsed({"-m99999999999999999999999", "file"}).file == "file");
  for (const char* name : {"lex", "link", "program", "command", "heap", "runtime", "abort"}) {
    CHECK(parsed({"-d", name, "file"}).file == "file");
  }
}

TEST_CASE("options may follow the file, -- ends them, - is a file", "[options]") {
  CHECK(parsed({"file", "-c"}).strict);
  CHECK(parsed({"-c", "--", "-t"}).file == "-t");
  CHECK(parsed({"-"}).file == "-");
}

TEST_CASE("an option is not mistaken for another that its name begins with", "[options]") {
  const Options options =
      parsed({"--trace-lines=5", "--profile-rows=r.csv", "--no-kernels", "file"});
  CHECK(options.trace_lines == 5);
  CHECK_FALSE(options.trace);
  CHECK(options.profile_rows == "r.csv");
  CHECK_FALSE(options.profile);
  CHECK(options.kernels == vinterp::KernelUse::Never);
  CHECK(options.verify);
}

TEST_CASE("long options", "[options]") {
  const Options options =
      parsed({"--threads=3", "--int", "64", "--float=32", "--memory", "16G", "--seed=9",
              "--max-depth=10", "--timeout=1.5", "--no-verify", "--sandbox", "--stats", "--trace",
              "--profile=p.json", "--color=never", "--backend", "cpu", "file"});
  CHECK(options.threads == 3);
  CHECK(options.widths == cvl::Widths{8, 4});
  CHECK(options.memory == std::size_t{16} << 30);
  CHECK(options.seed == 9);
  CHECK(options.max_depth == 10);
  CHECK(options.time_limit == 1.5);
  CHECK_FALSE(options.verify);
  CHECK(options.sandbox);
  CHECK(options.stats);
  CHECK(options.trace == "");
  CHECK(options.profile == "p.json");
  CHECK(options.file == "file");
  CHECK(parsed({"--no-verify", "--verify", "file"}).verify);
  CHECK(parsed({"file"}).native);
  CHECK_FALSE(parsed({"--no-native", "file"}).native);
  CHECK_FALSE(parsed({"--sandbox", "--no-sandbox", "file"}).sandbox);
  CHECK_FALSE(parsed({"--trace=x", "--no-trace", "file"}).trace);
  CHECK(parsed({"--trace", "file"}).trace == "");
  CHECK(parsed({"file"}).trace_lines == 1'000'000);
  CHECK(parsed({"--trace-lines=5", "file"}).trace_lines == 5);
  CHECK(parsed({"file"}).trace_values == 8);
  CHECK(parsed({"--trace-values=0", "file"}).trace_values == 0);
  CHECK(parsed({"--profile-rows", "p.csv", "file"}).profile_rows == "p.csv");
  CHECK(parsed({"--trace", "file"}).file == "file");
}

TEST_CASE("tasks", "[options]") {
  CHECK(parsed({"--check", "file"}).task == Task::Check);
  CHECK(parsed({"--list-ops"}).task == Task::ListOps);
  CHECK(parsed({"--list-ops=json"}).task == Task::ListOpsJson);
  CHECK(parsed({"--version"}).task == Task::Version);
  CHECK(parsed({"--help"}).task == Task::Help);
  CHECK(parsed({"-h"}).task == Task::Help);
  CHECK(parsed({"--help=man"}).task == Task::Manual);
}

TEST_CASE("command lines that cannot be understood", "[options]") {
  const std::string help = " | ";  // the hint is the help
  CHECK(refusal({}) == "a program file is needed" + help);
  CHECK(refusal({"a", "b"}) == "one program file is needed, not 2" + help);
  CHECK(refusal({"--sed=1", "a"}) == "unknown option `--sed` | did you mean `--seed`?");
  CHECK(refusal({"-z", "a"}) == "unknown option `-z`" + help);
  CHECK(refusal({"--profile-row=x", "a"}) ==
        "unknown option `--profile-row` | did you mean `--profile-rows`?");
  CHECK(refusal({"--no-kernel", "a"}) ==
        "unknown option `--no-kernel` | did you mean "
        "`--no-kernels`?");
  CHECK(refusal({"--no-kernels=1", "a"}) == "option `--no-kernels` takes no argument" + help);
  CHECK(refusal({"--trace=", "a"}) == "option `--trace` needs an argument" + help);
  CHECK(refusal({"-d", "stacks", "a"}) ==
        "`-d` takes one of lex, link, program, command, stack, values, heap, runtime, abort, not "
        "`stacks` | did you mean `stack`?");
  CHECK(refusal({"a", "-m"}) == "option `-m` needs an argument" + help);
  CHECK(refusal({"-m", "x", "a"}) == "`-m` and `-r` need a number" + help);
  CHECK(refusal({"--stats=1", "a"}) == "option `--stats` takes no argument" + help);
  CHECK(refusal({"a", "--seed"}) == "option `--seed` needs an argument" + help);
  CHECK(refusal({"--int=16", "a"}) == "`--int` takes one of 32, 64, not `16`" + help);
  CHECK(refusal({"--threads=0", "a"}) ==
        "`--threads` needs a whole number from 1 on, not `0`" + help);
  for (const char* size : {"", "0", "G", "5X", "5GB", "-1", "99999999999999T", "1.5G"}) {
    INFO(size);
    CHECK(refusal({std::string("--memory=") + size, "a"}) != "accepted");
  }
  for (const char* time : {"0", "-1", "x", "nan", "inf", "1s"}) {
    INFO(time);
    CHECK(refusal({std::string("--timeout=") + time, "a"}) != "accepted");
  }
}

TEST_CASE("the option table is consistent", "[options]") {
  std::set<std::string> names;
  std::set<char> letters;
  for (const vinterp::OptionRow& row : vinterp::option_table()) {
    INFO(vinterp::option_name(row));
    CHECK((row.letter != 0 || !row.name.empty()));
    if (!row.name.empty()) CHECK(names.insert(std::string(row.name)).second);
    if (row.letter != 0) CHECK(letters.insert(row.letter).second);
    CHECK(row.apply);
    CHECK((row.argument == vinterp::ArgumentKind::None) == row.placeholder.empty());
    CHECK_FALSE(row.text.empty());
    CHECK(row.text.find('\'') == std::string_view::npos);  // completions quote with it
  }
}

TEST_CASE("help, manual and completions name every option", "[options]") {
  const vinterp::CommandLine& line = vinterp::command_line();
  const std::string texts[] = {vinterp::help_text(line), vinterp::manual_page(line),
                               vinterp::bash_completion(line), vinterp::zsh_completion(line),
                               vinterp::fish_completion(line)};
  for (const vinterp::OptionRow& row : vinterp::option_table()) {
    if (row.hidden || row.name.empty()) continue;
    for (std::string text : texts) {
      std::erase(text, '\\');  // the manual page escapes dashes
      INFO(row.name);
      CHECK(text.find(row.name) != std::string::npos);
    }
  }
}

TEST_CASE("the help fits 80 columns", "[options]") {
  std::size_t width = 0;
  for (const char c : vinterp::help_text(vinterp::command_line())) {
    width = c == '\n' ? 0 : width + 1;
    CHECK(width <= 80);
  }
}

}  // namespace
