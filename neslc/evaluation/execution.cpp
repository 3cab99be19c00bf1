#include "neslc/evaluation/execution.hpp"

#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "machine/adaptive.hpp"
#include "machine/chrome_trace.hpp"
#include "machine/streams.hpp"

namespace neslc {
namespace {

/// By a fault of the program.
bool has_failed(const vinterp::RunResult& run) {
  return run.outcome == vinterp::Outcome::Exited ||
         (run.outcome == vinterp::Outcome::Failed &&
          vcode::info(run.failure->code).error_class == vcode::ErrorClass::Runtime);
}

void write_trace(vinterp::ChromeTrace& trace, const std::string& name) {
  std::ofstream file(name, std::ios::binary);
  const bool written =
      file && trace.write([&](std::string_view text) { return static_cast<bool>(file << text); });
  if (!written || !file.flush()) {
    throw cvl::Failure(vcode::ErrorCode::OutputFailed,
                       fmt::format("cannot write `{}`", vcode::escaped(name)));
  }
}

/// The standard streams: a program that closes one closes it for itself only.
vinterp::StreamTable own_streams() {
  vinterp::prepare_standard_streams();
  const auto copy = [](int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); };
  return vinterp::StreamTable(copy(STDIN_FILENO), copy(STDOUT_FILENO), copy(STDERR_FILENO));
}

}  // namespace

ProgramStreams::ProgramStreams(cvl::Backend& backend, const ExecutionOptions& options)
    : io(backend, {.sandbox = options.sandbox, .messages = &messages, .recorded = options.recorded},
         own_streams()) {}

Execution execute(const Executable& executable, cvl::Backend& backend,
                  const ExecutionOptions& options, ProgramStreams& streams) {
  const vcode::LinkedProgram& program = executable.program;
  Execution result;
  backend.seed(options.seed);
  streams.messages.clear();
  vinterp::Machine machine(program, executable.constants, backend, streams.io,
                           {.max_depth = options.max_depth,
                            .vcode_terms = false,
                            .kernels = options.kernels,
                            .most_work = options.limit.most_work,
                            .enough = options.limit.enough});
  CostMeter meter(program);
  if (options.cost) machine.observe(meter);
  SpaceMeter space(program);
  const bool measures_space = options.cost && space.makes_pieces();
  if (measures_space) machine.observe(space);
  vinterp::Profile profile(program);
  if (options.profile) machine.observe(profile);
  std::optional<vinterp::ChromeTrace> trace;
  if (!options.trace_file.empty()) machine.observe(trace.emplace(program, backend.heap()));
  if (options.watcher != nullptr) machine.observe(*options.watcher);
  result.run = machine.run();
  result.message = streams.messages;
  if (options.cost) result.cost = meter.cost();
  if (measures_space) result.cost->space = space.space();
  if (trace) write_trace(*trace, options.trace_file);
  if (options.profile) result.profile = profile.costs();
  if (result.run.outcome == vinterp::Outcome::Returned) {
    const auto stack = machine.stack();
    result.values.assign(stack.begin(), stack.end());
  }
  return result;
}

std::optional<Execution> execute_if_short(const Executable& executable, cvl::Backend& backend,
                                          const ExecutionOptions& options,
                                          const vinterp::WorkLimit& limit,
                                          ProgramStreams& streams) {
  ExecutionOptions limited = options;
  limited.limit = limit;
  Execution result = execute(executable, backend, limited, streams);
  vinterp::EffectRecord& record = *streams.io.record();
  if (!vinterp::gives_up(result.run, record)) return result;
  record.begin_anew(vinterp::EffectRecord::Need::Again);
  return std::nullopt;
}

Executions execute(Executable& executable, const AsWritten& as_written, cvl::Backend& backend,
                   const ExecutionOptions& options, ProgramStreams& streams) {
  Executions result{execute(executable, backend, options, streams), {}};
  const vinterp::RunResult& run = result.first.run;
  const bool may_succeed = vinterp::lacked_memory(run) || run.outcome == vinterp::Outcome::Departed;
  vinterp::EffectRecord* const record = streams.io.record();
  if (!as_written || !(may_succeed || has_failed(run)) || !record->complete()) return result;
  executable.constants.clear();
  const std::optional<Executable> written = as_written();
  if (!written) return result;
  ExecutionOptions unobserved = options;
  unobserved.profile = false;
  unobserved.trace_file.clear();
  record->begin_anew(vinterp::EffectRecord::Need::LastTime);
  Execution again = execute(*written, backend, unobserved, streams);
  // A fault of the program that shows in one form only is a fault of the optimizer: not hidden.
  if (may_succeed || again.run.outcome != vinterp::Outcome::Returned) {
    result.as_written = std::move(again);
  }
  return result;
}

}  // namespace neslc
