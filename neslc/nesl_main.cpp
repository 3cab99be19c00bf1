// The commands `nesl` and `neslc`.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <boost/program_options.hpp>

#include "cvl/failure.hpp"
#include "neslc/definitions_text.hpp"
#include "neslc/library_text.hpp"
#include "neslc/runner.hpp"
#include "vinterp/backends.hpp"
#include "vinterp/interrupt.hpp"
#include "vinterp/streams.hpp"

namespace neslc {
namespace {

namespace po = boost::program_options;

constexpr int kOk = 0;
constexpr int kWrongProgram = 1;
constexpr int kUsage = 2;
constexpr int kRunTimeFailure = 3;
constexpr int kNoMemory = 4;
constexpr int kInternal = 70;

constexpr const char* kHelp =
    R"(nesl - compile and run NESL programs

  nesl run sort.nesl               run all forms, print their values
  nesl run sort.nesl 'qsort(s)'    define what the file defines, print one value

Usage: nesl run FILE [EXPRESSION]    values of all forms, or of the expression
       nesl test FILE                compare with the lines in FILE's .expected
       nesl check FILE               finds static errors, runs nothing
       nesl compile FILE [EXPRESSION] -o OUT.vcode
                                     a VCODE program for the expression, or for
                                     the last expression of the file
       neslc FILE -o OUT.vcode       the same

FILE may be - for standard input.

)";

constexpr const char* kHelpEnd =
    R"(
Exit status: 0 success, 1 the program is wrong, 2 usage, 3 run-time error of
the program, 4 out of memory, 5 no such device, 70 internal error.
Manual: docs/nesl.md
)";

struct Command {
  std::string name;
  std::string file;
  std::string expression;
  std::string output;
  bool transcript = false;
  bool time = false;
  vinterp::Options machine;
};

struct UsageError {
  std::string message;
};

