#include "cli/option_table.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/core.h>

#include "cli/backends.hpp"
#include "cli/option_values.hpp"

namespace vinterp {
namespace {

using enum ArgumentKind;

constexpr std::string_view kClassic = "Classic options";
constexpr std::string_view kExecution = "Execution";
constexpr std::string_view kLimits = "Limits and safety";
constexpr std::string_view kInspection = "Inspection";
constexpr std::string_view kInformation = "Information";

void accept(Options&, const std::string&) {}

void accept_number(Options&, const std::string& text) {
  const bool digits =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (text.empty() || !digits) throw UsageError("`-m` and `-r` need a number");
}

template <Task task>
void set_task(Options& options, const std::string&) {
  options.task = task;
}

template <bool Options::*flag>
void set_flag(Options& options, const std::string&) {
  options.*flag = true;
}

template <bool Options::*flag>
void clear_flag(Options& options) {
  options.*flag = false;
}

constexpr std::string_view kSwitches = "lex|link|program|command|stack|values|heap|runtime|abort";

void set_debug_switch(Options& options, const std::string& text) {
  parse_choice("-d", text, kSwitches);
  if (text == "program") options.list_program = true;
  if (text == "command") options.show_commands = true;
  if (text == "stack") options.show_stack = true;
  if (text == "values") options.show_values = true;
}

std::uint8_t parse_width(std::string_view option, const std::string& text) {
  return parse_choice(option, text, "32|64") == 0 ? 4 : 8;
}

OptionRow gpu_row(char digit) {
  return {.group = kClassic,
          .letter = digit,
          .text = "use that GPU, -0 to -9 (default: -0)",
          .apply = [](Options& options,
                      const std::string& letter) { options.device = letter[0] - '0'; },
          .hidden = digit != '0'};
}

}  // namespace

std::span<const OptionRow> option_table() {
  static const OptionRow table[] = {
      {.group = kClassic,
       .letter = 'c',
       .text = "refuse elementwise operands of different lengths",
       .apply = set_flag<&Options::strict>},
      {.group = kClassic,
       .letter = 't',
       .text = "report the elapsed time on standard error before the results",
       .apply = set_flag<&Options::report_time>},
      {.group = kClassic,
       .letter = 'd',
       .argument = Required,
       .placeholder = "SWITCH",
       .choices = kSwitches,
       .text = "debugging output: program, command, stack, values; accepted without effect: lex, "
               "link, heap, runtime, abort",
       .apply = set_debug_switch},
      {.group = kClassic,
       .letter = 'm',
       .argument = Required,
       .placeholder = "NUM",
       .text = "accepted, no effect: memory grows as needed, see --memory",
       .apply = accept_number},
      {.group = kClassic, .letter = 'g', .text = "accepted, no effect", .apply = accept},
      {.group = kClassic,
       .letter = 'r',
       .argument = Required,
       .placeholder = "NUM",
       .text = "accepted, no effect",
       .apply = accept_number},
      {.group = kClassic,
       .letter = 'l',
       .argument = Required,
       .placeholder = "FILE",
       .text = "accepted, no effect",
       .apply = accept},
      gpu_row('0'),
      gpu_row('1'),
      gpu_row('2'),
      gpu_row('3'),
      gpu_row('4'),
      gpu_row('5'),
      gpu_row('6'),
      gpu_row('7'),
      gpu_row('8'),
      gpu_row('9'),
      {.group = kExecution,
       .name = "backend",
       .argument = Required,
       .placeholder = "NAME",
       .choices = kBackendChoices,
       .text = "vector library: auto, cpu, cuda (default: auto)",
       .apply =
           [](Options& options, const std::string& text) {
             parse_choice("--backend", text, kBackendChoices);
             options.backend = text;
           }},
      {.group = kExecution,
       .name = "threads",
       .argument = Required,
       .placeholder = "N",
       .text = "CPU threads (default: one per processor)",
       .apply =
           [](Options& options, const std::string& text) {
             constexpr std::uint64_t kMost = 65536;
             options.threads = static_cast<int>(std::min(parse_count("--threads", text, 1), kMost));
           }},
      {.group = kExecution,
       .name = "int",
       .argument = Required,
       .placeholder = "BITS",
       .choices = "32|64",
       .text = "width of INT: 32 or 64 (default: 32)",
       .apply =
           [](Options& options, const std::string& text) {
             options.widths.int_bytes = parse_width("--int", text);
           }},
      {.group = kExecution,
       .name = "float",
       .argument = Required,
       .placeholder = "BITS",
       .choices = "32|64",
       .text = "width of FLOAT: 32 or 64 (default: 64)",
       .apply =
           [](Options& options, const std::string& text) {
             options.widths.float_bytes = parse_width("--float", text);
           }},
      {.group = kExecution,
       .name = "optimize",
       .letter = 'O',
       .argument = Optional,
       .placeholder = "LEVEL",
       .choices = "0|1|2|3",
       .text = "optimize the program before it runs, as fcode-opt does (-O alone: 3; default: 3 "
               "where it "
               "pays)",
       .apply = [](Options& options,
                   const std::string& text) { options.optimize = parse_level(text); }},
      {.group = kExecution,
       .name = "disable-pass",
       .argument = Required,
       .placeholder = "PASS",
       .text = "leave out a pass of the optimizer; may be given several times",
       .apply =
           [](Options& options, const std::string& text) {
             options.disabled_passes.push_back(parse_pass("--disable-pass", text));
           }},
      {.group = kExecution,
       .name = "seed",
       .argument = Required,
       .placeholder = "N",
       .text = "start of the random numbers (default: 1)",
       .apply = [](Options& options,
                   const std::string& text) { options.seed = parse_count("--seed", text, 0); }},
      {.group = kExecution,
       .name = "verify",
       .text = "run the program although the verifier objects to it",
       .apply = set_flag<&Options::verify>,
       .undo = clear_flag<&Options::verify>,
       .on = true},
      {.group = kExecution,
       .name = "kernels",
       .text = "run all kernels of FCODE programs as such; with --no-kernels, the VCODE that they "
               "replace (default: this while vectors are short)",
       .apply = [](Options& options, const std::string&) { options.kernels = KernelUse::Always; },
       .undo = [](Options& options) { options.kernels = KernelUse::Never; }},
      {.group = kExecution,
       .name = "native",
       .text = "evaluate kernels on the CPU step by step, without making machine code of them",
       .apply = set_flag<&Options::native>,
       .undo = clear_flag<&Options::native>,
       .on = true},
      {.group = kLimits,
       .name = "memory",
       .argument = Required,
       .placeholder = "SIZE",
       .text =
           "limit of memory, such as 500M or 16G, beside that of the program itself (default: 80 "
           "% of what is available)",
       .apply = [](Options& options,
                   const std::string& text) { options.memory = parse_size("--memory", text); }},
      {.group = kLimits,
       .name = "max-depth",
       .argument = Required,
       .placeholder = "N",
       .text = "limit of nested calls (default: 1000000)",
       .apply =
           [](Options& options, const std::string& text) {
             options.max_depth = parse_count("--max-depth", text, 0);
           }},
      {.group = kLimits,
       .name = "timeout",
       .argument = Required,
       .placeholder = "SECONDS",
       .text = "end the run after that time (default: none)",
       .apply =
           [](Options& options, const std::string& text) {
             options.time_limit = parse_seconds("--timeout", text);
           }},
      {.group = kLimits,
       .name = "sandbox",
       .text = "refuse to open files and to start processes",
       .apply = set_flag<&Options::sandbox>,
       .undo = clear_flag<&Options::sandbox>},
      {.group = kInspection,
       .name = "check",
       .text = "verify the program and print the stack effect of each function; do not run it",
       .apply = set_task<Task::Check>},
      {.group = kInspection,
       .name = "trace",
       .argument = Optional,
       .placeholder = "FILE",
       .text = "write each instruction as it runs to FILE or standard error",
       .apply = [](Options& options, const std::string& text) { options.trace = text; },
       .undo = [](Options& options) { options.trace.reset(); }},
      {.group = kInspection,
       .name = "trace-lines",
       .argument = Required,
       .placeholder = "N",
       .text = "end the trace after so many lines (default: 1000000)",
       .apply =
           [](Options& options, const std::string& text) {
             options.trace_lines = parse_count("--trace-lines", text, 1);
           }},
      {.group = kInspection,
       .name = "trace-values",
       .argument = Required,
       .placeholder = "N",
       .text = "elements of each operand in the trace (default: 8)",
       .apply =
           [](Options& options, const std::string& text) {
             constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
             options.trace_values =
                 static_cast<std::int64_t>(std::min(parse_count("--trace-values", text, 0), kMost));
           }},
      {.group = kInspection,
       .name = "profile",
       .argument = Optional,
       .placeholder = "FILE",
       .text = "print where time goes to standard error; with FILE also write a Chrome trace",
       .apply = [](Options& options, const std::string& text) { options.profile = text; },
       .undo = [](Options& options) { options.profile.reset(); }},
      {.group = kInspection,
       .name = "profile-rows",
       .argument = Required,
       .placeholder = "FILE",
       .text = "write all rows of the profile to FILE: as JSON if its name ends in .json, else CSV",
       .apply = [](Options& options, const std::string& text) { options.profile_rows = text; }},
      {.group = kInspection,
       .name = "stats",
       .text = "print time and use of memory to standard error after the run",
       .apply = set_flag<&Options::stats>,
       .undo = clear_flag<&Options::stats>},
      {.group = kInspection,
       .name = "compare",
       .argument = Optional,
       .placeholder = "HOW",
       .choices = "report|trace",
       .text = "run on the CPU and on the GPU, check that the results agree and print both times; "
               "trace stops at the first difference (default: report)",
       .apply =
           [](Options& options, const std::string& text) {
             const bool stop =
                 !text.empty() && parse_choice("--compare", text, "report|trace") == 1;
             options.compare = stop ? CompareMode::Stop : CompareMode::Report;
           },
       .undo = [](Options& options) { options.compare = CompareMode::Off; }},
      {.group = kInformation,
       .name = "list-ops",
       .argument = Optional,
       .placeholder = "FORMAT",
       .choices = "text|json",
       .text = "list all operations, as text or json (default: text)",
       .apply =
           [](Options& options, const std::string& text) {
             const bool json = !text.empty() && parse_choice("--list-ops", text, "text|json") == 1;
             options.task = json ? Task::ListOpsJson : Task::ListOps;
           }},
      {.group = kInformation,
       .name = "color",
       .argument = Required,
       .placeholder = "WHEN",
       .choices = "auto|always|never",
       .text = "colours in messages: auto, always, never (default: auto)",
       .apply =
           [](Options& options, const std::string& text) {
             options.color =
                 static_cast<ColorMode>(parse_choice("--color", text, "auto|always|never"));
           }},
      {.group = kInformation,
       .name = "diagnostics",
       .argument = Required,
       .placeholder = "FORMAT",
       .choices = "text|json",
       .text = "messages as text, or as json with one object in each line (default: text)",
       .apply =
           [](Options& options, const std::string& text) {
             options.json_diagnostics = parse_choice("--diagnostics", text, "text|json") == 1;
           }},
      {.group = kInformation,
       .name = "list-devices",
       .text = "list the devices and whether they can be used, and exit",
       .apply = set_task<Task::ListDevices>},
      {.group = kInformation,
       .name = "version",
       .argument = Optional,
       .placeholder = "FORMAT",
       .choices = "text|json",
       .text = "print version and build, as text or json, and exit (default: text)",
       .apply =
           [](Options& options, const std::string& text) {
             const bool json = !text.empty() && parse_choice("--version", text, "text|json") == 1;
             options.task = json ? Task::VersionJson : Task::Version;
           }},
      {.group = kInformation,
       .name = "json",
       .text = "with --version and --list-ops: print json",
       .apply = [](Options& options, const std::string&) { options.json = true; }},
      {.group = kInformation,
       .name = "help",
       .letter = 'h',
       .argument = Optional,
       .placeholder = "FORMAT",
       .choices = "text|man|bash|zsh|fish",
       .text = "print this help, or the manual page or a shell completion, and exit",
       .apply =
           [](Options& options, const std::string& text) {
             constexpr Task kTasks[] = {Task::Help, Task::Manual, Task::BashCompletion,
                                        Task::ZshCompletion, Task::FishCompletion};
             options.task = text.empty()
                                ? Task::Help
                                : kTasks[parse_choice("--help", text, "text|man|bash|zsh|fish")];
           }},
  };
  return table;
}

const OptionRow& option_row(std::string_view name) {
  const std::span<const OptionRow> table = option_table();
  return *std::find_if(table.begin(), table.end(),
                       [&](const OptionRow& row) { return row.name == name; });
}

std::string option_name(const OptionRow& row) {
  return row.name.empty() ? fmt::format("-{}", row.letter) : fmt::format("--{}", row.name);
}

std::string option_usage(const OptionRow& row) {
  std::string text;
  if (row.letter != 0) text = fmt::format("-{}", row.letter);
  if (!row.name.empty()) {
    if (!text.empty()) text += ", ";
    text += fmt::format("--{}{}", row.on ? "no-" : "", row.name);
  }
  switch (row.argument) {
    case Required:
      return text + (row.name.empty() ? " " : "=") + std::string(row.placeholder);
    case Optional:
      return fmt::format("{}[={}]", text, row.placeholder);
    default:
      return text;
  }
}

}  // namespace vinterp
