#include "neslc/command/toplevel.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cli/backends.hpp"
#include "cli/loader.hpp"
#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "machine/json.hpp"
#include "neslc/command/commands.hpp"
#include "neslc/command/settings_command.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "vcode/keywords.hpp"

namespace neslc {
namespace {

constexpr int kDeepestLoad = 20;
constexpr const char* kFirstConfiguration = "default";

int status_of(const vcode::Diagnostic& diagnostic) {
  return static_cast<int>(vcode::info(diagnostic.code).error_class);
}

/// `describ f;` reads as an application.
void suggest_command(FormResult& result) {
  if (!result.error || result.error->category != Category::Undefined) return;
  vcode::Diagnostic& diagnostic = *result.diagnostic;
  if (!diagnostic.hint.empty() || diagnostic.span.column != 1) return;
  vcode::NearestWord nearest(result.error->name);
  for (const std::string_view name : command_names()) nearest.consider(name);
  if (!nearest.best().empty()) {
    diagnostic.hint = fmt::format("did you mean the command `{}`?", nearest.best());
  }
}

}  // namespace

Toplevel::Toplevel(const vinterp::Options& machine, const ShowOptions& show_options)
    : show(show_options),
      machine_(machine),
      session_(std::string(library_text()) + std::string(definitions_text()),
               open_definitions_text()),
      backend_(vinterp::make_backend(machine)),
      evaluator_(std::make_unique<Evaluator>(session_, *backend_)),
      runner_(std::make_unique<Runner>(session_, *evaluator_)),
      configuration_(kFirstConfiguration) {
  EvaluatorOptions& options = evaluator_->options;
  options.seed = machine.seed;
  options.sandbox = machine.sandbox;
  if (machine.max_depth) options.max_depth = *machine.max_depth;
  options.cost = show.cost;
  options.optimizer.level = machine.optimize.value_or(fcode::kHighestLevel);
  options.when_it_pays = !machine.optimize;
  options.optimizer.disabled = machine.disabled_passes;
  if (machine.profile) {
    options.profile = &profile_;
    evaluator_->variables().profile = &profile_;
    options.trace_file = *machine.profile;
  }
  options.warn = [this](const vcode::Diagnostic& warning, const vcode::Source* source) {
    complain(warning, source);
  };
  runner_->text.one_line = show.transcript;
  runner_->background_machine = [this](const ast::Form& form) {
    return neslc::background_machine(*this, form);
  };
  evaluator_->variables().on_value = [this](const auto& background, const auto& result) {
    show_background_measures(background, result);
  };
  configurations_[configuration_] = {machine.backend, machine.device, machine.threads,
                                     machine.memory};
}

Toplevel::~Toplevel() = default;

void Toplevel::configure(const std::string& name, const Configuration& configuration) {
  vinterp::Options changed = machine_;
  changed.backend = configuration.backend;
  changed.device = configuration.device;
  changed.threads = configuration.threads;
  changed.memory = configuration.memory;
  auto backend = vinterp::make_backend(changed);
  evaluator_->move_to(*backend);
  backend_ = std::move(backend);
  machine_ = changed;
  configuration_ = name;
}

// ---- Output

void Toplevel::print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void Toplevel::print_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int Toplevel::complain(const vcode::Diagnostic& diagnostic, const vcode::Source* source) {
  print_error(
      machine_.json_diagnostics
          ? vinterp::json_line(diagnostic, source)
          : vcode::render(diagnostic, source,
                          {.color = vinterp::use_color(machine_.color), .program = "nesl"}));
  return status_of(diagnostic);
}

/// Printed as it is made, until somebody interrupts.
void Toplevel::print_line(const FormResult& result) {
  runner_->write_line(result, [](std::string_view text) {
    return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && !vinterp::must_end();
  });
  print("\n");
}

void Toplevel::show_measures(const FormResult& result) {
  if (show.time) {
    print_error(fmt::format("time: {:.6f} s, compiled in {:.6f} s\n", result.seconds,
                            result.compile_seconds));
  }
  if (result.cost && show.cost) {
    print_error(fmt::format("cost: {}\n", cost_text(*result.cost)));
    total_cost_.add(*result.cost);
    ++evaluations_;
  }
}

void Toplevel::show_background_measures(const BackgroundEvaluation& background,
                                        const Evaluation& result) {
  if (show.transcript || (!show.time && !show.cost)) return;
  print_error(fmt::format("background {}:\n", background.name));
  FormResult measured;
  measured.seconds = result.seconds;
  measured.compile_seconds = result.compile_seconds;
  measured.cost = result.cost;
  show_measures(measured);
}

FormResult Toplevel::interrupted() const {
  FormResult result;
  result.kind = FormResult::Kind::Interrupted;
  result.signal = vinterp::pending_signal.load();
  return result;
}

int Toplevel::present(const FormResult& result) {
  if (show.transcript) {
    if (!result.line.empty()) print_line(result);
    return kOk;
  }
  switch (result.kind) {
    case FormResult::Kind::Defined:
      if (show.definitions) print(result.definition + "\n");
      return kOk;
    case FormResult::Kind::Value:
      if (!show.values) return kOk;
      print_line(result);
      if (vinterp::must_end()) return present(interrupted());
      show_measures(result);
      return kOk;
    case FormResult::Kind::Started:
      if (show.values) print_line(result);
      return kOk;
    case FormResult::Kind::Interrupted:
      if (result.signal == SIGALRM) {
        vcode::Diagnostic diagnostic;
        diagnostic.code = vcode::ErrorCode::TimeLimit;
        diagnostic.message =
            fmt::format("the time limit of {} seconds was reached", machine_.time_limit);
        return complain(diagnostic, nullptr);
      }
      print_error("Interrupted.\n");
      return kSignalStatus + result.signal;
    default: {
      const int status = complain(*result.diagnostic, result.source.get());
      if (result.kind != FormResult::Kind::Rejected) show_measures(result);
      return status;
    }
  }
}

void Toplevel::report() {
  if (evaluations_ > 1) print_error(fmt::format("all costs: {}\n", cost_text(total_cost_)));
  if (machine_.profile) {
    print_error(profile_.report(backend_->heap().statistics(), backend_->counters()));
  }
}

// ---- Forms

/// What `dump world` writes: a definition takes the place of the one that it replaces.
void Toplevel::remember(const ast::Form& form, const FormResult& result) {
  const bool binding = std::holds_alternative<ast::BindingForm>(form.node);
  const bool defined = result.kind == FormResult::Kind::Defined;
  const bool bound =
      result.kind == FormResult::Kind::Value || result.kind == FormResult::Kind::Started;
  if (defined || (binding && bound)) {
    journal_.emplace_back(form.text());
  }
}

const ParsedForm& Toplevel::meant(const ParsedForm& form, ParsedForm& call) {
  if (!form.form || !is_import(*form.form) || session_.find("import") == nullptr) return form;
  call.begin = form.begin;
  call.end = form.end;
  call.form = call_of_import(*form.form);
  return call;
}

int Toplevel::process(const ParsedForm& written) {
  ParsedForm call;
  const ParsedForm& form = meant(written, call);
  evaluator_->variables().collect_processes();
  if (form.form && std::holds_alternative<ast::CommandForm>(form.form->node)) return command(form);
  if (settings.verbose && !show.transcript) print("Compiling..Running..\n");
  try {
    FormResult result = runner_->process(form);
    suggest_command(result);
    if (form.form) remember(*form.form, result);
    return present(result);
  } catch (const cvl::Failure& failure) {  // while the value was shown
    return complain(vinterp::diagnostic_of(failure), nullptr);
  } catch (const std::bad_alloc&) {
    return complain(out_of_memory(), nullptr);
  }
}

/// Something else than vectors has taken all that there is.
vcode::Diagnostic Toplevel::out_of_memory() const {
  vcode::Diagnostic diagnostic;
  diagnostic.code = vcode::ErrorCode::OutOfMemory;
  diagnostic.message = "out of memory";
  if (machine_.memory) {
    diagnostic.notes.push_back({fmt::format("limit {}", cvl::format_bytes(*machine_.memory)), {}});
    diagnostic.hint = "raise the limit with --memory, or make the problem smaller";
  }
  return diagnostic;
}

int Toplevel::command(const ParsedForm& form) {
  try {
    return run_command(*this, form.form);
  } catch (const CompileError& error) {
    const StaticError found = compile_error(*form.form, error);
    return complain(found.diagnostic, found.source.get());
  } catch (const CommandError& error) {
    vcode::Diagnostic diagnostic = diagnostic_of(error);
    if (!diagnostic.span) diagnostic.span = form.form->span;
    return complain(diagnostic, form.form->source.get());
  } catch (NoValue& none) {
    return present(runner_->failed(std::move(none.evaluation)));
  }
}

int Toplevel::finish_background() {
  int status = kOk;
  if (finished_) return status;
  for (Evaluation& failed : evaluator_->variables().await_all()) {
    status = std::max(status, present(runner_->failed(std::move(failed))));
  }
  return status;
}

int Toplevel::process(const std::shared_ptr<const vcode::Source>& source) {
  std::vector<ParsedForm> forms;
  try {
    forms = parse_program(source).forms;
    session_.announce(forms);
  } catch (const std::bad_alloc&) {
    return complain(out_of_memory(), nullptr);
  }
  int status = kOk;
  for (const ParsedForm& form : forms) {
    status = std::max(status, process(form));
    if (finished_ || status > kSignalStatus) break;
  }
  return status;
}

class Toplevel::Loading {
 public:
  explicit Loading(Toplevel& top) : top_(top) {
    if (top_.loads_ == kDeepestLoad) {
      throw CommandError{fmt::format("{} files that load each other", kDeepestLoad)};
    }
    ++top_.loads_;
  }
  ~Loading() { --top_.loads_; }
  Loading(const Loading&) = delete;
  Loading& operator=(const Loading&) = delete;

