#include "neslc/command/nesl_options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "cli/option_values.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/keywords.hpp"

namespace neslc {
namespace {

using vinterp::ArgumentKind;
using vinterp::Explained;
using vinterp::OptionRow;
using vinterp::UsageError;

constexpr std::string_view kForms = "Forms";
constexpr std::string_view kBench = "Growth (bench)";

/// As many as may be in one vector of the narrower INT.
std::int64_t parse_piece_length(const std::string& text) {
  constexpr std::uint64_t kMost = 1 << 30;
  const std::uint64_t length = vinterp::parse_count("--chunk", text, 1);
  if (length > kMost) throw UsageError(fmt::format("--chunk is at most {}, not {}", kMost, text));
  return static_cast<std::int64_t>(length);
}

constexpr Explained kProgramCommands[] = {
    {"repl", "read forms and commands from the terminal; the default"},
    {"run", "evaluate the forms of a file and print their values"},
    {"test", "compare the values with the lines of FILE.expected"},
    {"check", "find static errors, run nothing"},
    {"bench", "measure an expression in n for growing n: time, work, depth, speed-up"},
    {"explain", "tell what an error code like E0102 means: example, message and repair"},
    {"compile", "write an expression as VCODE, or optimized as FCODE; also as neslc"},
    {"graph", "draw the vector operations of an expression with their values, an SVG"},
    {"lsp", "a language server for editors, on standard input and output; runs nothing"},
};

constexpr Explained kExamples[] = {
    {"nesl run sort.nesl", "evaluate all forms, print their values"},
    {"nesl run sort.nesl 'qsort([3, 1, 2])' --cost", "one value, and its work and depth"},
    {"nesl bench sort.nesl 'qsort({rand(i) : i in dist(n, n)})' --n=1e3..1e6",
     "how the time, work and depth of a sort grow"},
};

constexpr Explained kEnvironment[] = {
    vinterp::kNoColor,
    vinterp::kForceColor,
    {"NESL_HISTORY",
     "file of the history of the prompt; empty: none "
     "(default: ~/.local/state/nesl/history)"},
    {"VISUAL, EDITOR", "the editor of the command edit"},
};

constexpr Explained kStatuses[] = {
    {"0", "success"},
    {"1", "the program is wrong: syntax, types, names"},
    {"2", "the command line is wrong, or a file cannot be read"},
    {"3", "the program failed while it ran; test: a value is not as expected"},
    {"4", "out of memory, or a limit was reached"},
    {"5", "the environment: vector library, output"},
    {"70", "an internal error; please report it"},
    {"130, 143", "interrupted, terminated"},
};

/// Those of vinterp that mean the same here.
constexpr std::string_view kShared[] = {"backend",  "int",          "float",        "seed",
                                        "optimize", "disable-pass", "memory",       "timeout",
                                        "sandbox",  "max-depth",    "color",        "version",
                                        "help",     "diagnostics",  "list-devices", "native"};

/// What the options of bench say, until all are known.
struct BenchTexts {
  std::string sizes;
  std::string threads;
  std::size_t per_decade = 2;
};

std::vector<OptionRow> bench_rows(NeslOptions& own, BenchTexts& texts) {
  const auto text = [](std::string& target) {
    return [&target](vinterp::Options&, const std::string& value) { target = value; };
  };
  const auto count = [](std::string_view option, std::size_t& target) {
    return [option, &target](vinterp::Options&, const std::string& value) {
      target = vinterp::parse_count(option, value, 1);
    };
  };
  return {
      {.group = kBench,
       .name = "n",
       .argument = ArgumentKind::Required,
       .placeholder = "SIZES",
       .text = "values of n: LOW..HIGH for a geometric series, or a list such as 10,20,50; 1e6 is "
               "a million",
       .apply = text(texts.sizes)},
      {.group = kBench,
       .name = "per-decade",
       .argument = ArgumentKind::Required,
       .placeholder = "N",
       .text = "sizes of the series for each factor of ten (default: 2)",
       .apply = count("--per-decade", texts.per_decade)},
      {.group = kBench,
       .name = "setup",
       .argument = ArgumentKind::Required,
       .placeholder = "FORMS",
       .text = "evaluated for each n before what is measured, such as 'v = {rand(i) : i in dist(n, "
               "n)}'",
       .apply = text(own.bench.setup)},
      {.group = kBench,
       .name = "repetitions",
       .argument = ArgumentKind::Required,
       .placeholder = "N",
       .text = "runs of each measurement (default: as many as fit into 0.3 s, at least 3)",
       .apply = count("--repetitions", own.bench.repetitions)},
      {.group = kBench,
       .name = "plot",
       .argument = ArgumentKind::Required,
       .placeholder = "FILE",
       .text = "draw work, depth, time and speed-up against n, an SVG",
       .apply = text(own.bench_files.plot)},
      {.group = kBench,
       .name = "data",
       .argument = ArgumentKind::Required,
       .placeholder = "FILE",
       .text = "write the measurements as CSV, or as JSON where the name ends in .json",
       .apply = text(own.bench_files.data)},
      {.group = "Execution",
       .name = "threads",
       .argument = ArgumentKind::Required,
       .placeholder = "N[,N...]",
       .text = "CPU threads (default: one per processor); several only for bench",
       .apply = text(texts.threads)},
  };
}

std::vector<OptionRow> make_table(NeslOptions& own, BenchTexts& texts) {
  const auto flag = [](bool& target) {
    return [&target](vinterp::Options&, const std::string&) { target = true; };
  };
  const auto text = [](std::string& target) {
    return [&target](vinterp::Options&, const std::string& value) { target = value; };
  };
  std::vector<OptionRow> table = {
      {.group = kForms,
       .name = "expression",
       .letter = 'e',
       .argument = ArgumentKind::Required,
       .placeholder = "EXP",
       .text =
           "forms to evaluate instead of, or after, a file; prints only their values. Several are "
           "evaluated in their order",
       .apply =
           [&own](vinterp::Options&, const std::string& forms) {
             own.expression += (own.expression.empty() ? "" : ";\n") + forms;
           }},
      {.group = kForms,
       .name = "output",
       .letter = 'o',
       .argument = ArgumentKind::Required,
       .placeholder = "FILE",
       .text = "where compile and graph write to (default: standard output); the ending .fcode "
               "means -O3",
       .apply = text(own.output)},
      {.group = kForms,
       .name = "transcript",
       .text =
           "one line for every form, errors included; newlines and tabs in values as \\n and \\t",
       .apply = flag(own.show.transcript)},
      {.group = kForms,
       .name = "cost",
       .text = "print work, depth, vector operations and longest vector of each value to standard "
               "error",
       .apply = flag(own.show.cost)},
      {.group = kForms,
       .name = "chunk",
       .argument = ArgumentKind::Required,
       .placeholder = "N",
       .text = "how many elements of a stream are computed at a time (default: 262144)",
       .apply = [&own](
                    vinterp::Options&,
                    const std::string& number) { own.piece_length = parse_piece_length(number); }},
      {.group = kForms,
       .name = "collect",
       .text = "keep the elements of a stream in memory where they are needed a second time, with "
               "a warning, instead of an error",
       .apply = flag(own.collect)},
      {.group = kForms,
       .name = "time",
       .text = "print the seconds that running and compiling took to standard error",
       .apply = flag(own.show.time)},
  };
  for (OptionRow& row : bench_rows(own, texts)) table.push_back(std::move(row));
  table.push_back({.group = "Inspection",
                   .name = "profile",
                   .argument = ArgumentKind::Optional,
                   .placeholder = "FILE",
                   .text = "print to standard error where time goes, by line of the program; with "
                           "FILE also write a Chrome trace of the last evaluation",
                   .apply = [](vinterp::Options& options, const std::string& text) {
                     options.profile = text;
                   }});
  for (const OptionRow& row : vinterp::option_table()) {
    const bool device = row.letter >= '0' && row.letter <= '9';
    const bool shared =
        std::find(std::begin(kShared), std::end(kShared), row.name) != std::end(kShared);
    if (!device && (row.name.empty() || !shared)) continue;
    table.push_back(row);
    if (device) table.back().group = "Execution";
  }
  std::stable_sort(table.begin(), table.end(), [](const OptionRow& a, const OptionRow& b) {
    const auto rank = [](const OptionRow& row) {
      constexpr std::array kOrder = {kForms, kBench, std::string_view("Execution"),
                                     std::string_view("Limits and safety"),
                                     std::string_view("Inspection")};
      return std::find(kOrder.begin(), kOrder.end(), row.group) - kOrder.begin();
    };
    return rank(a) < rank(b);
  });
  return table;
}

bool is_command(std::string_view word) {
  return std::any_of(std::begin(kProgramCommands), std::end(kProgramCommands),
                     [&](const Explained& command) { return command.name == word; });
}

[[noreturn]] void unknown_command(const std::string& word) {
  const std::string message = fmt::format("unknown command `{}`", vcode::escaped(word));
  if (std::filesystem::exists(word)) {
    throw UsageError(message, fmt::format("did you mean `nesl run {}`?", vcode::escaped(word)));
  }
  if (word.find_first_of(" ()[]{}+*/;#@") != std::string::npos) {
    throw UsageError(
        message, fmt::format("an expression stands behind -e: nesl -e '{}'", vcode::escaped(word)));
  }
  vcode::NearestWord nearest(word);
  for (const Explained& command : kProgramCommands) nearest.consider(command.name);
  if (nearest.best().empty()) throw UsageError(message);
  throw UsageError(message, fmt::format("did you mean `nesl {}`?", nearest.best()));
}

void check_words(NeslOptions& options, std::vector<std::string> words) {
  if (options.command == "lsp") {
    if (words.empty() && options.expression.empty()) return;
    throw UsageError("`nesl lsp` takes no file: editors send the texts");
  }
  const bool takes_file = options.command != "repl";
  if (takes_file && words.size() == 2 && options.expression.empty() && options.command != "test" &&
      options.command != "check") {
    options.expression = words.back();
    words.pop_back();
  }
  if (options.command == "explain") {
    if (words.size() != 1) throw UsageError("`nesl explain` needs one code, like E0102");
    options.error_code = words.front();
    return;
  }
  if (words.size() > 1) throw UsageError("one file and one expression are all that it takes");
  options.files = std::move(words);
  const bool needs_file = takes_file && options.expression.empty();
  if (needs_file && options.files.empty()) {
    throw UsageError(fmt::format("`nesl {}` needs a file", options.command));
  }
}

/// What bench measures; the first number of threads is that of the session.
void plan_bench(NeslOptions& options, const BenchTexts& texts) {
  if (options.expression.empty()) {
    throw UsageError("`nesl bench` needs an expression in `n`",
                     "nesl bench FILE 'f(n)' --n=1e3..1e6");
  }
  if (texts.sizes.empty()) {
    throw UsageError("`nesl bench` needs the values of `n`", "--n=1e3..1e6 or --n=10,20,50");
  }
  options.bench.expression = options.expression;
  options.bench.sizes = bench::parse_sizes(texts.sizes, texts.per_decade);
  if (options.bench.threads.empty()) options.bench.threads = {options.machine.threads};
}

void check_threads(NeslOptions& options, const BenchTexts& texts) {
  if (texts.threads.empty()) return;
  options.bench.threads = bench::parse_threads(texts.threads);
  options.machine.threads = options.bench.threads.front();
  if (options.bench.threads.size() > 1 && options.command != "bench") {
    throw UsageError("several numbers of threads are for `nesl bench`");
  }
}

}  // namespace

NeslOptions parse_nesl_options(const std::string& program, std::span<const std::string> arguments) {
  NeslOptions options;
  BenchTexts texts;
  const std::vector<OptionRow> table = make_table(options, texts);
  std::vector<std::string> words = vinterp::parse_arguments(table, arguments, options.machine);
  if (options.machine.task != vinterp::Task::Run) return options;
  if (std::filesystem::path(program).filename() == "neslc") {
    options.command = "compile";
  } else if (words.empty()) {
    options.command = options.expression.empty() ? "repl" : "run";
  } else {
    if (!is_command(words.front())) unknown_command(words.front());
    options.command = words.front();
    words.erase(words.begin());
  }
  check_words(options, std::move(words));
  check_threads(options, texts);
  if (options.command == "bench") plan_bench(options, texts);
  return options;
}

const vinterp::CommandLine& nesl_command_line() {
  static NeslOptions unused;
  static BenchTexts texts;
  static const std::vector<OptionRow> table = make_table(unused, texts);
  static const vinterp::CommandLine line = {
      .program = "nesl",
      .purpose = "compile and run NESL, the language of nested data parallelism",
      .usage = {"[repl] [FILE] [option...]", "run FILE [EXP] [option...]", "test FILE [option...]",
                "check FILE [option...]", "explain CODE", "bench FILE EXP --n=SIZES [option...]",
                "compile FILE [EXP] -o OUT.vcode|OUT.fcode [option...]",
                "graph FILE [EXP] -o OUT.svg [option...]", "lsp"},
      .description =
          "Evaluates NESL programs on the vector libraries of this machine. FILE may be - for "
          "standard input. Values go to standard output; what programs print, and messages, to "
          "standard error. Without a command it reads forms from the terminal, with line editing, "
          "history and completion.",
      .commands = kProgramCommands,
      .examples = kExamples,
      .options = table,
      .environment = kEnvironment,
      .exit_statuses = kStatuses,
      .closing = "The manual is docs/nesl.md, or `man nesl`. Options may follow the file.",
  };
  return line;
}

}  // namespace neslc
