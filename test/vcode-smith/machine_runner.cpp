#include "vcode-smith/machine_runner.hpp"

#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "cvl/random.hpp"
#include "vinterp/constants.hpp"
#include "vinterp/io_ops.hpp"
#include "vinterp/machine.hpp"

namespace smith {
namespace {

/// An unnamed file that a stream of the program writes to.
class Capture {
 public:
  Capture() : file_(memfd_create("capture", MFD_CLOEXEC)) {
    if (!file_) throw std::runtime_error("no memory file");
  }
  /// A descriptor of its own for the stream that takes it over.
  int descriptor() const { return fcntl(file_.get(), F_DUPFD_CLOEXEC, 3); }
  std::string text() const {
    std::string result(static_cast<std::size_t>(lseek(file_.get(), 0, SEEK_END)), '\0');
    const ssize_t count = pread(file_.get(), result.data(), result.size(), 0);
    if (count != static_cast<ssize_t>(result.size())) throw std::runtime_error("short read");
    return result;
  }

 private:
  vinterp::FileDescriptor file_;
};

}  // namespace

std::string name_of(const std::optional<vcode::ErrorCode>& failure) {
  return failure ? std::string(vcode::info(*failure).id) : "success";
}

std::string difference_in_output(const std::string& output, const std::string& error,
                                 const MachineRun& found) {
  if (output != found.output) {
    return fmt::format("standard output\n{}instead of\n{}", found.output, output);
  }
  if (error != found.error) {
    return fmt::format("standard error\n{}instead of\n{}", found.error, error);
  }
  return {};
}

MachineRun run_on_machine(const vcode::LinkedProgram& program, cvl::Backend& backend, bool strict,
                          vinterp::KernelUse kernels,
                          const std::vector<vinterp::Observer*>& observers) {
  MachineRun run;
  const Capture output;
  const Capture error;
  try {
    vcode::Diagnostics diagnostics;
    auto constants = vinterp::load_constants(program, backend, diagnostics);
    if (diagnostics.has_errors()) {
      run.failure = diagnostics.all()[0].code;
      run.message = diagnostics.all()[0].message;
      return run;
    }
    vinterp::IoOperations io(backend, {.sandbox = true, .strict = strict},
                             vinterp::StreamTable(open("/dev/null", O_RDONLY | O_CLOEXEC),
                                                  output.descriptor(), error.descriptor()));
    backend.seed(cvl::kDefaultSeed);
    vinterp::MachineOptions options;
    options.strict = strict;
    options.kernels = kernels;
    vinterp::Machine machine(program, std::move(constants), backend, io, options);
    for (vinterp::Observer* observer : observers) machine.observe(*observer);
    const vinterp::RunResult result = machine.run();
    run.exited = result.outcome == vinterp::Outcome::Exited;
    if (result.failure) {
      run.failure = result.failure->code;
      run.message = result.failure->message;
      run.failed = program.code[result.at].op;
    } else if (!run.exited) {
      for (const cvl::Value& value : machine.stack()) io.print(value);
      io.flush();
    }
  } catch (const cvl::Failure& failure) {
    run.failure = failure.code();
    run.message = failure.message();
  }
  run.output = output.text();
  run.error = error.text();
  return run;
}

}  // namespace smith
