// The process of a job.
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "cli/backends.hpp"
#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "neslc/evaluation/job_descriptors.hpp"
#include "neslc/evaluation/job_message.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace neslc {
namespace {

[[noreturn]] void refuse(std::string message) {
  throw cvl::Failure(vcode::ErrorCode::Internal, std::move(message));
}

/// What this process must not do: outlive the session, hand its descriptors on to programs that the
/// evaluation starts, stop when it writes to a terminal that others use.
void settle(pid_t session) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != session) std::_Exit(EXIT_FAILURE);  // it has ended already
  prctl(PR_SET_NAME, kJobProgram.data());
  for (const int fd : {kRequestDescriptor, kAnswerDescriptor, kLifeDescriptor}) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) refuse("this program was not started by `nesl`");
  }
  std::signal(SIGTTOU, SIG_IGN);
}

Executable load(const JobProgram& job, const std::vector<cvl::Value>& values) {
  vcode::Diagnostics diagnostics;
  auto program =
      vcode::parse(std::make_shared<const vcode::Source>("program", job.text), diagnostics);
  std::optional<vcode::LinkedProgram> linked;
  if (program) linked = vcode::link(std::move(*program), diagnostics);
  if (!linked) refuse("background: " + diagnostics.all().front().message);
  std::size_t next = 0;
  for (vcode::Instruction& instruction : linked->code) {
    if (instruction.op != vcode::Op::Const) continue;
    if (next == job.constants.size()) refuse("background: there are more constants than values");
    instruction.a = job.constants[next++];
  }
  linked->constants.resize(values.size());
  return {std::move(*linked), values};
}

void carry_out() {
  std::optional<MappedFile> file(std::in_place, kRequestDescriptor);
  MessageReader message(file->bytes());
  const JobRequest request = read_request(message);
  if (request.machine.time_limit > 0) vinterp::set_time_limit(request.machine.time_limit);
  const auto backend = vinterp::make_backend(request.machine);
  message.set_backend(*backend);
  std::vector<cvl::Value> values;
  message.get(values);
  file.reset();
  close(kRequestDescriptor);

  Executable executable = load(request.programs.front(), values);
  AsWritten as_written;
  if (request.programs.size() > 1) {
    as_written = [&] { return load(request.programs[1], values); };
  }
  ProgramStreams streams(*backend, request.options);
  const Executions result = execute(executable, as_written, *backend, request.options, streams);
  write_result(kAnswerDescriptor, result, *backend);
}

/// A failure outside of the programs: nowhere in them.
void answer(const cvl::Failure& failure) {
  Executions result;
  result.first.run.outcome = vinterp::Outcome::Failed;
  result.first.run.failure = vinterp::diagnostic_of(failure);
  result.first.run.at = kNowhere;
  if (ftruncate(kAnswerDescriptor, 0) != 0) std::_Exit(EXIT_FAILURE);
  lseek(kAnswerDescriptor, 0, SEEK_SET);
  vinterp::Options without_values;
  without_values.backend = "cpu";
  without_values.threads = 1;
  write_result(kAnswerDescriptor, result, *vinterp::make_backend(without_values));
}

}  // namespace

int run_job(pid_t session) {
  settle(session);
  try {
    carry_out();
  } catch (const cvl::Failure& failure) {
    answer(failure);
  } catch (const std::bad_alloc&) {
    answer(cvl::Failure(vcode::ErrorCode::OutOfMemory, "out of memory"));
  }
  return EXIT_SUCCESS;
}

}  // namespace neslc
