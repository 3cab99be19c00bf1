#include "vinterp/command.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cli/backends.hpp"
#include "cli/command_line.hpp"
#include "cli/guard.hpp"
#include "cli/help.hpp"
#include "cli/loader.hpp"
#include "cli/options.hpp"
#include "cvl/failure.hpp"
#include "fcode-opt/optimizer.hpp"
#include "machine/adaptive.hpp"
#include "machine/ahead.hpp"
#include "machine/byte_buffer.hpp"
#include "machine/compare.hpp"
#include "machine/constants.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "machine/io_ops.hpp"
#include "machine/json.hpp"
#include "machine/machine.hpp"
#include "machine/streams.hpp"
#include "vcode/verifier.hpp"
#include "vinterp/list_ops.hpp"
#include "vinterp/listing.hpp"
#include "vinterp/observers.hpp"

namespace vinterp {
namespace {

using vcode::Diagnostic;
using vcode::Diagnostics;
using vcode::ErrorCode;

constexpr int kSignalStatus = 128;

int status_of(ErrorCode code) {
  return static_cast<int>(vcode::info(code).error_class);
}

/// The status that the first error asks for.
int status_of(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == vcode::Severity::Error) return status_of(diagnostic.code);
  }
  return 0;
}

/// One command in progress.
class Command {
 public:
  int run(std::span<const std::string> arguments);

 private:
  int perform();
  int run_program();
  using Conclude = std::function<int(const RunResult&, const Machine&)>;

  bool may_choose(const vcode::LinkedProgram& program) const;
  IoOptions io_options() const;
  int execute_adaptively(const vcode::LinkedProgram& written, cvl::Backend& backend);
  int execute(const vcode::LinkedProgram& program, cvl::Backend& backend);
  int execute(const vcode::LinkedProgram& program, cvl::Backend& backend, IoOperations& io,
              const WorkLimit& limit, const Conclude& conclude);
  int report_comparison(const CompareBackend& compare, int status);
  int finish(const RunResult& result, const Machine& machine, IoOperations& io);
  int print_results(const Machine& machine, IoOperations& io);
  int interrupted(int signal);
  int check(const vcode::LinkedProgram& program, Diagnostics& diagnostics);
  int print_information(std::string_view text);
  int fail(const Diagnostic& diagnostic);
  void show(const Diagnostics& diagnostics);
  vcode::RenderOptions rendering() const { return {use_color(options_.color)}; }

  Options options_;
  std::shared_ptr<const vcode::Source> source_;
};

int Command::run(std::span<const std::string> arguments) {
  try {
    options_ = parse_options(arguments);
    return perform();
  } catch (const cvl::Failure& failure) {
    return fail(diagnostic_of(failure));
  }
}

int Command::perform() {
  switch (options_.task) {
    case Task::Help:
      return print_information(help_text(command_line()));
    case Task::Manual:
      return print_information(manual_page(command_line()));
    case Task::BashCompletion:
      return print_information(bash_completion(command_line()));
    case Task::ZshCompletion:
      return print_information(zsh_completion(command_line()));
    case Task::FishCompletion:
      return print_information(fish_completion(command_line()));
    case Task::Version:
      return print_information(version_text("vinterp"));
    case Task::VersionJson:
      return print_information(version_json("vinterp"));
    case Task::ListDevices:
      return print_information(device_list());
    case Task::ListOps:
      return print_information(list_ops());
    case Task::ListOpsJson:
      return print_information(list_ops_json());
    default:
      return run_program();
  }
}

int Command::run_program() {
  Diagnostics diagnostics;
  source_ = read_source(options_.file, diagnostics);
  const LoadOptions load_options{.optimize = options_.optimize,
                                 .disabled_passes = options_.disabled_passes};
  std::optional<vcode::LinkedProgram> program;
  if (source_) program = load_program(source_, diagnostics, load_options);
  if (!program) {
    diagnostics.sort();
    show(diagnostics);
    return status_of(diagnostics);
  }
  if (options_.task == Task::Check) return check(*program, diagnostics);
  if (options_.verify) vcode::verify(*program, diagnostics);
  diagnostics.sort();
  show(diagnostics);
  if (diagnostics.has_errors()) return status_of(diagnostics);
  if (options_.list_program) std::fputs(listing(*program).c_str(), stderr);
  const std::unique_ptr<cvl::Backend> backend = make_backend(options_);
  handle_signals();
  if (options_.time_limit > 0) set_time_limit(options_.time_limit);
  const int status =
      may_choose(*program) ? execute_adaptively(*program, *backend) : execute(*program, *backend);
  return options_.compare == CompareMode::Off
             ? status
             : report_comparison(static_cast<const CompareBackend&>(*backend), status);
}

int Command::report_comparison(const CompareBackend& compare, int status) {
  std::fputs(compare.report().c_str(), stderr);
  return compare.differences() == 0 ? status : status_of(ErrorCode::Internal);
}

int Command::check(const vcode::LinkedProgram& program, Diagnostics& diagnostics) {
  const vcode::Verification verification =
      vcode::verify(program, diagnostics, {.warn_guarded = true});
  diagnostics.sort();
  show(diagnostics);
  if (diagnostics.has_errors()) return status_of(diagnostics);
  return print_information(vcode::print(verification, program));
}

/// Is it for the command to say whether the program is optimized? Whoever looks at a run wants to
/// see the program as it was written.
bool Command::may_choose(const vcode::LinkedProgram& program) const {
  return !options_.optimize && program.kernels.empty() && options_.compare == CompareMode::Off &&
         !Observers::wanted(options_);
}

