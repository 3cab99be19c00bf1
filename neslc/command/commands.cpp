#include "neslc/command/commands.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <sys/wait.h>

#include <fmt/format.h>

#include "cli/help.hpp"
#include "cvl/failure.hpp"
#include "neslc/command/describe.hpp"
#include "neslc/command/settings_command.hpp"
#include "neslc/command/toplevel.hpp"
#include "vcode/keywords.hpp"

namespace neslc {
namespace {

using Word = ast::CommandForm::Word;

constexpr CommandHelp kHelp[] = {
    {"function NAME PATTERN [: TYPE] = EXP;", "define a function"},
    {"datatype NAME TYPE;", "define a record type"},
    {"PATTERN = EXP;", "bind variables"},
    {"EXP;", "evaluate, and bind `it`"},
    {"help; or ?", "this list"},
    {"load [EXP];",
     "run the forms of a file, again the last one without EXP; "
     "options: print := t shows results"},
    {"import \"FILE\";", "the definitions of a module, which is read once; beside this file"},
    {"describe NAME;", "interface, type, documentation and code"},
    {"apropos WORD;", "names that contain the word, or whose documentation does"},
    {"show code NAME;", "the code of a function"},
    {"show status;", "the settings; also show config, configs, bugs"},
    {"set arg_check on|off;", "check the arguments of library functions"},
    {"set print_length N;", "elements of a sequence that are shown"},
    {"set exact_floats on|off;", "show as many digits as tell a float from all others"},
    {"set trace NAME N;", "0 off, 1 calls, 2 with arguments, 3 with bindings, 4 all"},
    {"set profile NAME on|off;", "time the bindings of a function"},
    {"set verbose on|off;", "progress words"},
    {"set editor PATH;", "for edit"},
    {"set optimize N;", "0 as written, 1 simplified, 2 also inlined, 3 also fused into kernels"},
    {"set memory_size N;", "limit of memory, in words of 8 bytes"},
    {"set config NAME;", "where to run: cpu, cuda, or one made by defconfig"},
    {"defconfig NAME, OPTIONS;",
     "backend, device, threads, memory_size, max_time, each NAME := VALUE"},
    {"dump vcode FILE EXP;", "compile to a VCODE program"},
    {"dump world [FILE];", "write all definitions, for load"},
    {"dump info [FILE];", "what a report of a bug should contain"},
    {"edit [FILE];", "edit a file and load it"},
    {"shell COMMAND;", "run a command of the system"},
    {"PATTERN |= EXP;", "bind, and show the type only"},
    {"NAME &= EXP;",
     "evaluate in the background; options: mem := words, max_time := seconds, config := NAME"},
    {"get NAME;", "show a value, when its evaluation in the background has ended"},
    {"exit; or lisp;", "leave"},
};

constexpr std::string_view kNames[] = {"apropos", "defconfig", "describe", "dump",   "edit",
                                       "exit",    "get",       "help",     "import", "lisp",
                                       "load",    "set",       "shell",    "show"};
constexpr std::string_view kShown[] = {"status", "bugs", "code", "config", "configs"};

constexpr std::string_view kLimits = R"(Known limits:
1. Integers have 32 bits unless nesl is started with --int 64; they wrap around.
2. Only one `time` runs at a time: time(... time(...) ...) is refused.
3. Sequences of functions must hold one and the same function.
4. The plotting functions (w_...) make pictures in files; there is no input from windows.
5. Streams are closed at the end of each top-level form.
)";

const Word& word(const ast::CommandForm& command, std::size_t index, const char* wanted) {
  if (index < command.words.size()) return command.words[index];
  throw CommandError{fmt::format("`{}` needs {}", command.name, wanted)};
}

/// A file name or path: a string, or words run together (`load` files may be named without quotes).
std::string file_word(const ast::CommandForm& command, std::size_t index) {
  const Word& name = word(command, index, "a file name in quotes");
  if (name.kind != Word::Kind::String) {
    throw CommandError{"a file name stands in quotes", {}, name.span};
  }
  return name.text;
}

const Definition& definition_of(Toplevel& top, const Word& name) {
  const Definition* definition = top.session().find(name.text);
  if (definition != nullptr) return *definition;
  const std::string near = nearest_name(top.session(), name.text);
  throw CommandError{fmt::format("`{}` is not defined", vcode::escaped(name.text)),
                     near.empty() ? std::string() : fmt::format("did you mean `{}`?", near),
                     name.span};
}

int run_shell(const std::string& line) {
  const int status = std::system(line.c_str());
  return status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// ---- Commands

int help(Toplevel& top, const ast::CommandForm&, const CheckedForm&) {
  top.print(help_lines(kHelp));
  return kOk;
}

int leave(Toplevel& top, const ast::CommandForm&, const CheckedForm&) {
  top.finish();
  return kOk;
}

int describe_name(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  top.print(describe(definition_of(top, command.words[0])));
  return kOk;
}

int list_names(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  const std::string text = apropos(top.session(), command.words[0].text);
  top.print(text.empty()
                ? fmt::format("Nothing contains `{}`.\n", vcode::escaped(command.words[0].text))
                : text);
  return kOk;
}

bool is_true(const ast::Expr& value) {
  const auto* truth = std::get_if<ast::BoolLiteral>(&value.node);
  if (truth == nullptr) throw CommandError{"this option takes t or f", {}, value.span};
  return truth->value;
}

/// The text of a string expression.
std::string string_value(Toplevel& top, const CheckedForm& checked) {
  const std::string type = scheme_text(checked.scheme);
  if (type != "[char]") {
    throw CommandError{fmt::format("a file name is a string, not a value of type {}", type)};
  }
  Evaluation evaluation = top.evaluator().evaluate(checked);
  if (evaluation.status != Evaluation::Status::Done) {
    throw CommandError{"the file name could not be evaluated"};
  }
  const Column codes = download(top.evaluator().backend(), evaluation.values.back());
  std::string text;
  for (const std::int64_t code : std::get<0>(codes)) text += static_cast<char>(code);
  return text;
}

int load(Toplevel& top, const ast::CommandForm& command, const CheckedForm& checked) {
  bool print = false;
  for (const ast::Binding& option : command.options) {
    const std::string& name = option.pattern->name;
    if (name == "print") {
      print = is_true(*option.value);
    } else if (name == "verbose") {
      top.settings.verbose = is_true(*option.value);
    } else {
      throw CommandError{fmt::format("`load` has no option `{}`", name),
                         "its options are print and verbose", option.pattern->span};
    }
  }
  if (!command.expression && top.last_file().empty()) {
    throw CommandError{"no file has been loaded yet", "load \"file\";"};
  }
  return top.load(command.expression ? string_value(top, checked) : top.last_file(), print);
}

int import_module(Toplevel& top, const ast::CommandForm& command, const CheckedForm& checked) {
  return top.import(file_word(command, 0), *checked.form->source);
}

int edit(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  const std::string file = command.words.empty() ? top.last_file() : file_word(command, 0);
  if (file.empty()) throw CommandError{"no file has been loaded yet", "edit \"file\";"};
  std::string editor = top.settings.editor;
  for (const char* variable : {"VISUAL", "EDITOR"}) {
    const char* const value = std::getenv(variable);
    if (editor.empty() && value != nullptr) editor = value;
  }
  if (editor.empty()) editor = "vi";
  std::string quoted = "'";
  for (const char c : file) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  if (run_shell(editor + " " + quoted + "'") != 0) {
    throw CommandError{"the editor failed", "set editor \"path\";"};
  }
  return top.load(file, false);
}

int shell(Toplevel&, const ast::CommandForm& command, const CheckedForm&) {
  const Word& line = command.words.back();
  if (line.kind != Word::Kind::String) {
    throw CommandError{"the command of `shell` stands in quotes", {}, line.span};
  }
  const int status = run_shell(line.text);
  if (status != 0) throw CommandError{fmt::format("the command ended with status {}", status)};
  return kOk;
}

int fetch(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  const Definition& variable = definition_of(top, command.words[0]);
  const auto* value = top.evaluator().variables().value_of(variable);
  if (value == nullptr) {
    throw CommandError{
        fmt::format("`{}` is not a variable", variable.name), {}, command.words[0].span};
  }
  FormResult result;
  result.kind = FormResult::Kind::Value;
  result.shown = {variable.name, variable.scheme.type, *value};
  result.line = " : " + scheme_text(variable.scheme);
  return top.present(result);
}

std::string info_text(Toplevel& top) {
  std::string text = vinterp::version_text("nesl") + status_text(top);
  const auto& heap = top.evaluator().backend().heap().statistics();
  return text + fmt::format("memory in use: {}, peak {}\n", cvl::format_bytes(heap.live_bytes),
                            cvl::format_bytes(heap.peak_live_bytes));
}

int dump(Toplevel& top, const ast::CommandForm& command, const CheckedForm& checked) {
  const std::string& what = command.words[0].text;
  const bool to_file = command.words.size() > 1;
  if (what == "vcode") {
    if (!command.expression) {
      throw CommandError{"`dump vcode` needs a file name and an expression",
                         "dump vcode \"file.vcode\" expression;"};
    }
    write_file(file_word(command, 1), top.evaluator().compile(checked, not_optimized()));
    return kOk;
  }
  std::string text;
  if (what == "world") {
    for (const std::string& definition : top.journal()) text += definition + ";\n";
    if (!to_file) {
      write_file("nesl_world.nesl", text);
      top.print("Written to nesl_world.nesl.\n");
      return kOk;
    }
  } else if (what == "info") {
    text = info_text(top);
  } else {
    throw CommandError{
        fmt::format("`dump` knows vcode, world and info, not `{}`", vcode::escaped(what)),
        {},
        command.words[0].span};
  }
  if (to_file) {
    write_file(file_word(command, 1), text);
  } else {
    top.print(text);
  }
  return kOk;
}

std::string configuration_text(const std::string& name, const Configuration& configuration) {
  return fmt::format(
      "{}: backend {}, device {}, threads {}, memory_size {}{}\n", name, configuration.backend,
      configuration.device,
      configuration.threads == 0 ? "all" : std::to_string(configuration.threads),
      configuration.memory ? std::to_string(*configuration.memory / kWordBytes) : "as available",
      configuration.max_time == 0 ? "" : fmt::format(", max_time {}", configuration.max_time));
}

int show(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  const std::string& what = command.words[0].text;
  if (what == "status") {
    top.print(status_text(top));
  } else if (what == "bugs") {
    top.print(kLimits);
  } else if (what == "code") {
    const Definition& definition = definition_of(top, word(command, 1, "the name of a function"));
    const std::string code = code_text(definition);
    top.print(code.empty() ? fmt::format("`{}` is built in or has no code.\n", definition.name)
                           : code + ";\n");
  } else if (what == "config") {
    top.print(
        configuration_text(top.configuration(), top.configurations().at(top.configuration())) +
        "in use: " + top.evaluator().backend().description() + "\n");
  } else if (what == "configs") {
    for (const auto& [name, configuration] : top.configurations()) {
      top.print(configuration_text(name, configuration));
    }
  } else {
    vcode::NearestWord nearest(what);
    for (const std::string_view candidate : kShown) nearest.consider(candidate);
    throw CommandError{fmt::format("`show` knows no `{}`", vcode::escaped(what)),
                       nearest.best().empty() ? "it knows status, bugs, code, config and configs"
                                              : fmt::format("did you mean `{}`?", nearest.best()),
                       command.words[0].span};
  }
  return kOk;
}

int set(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  change_setting(top, command);
  return kOk;
}

int define_configuration(Toplevel& top, const ast::CommandForm& command, const CheckedForm&) {
  make_configuration(top, command);
  return kOk;
}

using Handler = int (*)(Toplevel&, const ast::CommandForm&, const CheckedForm&);
struct PromptCommand {
  std::string_view name;
  Handler handler;
};
constexpr PromptCommand kCommands[] = {
    {"help", help},
    {"exit", leave},
    {"lisp", leave},
    {"describe", describe_name},
    {"apropos", list_names},
    {"get", fetch},
    {"set", set},
    {"show", show},
    {"shell", shell},
    {"dump", dump},
    {"edit", edit},
    {"load", load},
    {"import", import_module},
    {"defconfig", define_configuration},
};

}  // namespace

vcode::Diagnostic diagnostic_of(const CommandError& error) {
  vcode::Diagnostic diagnostic;
  diagnostic.code = error.code;
  diagnostic.message = error.message;
  diagnostic.hint = error.hint;
  diagnostic.span = error.span;
  return diagnostic;
}

std::span<const CommandHelp> command_help() {
  return kHelp;
}

std::span<const std::string_view> command_names() {
  return kNames;
}

std::span<const std::string_view> show_names() {
  return kShown;
}

std::string help_lines(std::span<const CommandHelp> rows) {
  constexpr std::size_t kColumn = 40;
  std::string text;
  for (const CommandHelp& row : rows)
    text += fmt::format("  {:<{}}{}\n", row.usage, kColumn, row.text);
  return text;
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  if (file << text && file.flush()) return;
  throw CommandError{fmt::format("cannot write `{}`", vcode::escaped(name)),
                     {},
                     {},
                     vcode::ErrorCode::OutputFailed};
}

void refuse_in_sandbox(const Toplevel& top, WayOut::Kind kind, std::string_view name,
                       vcode::Span span) {
  if (!top.machine().sandbox) return;
  if (const WayOut* const way = find_way_out(kind, name)) {
    throw CommandError{fmt::format("--sandbox forbids `{}`, which {}", name, way->does),
                       {},
                       span,
                       vcode::ErrorCode::Sandboxed};
  }
}

int run_command(Toplevel& top, const std::shared_ptr<const ast::Form>& form) {
  const auto& command = std::get<ast::CommandForm>(form->node);
  refuse_in_sandbox(top, WayOut::Kind::Command, command.name, form->span);
  Checked checked = top.session().check(form);
  if (!checked) return top.complain(checked.error->diagnostic, checked.error->source.get());
  for (const PromptCommand& row : kCommands) {
    if (row.name == command.name) return row.handler(top, command, *checked.form);
  }
  throw CommandError{fmt::format("`{}` is no command", command.name)};
}

std::string status_text(Toplevel& top) {
  const auto on = [](bool flag) { return flag ? "on" : "off"; };
  std::string background = top.evaluator().variables().background_text();
  if (!background.empty()) background.insert(0, "background variables:\n");
  return fmt::format(
      "verbose {}\narg_check {}\noptimize {}\nprint_length {}\ntraced functions: {}\nprofiled "
      "functions: {}\n"
      "configuration {}: {}\n{}",
      on(top.settings.verbose), on(top.evaluator().options.argument_checks),
      top.evaluator().options.when_it_pays
          ? "auto"
          : std::to_string(top.evaluator().options.optimizer.level),
      top.runner().text.print_length, traced_names(top), profiled_names(top), top.configuration(),
      top.evaluator().backend().description(), background);
}

}  // namespace neslc
