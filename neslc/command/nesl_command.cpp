#include "neslc/command/nesl_command.hpp"

#include <charconv>
#include <cstdio>
#include <functional>
#include <iostream>
#include <vector>

#include <fmt/format.h>

#include "cli/backends.hpp"
#include "cli/guard.hpp"
#include "cli/help.hpp"
#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "machine/json.hpp"
#include "machine/streams.hpp"
#include "neslc/command/commands.hpp"
#include "neslc/command/error_index.hpp"
#include "neslc/command/nesl_options.hpp"
#include "neslc/command/repl.hpp"
#include "neslc/evaluation/job.hpp"
#include "neslc/graph/graph_command.hpp"
#include "neslc/lsp/server.hpp"

namespace neslc {
namespace {

using Forms = std::vector<ParsedForm>;

Forms forms_of(const std::shared_ptr<const vcode::Source>& source) {
  return parse_program(source).forms;
}

bool is_expression(const ParsedForm& form) {
  return form.form && std::holds_alternative<ast::ExpressionForm>(form.form->node);
}

/// The forms of the file and of the expression.
Forms all_forms(Toplevel& top, const NeslOptions& options) {
  Forms forms;
  if (!options.files.empty()) forms = forms_of(read_program(options.files[0]));
  if (!options.expression.empty()) {
    for (ParsedForm& form :
         forms_of(std::make_shared<const vcode::Source>("expression", options.expression))) {
      forms.push_back(std::move(form));
    }
  }
  top.session().announce(forms);
  return forms;
}

int run(Toplevel& top, const NeslOptions& options) {
  vinterp::handle_signals();
  int status = kOk;
  if (!options.files.empty()) status = top.load(options.files[0], options.expression.empty());
  if (!options.expression.empty() && !top.finished()) {
    status = std::max(status, top.process(std::make_shared<const vcode::Source>(
                                  "expression", options.expression)));
  }
  if (status <= kSignalStatus) status = std::max(status, top.finish_background());
  top.report();
  return top.show.transcript ? kOk : status;
}

int repl(Toplevel& top, const NeslOptions& options) {
  top.show.definitions = true;
  int status = kOk;
  if (!options.files.empty()) status = top.load(options.files[0], false);
  if (!top.finished()) status = run_repl(top);
  top.report();
  return status;
}

int check(Toplevel& top, const NeslOptions& options) {
  int status = kOk;
  for (const ParsedForm& form : all_forms(top, options)) status = std::max(status, top.check(form));
  return status;
}

/// The name of a program file with another ending.
std::string companion(const std::string& file, const char* ending) {
  const std::size_t slash = file.rfind('/');
  const std::size_t dot = file.rfind('.');
  const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return file.substr(0, has_ending ? dot : file.size()) + ending;
}

int test(Toplevel& top, const NeslOptions& options) {
  vinterp::handle_signals();
  const std::string& file = options.files[0];
  const std::string expected_file = companion(file, ".expected");
  const Forms forms = all_forms(top, options);
  const auto expected = read_program(expected_file);
  top.runner().text.one_line = true;
  Cost cost;
  std::vector<std::string> lines;
  for (const ParsedForm& form : forms) {
    if (form.form && std::holds_alternative<ast::CommandForm>(form.form->node)) {
      top.process(form);
      continue;
    }
    const FormResult result = top.runner().process(form);
    if (result.kind == FormResult::Kind::Interrupted) return top.present(result);
    if (result.cost) cost.add(*result.cost);
    if (!result.line.empty()) lines.push_back(top.runner().line_text(result));
  }
  if (const int failed = top.finish_background(); failed != kOk) return failed;
  std::uint32_t wanted = expected->line_count();
  if (wanted > 0 && expected->line(wanted).empty()) --wanted;
  int status = kOk;
  for (std::uint32_t i = 1; i <= wanted; ++i) {
    const std::string got = i <= lines.size() ? lines[i - 1] : "nothing";
    if (got == expected->line(i)) continue;
    top.print(
        fmt::format("{}:{}: expected {}\n  got {}\n", expected_file, i, expected->line(i), got));
    status = kRunTimeFailure;
  }
  if (lines.size() > wanted) {
    top.print(fmt::format("{}: {} more values than expected, the first one\n  {}\n", file,
                          lines.size() - wanted, lines[wanted]));
    status = kRunTimeFailure;
  }
  if (options.show.cost) top.print_error(fmt::format("cost: {}\n", cost_text(cost)));
  top.report();
  return status;
}

void write_output(const NeslOptions& options, const std::string& text) {
  if (!options.output.empty() && options.output != "-") return write_file(options.output, text);
  std::cout << text << std::flush;
  if (!std::cout) {
    throw CommandError{"cannot write standard output", {}, {}, vcode::ErrorCode::OutputFailed};
  }
}

/// Kernels are written only where FCODE is asked for, by the name of the file.
fcode::OptimizerOptions optimizer_of(const NeslOptions& options) {
  const bool fcode = options.output.ends_with(".fcode");
  fcode::OptimizerOptions optimizer;
  optimizer.disabled = options.machine.disabled_passes;
  optimizer.level =
      options.machine.optimize.value_or(fcode ? fcode::kHighestLevel : fcode::kLeastLevel);
  if (!fcode) optimizer.level = std::min(optimizer.level, fcode::kHighestLevel - 1);
  return optimizer;
}

/// Does something with the last expression, and with the other forms what `before` says;
/// expressions before it do nothing for it. Returns the greatest status.
int for_last_expression(Toplevel& top, const NeslOptions& options,
                        const std::function<int(const ParsedForm&)>& before,
                        const std::function<int(const ParsedForm&)>& action) {
  const Forms forms = all_forms(top, options);
  const auto last = std::find_if(forms.rbegin(), forms.rend(), is_expression);
  if (last == forms.rend()) {
    throw CommandError{
        fmt::format("there is no expression to {}",
                    options.command == "graph" ? "draw" : "compile"),
        fmt::format("name one behind the file: nesl {} FILE EXPRESSION", options.command),
        {},
        vcode::ErrorCode::Usage};
  }
  int status = kOk;
  for (const ParsedForm& form : forms) {
    if (&form == &*last) {
      status = std::max(status, action(form));
    } else if (!is_expression(form)) {
      status = std::max(status, before(form));
    }
  }
  return status;
}

int complain(Toplevel& top, const StaticError& error) {
  return top.complain(error.diagnostic, error.source.get());
}

/// Evaluates nothing.
int compile(Toplevel& top, const NeslOptions& options) {
  std::string text;
  const auto check = [&](const ParsedForm& form) { return top.check(form); };
  const int status = for_last_expression(top, options, check, [&](const ParsedForm& form) {
    Checked checked = top.session().check(form.form);
    if (!checked) return complain(top, *checked.error);
    try {
      text = top.evaluator().compile(*checked.form, optimizer_of(options));
    } catch (const CompileError& error) {
      return complain(top, compile_error(*form.form, error));
    }
    return kOk;
  });
  if (status == kOk) write_output(options, text);
  return status;
}

int graph(Toplevel& top, const NeslOptions& options) {
  vinterp::handle_signals();
  top.show.values = false;
  graph::Graph made;
  const auto process = [&](const ParsedForm& form) { return top.process(form); };
  const int status = for_last_expression(top, options, process, [&](const ParsedForm& form) {
    const Checked checked = top.session().check(form.form);
    if (!checked) return complain(top, *checked.error);
    made = graph::draw(top, *checked.form);
    return made.drawn.svg.empty() ? top.present(made.result) : kOk;
  });
  if (status == kOk) write_output(options, made.drawn.svg);
  return status;
}

std::string information(vinterp::Task task) {
  const vinterp::CommandLine& line = nesl_command_line();
  switch (task) {
    case vinterp::Task::Manual:
      return vinterp::manual_page(line);
    case vinterp::Task::BashCompletion:
      return vinterp::bash_completion(line);
    case vinterp::Task::ZshCompletion:
      return vinterp::zsh_completion(line);
    case vinterp::Task::FishCompletion:
      return vinterp::fish_completion(line);
    case vinterp::Task::Version:
      return vinterp::version_text("nesl");
    case vinterp::Task::VersionJson:
      return vinterp::version_json("nesl");
    case vinterp::Task::ListDevices:
      return vinterp::device_list();
    default:
      return vinterp::help_text(line);
  }
}

int explain(const NeslOptions& options) {
  const std::string_view text = explained_error(options.error_code);
  if (text.empty()) {
    throw CommandError{
        fmt::format("there is no error code `{}`", vcode::escaped(options.error_code)),
        "every message ends with its code in brackets, as in [E0102]",
        {},
        vcode::ErrorCode::Usage};
  }
  write_output({}, std::string(text) + "\n");
  return kOk;
}

int perform(const NeslOptions& options) {
  if (options.machine.task != vinterp::Task::Run) {
    write_output({}, information(options.machine.task));
    return kOk;
  }
  if (options.command == "lsp") return lsp::Server(std::cin, std::cout).run();
  if (options.command == "explain") return explain(options);
  Toplevel top(options.machine, options.show);
  top.evaluator().options.piece_length = options.piece_length;
  top.evaluator().options.collect = options.collect;
  if (options.machine.time_limit > 0) vinterp::set_time_limit(options.machine.time_limit);
  if (options.command == "run") return run(top, options);
  if (options.command == "check") return check(top, options);
  if (options.command == "test") return test(top, options);
  if (options.command == "compile") return compile(top, options);
  if (options.command == "graph") return graph(top, options);
  if (options.command == "bench") {
    const std::string program = options.files.empty() ? "" : options.files[0];
    return bench::run_bench(top, program, options.bench, options.bench_files);
  }
  return repl(top, options);
}

/// The process that has started this one for a job; no process, if nobody has.
pid_t session_of(std::span<const std::string> arguments) {
  pid_t session = 0;
  if (arguments.size() == 1) {
    const char* const begin = arguments[0].data();
    std::from_chars(begin, begin + arguments[0].size(), session);
  }
  return session;
}

int fail(const vinterp::Options& machine, const vcode::Diagnostic& diagnostic) {
  const vcode::RenderOptions rendering{vinterp::use_color(machine.color), "nesl"};
  const std::string text = machine.json_diagnostics ? vinterp::json_line(diagnostic, nullptr)
                                                    : vcode::render(diagnostic, nullptr, rendering);
  std::fputs(text.c_str(), stderr);
  return static_cast<int>(vcode::info(diagnostic.code).error_class);
}

}  // namespace

int run_nesl(const std::string& program, std::span<const std::string> arguments) noexcept {
  return vinterp::guarded("nesl", [&] {
    vinterp::prepare_standard_streams();
    if (program == kJobProgram) return run_job(session_of(arguments));
    const NeslOptions options = parse_nesl_options(program, arguments);
    vcode::Diagnostic diagnostic;
    try {
      return perform(options);
    } catch (const CommandError& error) {
      diagnostic = diagnostic_of(error);
    } catch (const cvl::Failure& failure) {
      diagnostic = vinterp::diagnostic_of(failure);
    }
    return fail(options.machine, diagnostic);
  });
}

}  // namespace neslc