IoOptions Command::io_options() const {
  return {.sandbox = options_.sandbox, .strict = options_.strict};
}

int Command::execute_adaptively(const vcode::LinkedProgram& written, cvl::Backend& backend) {
  IoOptions recorded = io_options();
  recorded.recorded = true;
  IoOperations io(backend, recorded);
  EffectRecord& record = *io.record();
  Ahead<std::optional<vcode::LinkedProgram>> ahead([this](const std::function<bool()>& stop) {
    Diagnostics none;  // what is wrong with the program has been said
    LoadOptions load_options;
    load_options.optimize = fcode::kHighestLevel;
    load_options.stop = stop;
    return load_program(source_, none, load_options);
  });
  const WorkLimit limit =
      limit_as_written(written.code.size(), backend, [&] { return ahead.ready(); });
  bool given_up = false;
  int status =
      execute(written, backend, io, limit, [&](const RunResult& result, const Machine& machine) {
        given_up = gives_up(result, record);
        return given_up ? 0 : finish(result, machine, io);
      });
  if (!given_up) return status;

  const auto optimized = ahead.take();
  bool may_succeed = false;
  std::optional<Diagnostic> failure;
  backend.seed(options_.seed);
  record.begin_anew(EffectRecord::Need::Again);
  status =
      execute(*optimized, backend, io, {}, [&](const RunResult& result, const Machine& machine) {
        failure = result.failure;
        may_succeed = lacked_memory(result) || result.outcome == Outcome::Departed;
        const bool decides = !failure || !record.complete();
        return decides ? finish(result, machine, io) : 0;
      });
  if (!failure || !record.complete()) return status;

  // The program as it was written says which operation failed first, what with, and how it got
  // there.
  backend.seed(options_.seed);
  record.begin_anew(EffectRecord::Need::LastTime);
  return execute(written, backend, io, {}, [&](const RunResult& result, const Machine& machine) {
    // A fault that shows in one form only is one of the optimizer: not hidden.
    const bool hidden = result.outcome == Outcome::Returned && !may_succeed;
    return hidden ? fail(*failure) : finish(result, machine, io);
  });
}

int Command::execute(const vcode::LinkedProgram& program, cvl::Backend& backend) {
  IoOperations io(backend, io_options());
  return execute(program, backend, io, {}, [&](const RunResult& result, const Machine& machine) {
    return finish(result, machine, io);
  });
}

int Command::execute(const vcode::LinkedProgram& program, cvl::Backend& backend, IoOperations& io,
                     const WorkLimit& limit, const Conclude& conclude) {
  Diagnostics diagnostics;
  check_demands(program, backend.widths(), diagnostics);
  std::vector<cvl::Value> constants = load_constants(program, backend, diagnostics);
  if (diagnostics.has_errors()) {
    show(diagnostics);
    return status_of(diagnostics);
  }
  const MachineOptions machine_options{
      .strict = options_.strict,
      .max_depth = options_.max_depth.value_or(MachineOptions::kDefaultDepth),
      .kernels = options_.kernels,
      .most_work = limit.most_work,
      .enough = limit.enough};
  Machine machine(program, std::move(constants), backend, io, machine_options);
  Observers observers(options_, program, backend);
  observers.attach(machine);

  const RunResult result = machine.run();

  const int status = conclude(result, machine);
  observers.report(result.seconds);
  return status;
}

int Command::finish(const RunResult& result, const Machine& machine, IoOperations& io) {
  switch (result.outcome) {
    case Outcome::Failed:
    case Outcome::Departed:
      return fail(*result.failure);
    case Outcome::Interrupted:
      return interrupted(result.signal);
    default:
      break;
  }
  if (options_.report_time)
    std::fputs(fmt::format("elapsed time = {:f} seconds\n", result.seconds).c_str(), stderr);
  return result.outcome == Outcome::Exited ? 0 : print_results(machine, io);
}

int Command::print_results(const Machine& machine, IoOperations& io) {
  try {
    for (const cvl::Value& value : machine.stack()) io.print(value);
    io.flush();
  } catch (const cvl::Failure&) {
    // A signal ends the printing of long results too.
    const int signal = pending_signal.load();
    if (signal != 0) return interrupted(signal);
    throw;
  }
  return 0;
}

int Command::interrupted(int signal) {
  if (signal != SIGALRM) return kSignalStatus + signal;
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::TimeLimit;
  diagnostic.message = fmt::format("the time limit of {} seconds was reached", options_.time_limit);
  diagnostic.hint = "raise the limit with --timeout";
  return fail(diagnostic);
}

int Command::print_information(std::string_view text) {
  const int error = write_fully(STDOUT_FILENO, text);
  if (error == 0) return 0;
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::OutputFailed;
  diagnostic.message = fmt::format("cannot write to standard output: {}", system_message(error));
  return fail(diagnostic);
}

int Command::fail(const Diagnostic& diagnostic) {
  const std::string text = options_.json_diagnostics
                               ? json_line(diagnostic, source_.get())
                               : vcode::render(diagnostic, source_.get(), rendering());
  std::fputs(text.c_str(), stderr);
  return status_of(diagnostic.code);
}

void Command::show(const Diagnostics& diagnostics) {
  if (diagnostics.all().empty()) return;
  if (!options_.json_diagnostics) {
    std::fputs(vcode::render(diagnostics, source_.get(), rendering()).c_str(), stderr);
    return;
  }
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    std::fputs(json_line(diagnostic, source_.get()).c_str(), stderr);
  }
}

}  // namespace

int run_command(std::span<const std::string> arguments) noexcept {
  return guarded("vinterp", [&] { return Command().run(arguments); });
}

}  // namespace vinterp