std::string read_text(const std::string& name) {
  if (name == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(name, std::ios::binary);
  if (!file) throw UsageError{"cannot open " + name};
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t parse_bytes(const std::string& text) {
  std::size_t end = 0;
  std::size_t value = 0;
  try {
    value = std::stoull(text, &end);
  } catch (const std::exception&) {
    throw UsageError{"--memory: " + text + " is not a size"};
  }
  static const std::string kUnits = "KMGT";
  for (const char c : text.substr(end)) {
    const std::size_t unit = kUnits.find(static_cast<char>(std::toupper(c)));
    if (unit == std::string::npos) throw UsageError{"--memory: " + text + " is not a size"};
    value <<= 10 * (unit + 1);
  }
  return value;
}

po::options_description visible_options(Command& command, int& int_bits, int& float_bits,
                                        std::string& memory) {
  po::options_description options("Options", 80);
  options.add_options()("help,h", "show this text")("version", "show the version")(
      "output,o", po::value(&command.output)->value_name("FILE"), "where compile writes to")(
      "transcript", po::bool_switch(&command.transcript),
      "one line for every form; newlines and tabs in values as \\n and \\t")(
      "time", po::bool_switch(&command.time), "seconds of every evaluation, on standard error")(
      "backend", po::value(&command.machine.backend)->value_name("NAME")->default_value("auto"),
      "vector library: auto, cpu, cuda")(
      "threads", po::value(&command.machine.threads)->value_name("N")->default_value(0),
      "threads; 0: one for each processor")(
      "int", po::value(&int_bits)->value_name("BITS")->default_value(32), "width of int: 32, 64")(
      "float", po::value(&float_bits)->value_name("BITS")->default_value(64),
      "width of float: 32, 64")("seed",
                                po::value(&command.machine.seed)->value_name("N")->default_value(1),
                                "seed of random numbers")(
      "memory", po::value(&memory)->value_name("SIZE"), "limit for vectors, such as 500M or 2G");
  return options;
}

/// Nothing when help or version was asked for, and shown.
bool parse(int argc, char** argv, Command& command) {
  int int_bits = 32;
  int float_bits = 64;
  std::string memory;
  std::vector<std::string> words;
  const po::options_description visible = visible_options(command, int_bits, float_bits, memory);
  po::options_description all;
  all.add(visible).add_options()("word", po::value(&words));
  po::positional_options_description positional;
  positional.add("word", -1);
  po::variables_map values;
  po::store(po::command_line_parser(argc, argv).options(all).positional(positional).run(), values);
  po::notify(values);
  if (values.count("help") != 0 || (argc == 1)) {
    std::cout << kHelp << visible << kHelpEnd;
    return false;
  }
  if (values.count("version") != 0) {
    std::cout << "nesl 0.1.0\n";
    return false;
  }
  const std::string program(argv[0]);
  const bool alias = program.size() >= 5 && program.substr(program.size() - 5) == "neslc";
  if (alias) words.insert(words.begin(), "compile");
  if (words.size() < 2 || words.size() > 3) throw UsageError{"a command and a file are needed"};
  command.name = words[0];
  command.file = words[1];
  if (words.size() == 3) command.expression = words[2];
  if ((int_bits != 32 && int_bits != 64) || (float_bits != 32 && float_bits != 64)) {
    throw UsageError{"--int and --float take 32 or 64"};
  }
  command.machine.widths.int_bytes = static_cast<std::uint8_t>(int_bits / 8);
  command.machine.widths.float_bytes = static_cast<std::uint8_t>(float_bits / 8);
  if (!memory.empty()) command.machine.memory = parse_bytes(memory);
  return true;
}

std::vector<ParsedForm> forms_of(const std::string& name, std::string text) {
  const auto source = std::make_shared<const vcode::Source>(name, std::move(text));
  return parse_program(source).forms;
}

int status_of(const FormResult& result) {
  switch (result.kind) {
    case FormResult::Kind::Rejected:
      return kWrongProgram;
    case FormResult::Kind::Stopped:
    case FormResult::Kind::Failed:
      return kRunTimeFailure;
    default:
      return kOk;
  }
}

void explain(const FormResult& result) {
  if (!result.diagnostic) return;
  vcode::RenderOptions options;
  options.program = "nesl";
  std::fputs(vcode::render(*result.diagnostic, result.source.get(), options).c_str(), stderr);
}

class Program {
 public:
  explicit Program(const Command& command)
      : command_(command),
        session_(std::string(library_text()) + std::string(definitions_text())),
        backend_(vinterp::make_backend(command.machine)),
        evaluator_(session_, *backend_),
        runner_(session_, evaluator_) {
    evaluator_.options.seed = command.machine.seed;
    runner_.text.one_line = command.transcript;
  }

  int run() {
    int status = kOk;
    const bool all = command_.expression.empty();
    for (const ParsedForm& form : forms_of(command_.file, read_text(command_.file))) {
      status = std::max(status, show(runner_.process(form), all));
    }
    if (!all) {
      for (const ParsedForm& form : forms_of("expression", command_.expression)) {
        status = std::max(status, show(runner_.process(form), true));
      }
    }
    return status;
  }

  int check() {
    int status = kOk;
    for (const ParsedForm& form : forms_of(command_.file, read_text(command_.file))) {
      const FormResult result = runner_.check(form);
      explain(result);
      status = std::max(status, status_of(result));
    }
    return status;
  }

  int test() {
    runner_.text.one_line = true;
    std::vector<std::string> lines;
    for (const ParsedForm& form : forms_of(command_.file, read_text(command_.file))) {
      const FormResult result = runner_.process(form);
      if (!result.line.empty()) lines.push_back(result.line);
    }
    const std::string base = command_.file.substr(0, command_.file.rfind('.'));
    std::ifstream expected(base + ".expected");
    if (!expected) throw UsageError{"cannot open " + base + ".expected"};
    std::string line;
    std::size_t next = 0;
    int status = kOk;
    for (; std::getline(expected, line); ++next) {
      const std::string got = next < lines.size() ? lines[next] : "nothing";
      if (got == line) continue;
      std::cout << "line " << next + 1 << ": expected " << line << "\n  got " << got << '\n';
      status = kRunTimeFailure;
    }
    if (lines.size() > next) {
      std::cout << lines.size() - next << " more lines than expected\n";
      status = kRunTimeFailure;
    }
    return status;
  }

  int compile() {
    std::vector<ParsedForm> forms = forms_of(command_.file, read_text(command_.file));
    if (!command_.expression.empty()) {
      for (ParsedForm& form : forms_of("expression", command_.expression)) {
        forms.push_back(std::move(form));
      }
    }
    const ParsedForm* last = nullptr;
    for (const ParsedForm& form : forms) {
      if (form.form && std::holds_alternative<ast::ExpressionForm>(form.form->node)) last = &form;
    }
    int status = kOk;
    std::string text;
    for (const ParsedForm& form : forms) {
      if (&form == last) {
        Checked checked = session_.check(form.form);
        if (!checked) {
          status = std::max(status, show(runner_.process(form), false));
          break;
        }
        text = evaluator_.compile(*checked.form);
        break;
      }
      // Expressions do nothing for the program; definitions and bindings do.
      if (form.form && std::holds_alternative<ast::ExpressionForm>(form.form->node)) continue;
      status = std::max(status, show(runner_.process(form), false));
    }
    if (last == nullptr) throw UsageError{"there is no expression to compile"};
    if (status != kOk) return status;
    if (command_.output.empty() || command_.output == "-") {
      std::cout << text;
    } else {
      std::ofstream file(command_.output, std::ios::binary);
      if (!(file << text)) throw UsageError{"cannot write " + command_.output};
    }
    return kOk;
  }

 private:
  int show(const FormResult& result, bool values) {
    if (command_.transcript) {
      if (!result.line.empty()) std::cout << result.line << std::endl;
      return kOk;
    }
    if (result.kind == FormResult::Kind::Value) {
      if (values) std::cout << result.line << std::endl;
      if (command_.time) std::fprintf(stderr, "%.6f s\n", result.seconds);
    } else {
      explain(result);
    }
    return status_of(result);
  }

  const Command& command_;
  Session session_;
  std::unique_ptr<cvl::Backend> backend_;
  Evaluator evaluator_;
  Runner runner_;
};

int execute(const Command& command) {
  if (command.name == "run") return Program(command).run();
  if (command.name == "check") return Program(command).check();
  if (command.name == "test") return Program(command).test();
  if (command.name == "compile") return Program(command).compile();
  throw UsageError{"unknown command " + command.name};
}

int guarded_main(int argc, char** argv) {
  try {
    Command command;
    if (!parse(argc, argv, command)) return kOk;
    vinterp::prepare_standard_streams();
    return execute(command);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "nesl: %s; try `nesl --help`\n", error.message.c_str());
    return kUsage;
  } catch (const po::error& error) {
    std::fprintf(stderr, "nesl: %s; try `nesl --help`\n", error.what());
    return kUsage;
  } catch (const cvl::Failure& failure) {
    std::fprintf(stderr, "nesl: %s\n", failure.message().c_str());
    return static_cast<int>(vcode::info(failure.code()).error_class);
  } catch (const std::bad_alloc&) {
    std::fputs("nesl: out of memory\n", stderr);
    return kNoMemory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nesl: internal error: %s\n", error.what());
    return kInternal;
  }
}

}  // namespace
}  // namespace neslc

int main(int argc, char** argv) {
  return neslc::guarded_main(argc, argv);
}
