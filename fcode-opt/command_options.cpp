#include "fcode-opt/command_options.hpp"

#include <fmt/core.h>

#include "cli/option_values.hpp"

namespace fcode {
namespace {

using enum vinterp::ArgumentKind;
using vinterp::Explained;
using vinterp::OptionRow;
using vinterp::Options;
using vinterp::Task;

constexpr std::string_view kOptimization = "Optimization";
constexpr std::string_view kOutput = "Output";
constexpr std::string_view kInformation = "Information";
constexpr std::string_view kReports = "fusion|memory|statistics";
constexpr std::string_view kForms = "fcode|cuda|cubin";

constexpr Explained kExamples[] = {
    {"fcode-opt prog.vcode -o prog.fcode", "optimize a program"},
    {"fcode-opt --report=fusion prog.vcode -o prog.fcode", "also see what was fused, and what not"},
    {"fcode-opt --emit=cubin --gpu=90 prog.vcode -o kernels",
     "compile the kernels for GPUs ahead of time"},
    {"fcode-opt --disable=inline prog.vcode | vinterp /dev/stdin", "leave a pass out"},
};

constexpr Explained kEnvironment[] = {vinterp::kNoColor, vinterp::kForceColor};

constexpr Explained kStatuses[] = {
    {"0", "success"},
    {"1", "the program text is wrong"},
    {"2", "the command line is wrong, or the file cannot be read"},
    {"4", "out of memory"},
    {"5", "the result could not be written"},
    {"70", "an internal error; please report it"},
};

std::vector<OptionRow> optimization_rows(CommandOptions& options) {
  return {
      {.group = kOptimization,
       .name = "optimize",
       .letter = 'O',
       .argument = Optional,
       .placeholder = "LEVEL",
       .choices = "0|1|2|3",
       .text = "0: nothing, 1: remove and merge, 2: also inline, 3: also make kernels (default: 3)",
       .apply =
           [&options](Options&, const std::string& text) {
             options.optimizer.level = vinterp::parse_level(text);
           }},
      {.group = kOptimization,
       .name = "disable",
       .argument = Required,
       .placeholder = "PASS",
       .text = "leave out a pass; may be given several times",
       .apply =
           [&options](Options&, const std::string& text) {
             options.optimizer.disabled.push_back(vinterp::parse_pass("--disable", text));
           }},
      {.group = kOptimization,
       .name = "list-passes",
       .text = "list the passes with the level from which they run, and exit",
       .apply = [&options](Options&, const std::string&) { options.list_passes = true; }},
  };
}

std::vector<OptionRow> output_rows(CommandOptions& options) {
  return {
      {.group = kOutput,
       .name = "output",
       .letter = 'o',
       .argument = Required,
       .placeholder = "FILE",
       .text = "where the result goes; - is standard output (default: -)",
       .apply = [&options](Options&, const std::string& text) { options.output = text; }},
      {.group = kOutput,
       .name = "expand",
       .text = "do not optimize, but replace every kernel by the VCODE that it stands for",
       .apply = [&options](Options&, const std::string&) { options.expand = true; }},
      {.group = kOutput,
       .name = "emit",
       .argument = Required,
       .placeholder = "FORM",
       .choices = kForms,
       .text =
           "what to write: fcode (the default), cuda (the kernels as CUDA C++, to be read), cubin "
           "(their machine code, into the folder of --output; vinterp finds it through "
           "NESL_KERNELS)",
       .apply =
           [&options](Options&, const std::string& text) {
             options.emit =
                 static_cast<CommandOptions::Emit>(vinterp::parse_choice("--emit", text, kForms));
           }},
      {.group = kOutput,
       .name = "gpu",
       .argument = Required,
       .placeholder = "NUMBER",
       .text = "the compute capability that --emit=cubin compiles for, without its point "
               "(default: 90)",
       .apply =
           [&options](Options&, const std::string& text) {
             options.capability = vinterp::parse_capability("--gpu", text);
           }},
      {.group = kOutput,
       .name = "dump",
       .argument = Required,
       .placeholder = "PASS",
       .text = "write the intermediate form behind the last run of a pass instead of the program",
       .apply =
           [&options](Options&, const std::string& text) {
             options.optimizer.dump = vinterp::parse_pass("--dump", text);
           }},
      {.group = kOutput,
       .name = "report",
       .argument = Required,
       .placeholder = "WHAT",
       .choices = kReports,
       .text = "report on standard error: fusion (what became kernels, what did not and why), "
               "memory (what is held at once, what is written over what), "
               "statistics (sizes before and after)",
       .apply =
           [&options](Options&, const std::string& text) {
             bool* const reports[] = {&options.report_fusion, &options.optimizer.memory,
                                      &options.report_statistics};
             *reports[vinterp::parse_choice("--report", text, kReports)] = true;
           }},
  };
}

std::vector<OptionRow> information_rows() {
  const OptionRow version = {
      .group = kInformation,
      .name = "version",
      .text = "print version and build, and exit",
      .apply = [](Options& common, const std::string&) { common.task = Task::Version; }};
  return {vinterp::option_row("color"), version, vinterp::option_row("help")};
}

}  // namespace

CommandTable::CommandTable(CommandOptions& options) {
  for (const auto& rows : {optimization_rows(options), output_rows(options), information_rows()}) {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
  }
  line_.program = "fcode-opt";
  line_.purpose = "optimize VCODE, the stack code of NESL";
  static constexpr std::string_view kUsage = "[option...] file";
  line_.usage = {kUsage};
  line_.description =
      "Reads a VCODE program and writes one with the same results that does less: functions are "
      "inlined, common and dead operations removed, and vector operations fused into kernels. The "
      "file - is standard input. Messages go to standard error. Options may follow the file, short "
      "ones may be combined.";
  line_.examples = kExamples;
  line_.options = rows_;
  line_.environment = kEnvironment;
  line_.exit_statuses = kStatuses;
  line_.closing =
      "The manual is docs/user-guide.md, or `man fcode-opt`. Options may follow the file.";
}

CommandOptions parse_command(std::span<const std::string> arguments) {
  CommandOptions options;
  const CommandTable table(options);
  const std::vector<std::string> files =
      vinterp::parse_arguments(table.line().options, arguments, options.common);
  if (options.list_passes || options.common.task != Task::Run) return options;
  if (files.empty()) throw vinterp::UsageError("a program file is needed");
  if (files.size() > 1) {
    throw vinterp::UsageError(fmt::format("one program file is needed, not {}", files.size()));
  }
  options.file = files[0];
  return options;
}

}  // namespace fcode