 private:
  Toplevel& top_;
};

std::shared_ptr<const vcode::Source> Toplevel::open(const std::string& file) {
  const bool complete = file == "-" || file.ends_with(".nesl") || access(file.c_str(), F_OK) == 0;
  const std::string name = complete ? file : file + ".nesl";
  auto source = read_program(name);
  last_file_ = name;
  return source;
}

int Toplevel::load(const std::string& file, bool print_results) {
  const Loading loading(*this);
  const auto source = open(file);
  const Modules::Reading reading(modules_, source->name());
  const bool values = std::exchange(show.values, print_results);
  const int status = process(source);
  show.values = values;
  return status;
}

int Toplevel::import(const std::string& name, const vcode::Source& importer) {
  const bool values = std::exchange(show.values, false);
  const auto restore = [&] { show.values = values; };
  try {
    const int status = import(
        name, importer, [this](const ParsedForm& form) { return finished_ ? kOk : process(form); });
    restore();
    return status;
  } catch (...) {
    restore();
    throw;
  }
}

int Toplevel::import(const std::string& name, const vcode::Source& importer, const Action& action) {
  const std::string file = module_file(folder_of(importer.name()), name);
  modules_.refuse_cycle(file);
  if (modules_.has(file)) return kOk;
  const Loading loading(*this);
  const auto source = read_program(file);
  const Modules::Reading reading(modules_, file);
  int status = kOk;
  for (const ParsedForm& form : parse_program(source).forms) {
    status = std::max(status, action(form));
    if (status > kSignalStatus) return status;
  }
  if (status == kOk) modules_.add(file);
  return status;
}

int Toplevel::check(const ParsedForm& written) {
  ParsedForm call;
  const ParsedForm& form = meant(written, call);
  const FormResult result = runner_->check(form);
  if (result.kind == FormResult::Kind::Rejected) return present(result);
  if (result.kind != FormResult::Kind::Command) return kOk;
  const auto& command = std::get<ast::CommandForm>(form.form->node);
  return check_files_of(*form.form, command);
}

int Toplevel::check_files_of(const ast::Form& form, const ast::CommandForm& command) {
  const auto* file =
      command.expression ? std::get_if<ast::StringLiteral>(&command.expression->node) : nullptr;
  if (command.name != "import" && (command.name != "load" || file == nullptr)) return kOk;
  int status = kOk;
  try {
    refuse_in_sandbox(*this, WayOut::Kind::Command, command.name, form.span);
    if (command.name == "import") {
      return import(command.words[0].text, *form.source,
                    [this](const ParsedForm& imported) { return check(imported); });
    }
    const Loading loading(*this);
    for (const ParsedForm& loaded : parse_program(open(file->text)).forms) {
      status = std::max(status, check(loaded));
    }
  } catch (const CommandError& error) {
    vcode::Diagnostic diagnostic = diagnostic_of(error);
    diagnostic.span = form.span;
    status = std::max(status, complain(diagnostic, form.source.get()));
  }
  return status;
}

std::shared_ptr<const vcode::Source> read_program(const std::string& file) {
  if (file == "-") {
    std::string text(std::istreambuf_iterator<char>(std::cin), {});
    return std::make_shared<const vcode::Source>("standard input", std::move(text));
  }
  vcode::Diagnostics diagnostics;
  auto source = vinterp::read_source(file, diagnostics);
  if (source) return source;
  const vcode::Diagnostic& reason = diagnostics.all().front();
  throw CommandError{reason.message, reason.hint, {}, reason.code};
}

}  // namespace neslc
