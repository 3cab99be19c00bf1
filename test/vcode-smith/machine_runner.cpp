#include "vcode-smith/machine_runner.hpp"

#include <cstring>
#include <fcntl.h>
#include <limits>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "cvl/random.hpp"
#include "machine/constants.hpp"
#include "machine/io_ops.hpp"
#include "machine/machine.hpp"

namespace smith {
namespace {

/// An unnamed file that a stream of the program reads or writes.
class Capture {
 public:
  explicit Capture(const std::string& text = {}) : file_(memfd_create("capture", MFD_CLOEXEC)) {
    if (!file_) throw std::runtime_error("no memory file");
    const ssize_t count = pwrite(file_.get(), text.data(), text.size(), 0);
    if (count != static_cast<ssize_t>(text.size())) throw std::runtime_error("short write");
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

/// All NaN are one.
template <class T>
std::uint64_t digest_of(const std::vector<std::byte>& bytes) {
  std::uint64_t digest = 0xCBF29CE484222325;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
    T element;
    std::memcpy(&element, bytes.data() + at, sizeof(T));
    if (element != element) element = std::numeric_limits<T>::quiet_NaN();
    std::uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof(T));
    digest = (digest ^ bits) * 0x9E3779B97F4A7C15;
    digest ^= digest >> 29;
  }
  return digest;
}

}  // namespace

std::string digest_line(const cvl::Value& value, cvl::Backend& backend) {
  if (value.type() == vcode::Type::Pair) {
    const cvl::PairNode& pair = *value.pair().node;
    return digest_line(pair.first, backend) + digest_line(pair.second, backend);
  }
  if (value.type() == vcode::Type::Segdes) {
    return digest_line(cvl::segdes_lengths(backend, value.segdes()), backend);
  }
  const cvl::Vector& vector = value.vector();
  const std::size_t width = backend.widths().element_bytes(vector.type);
  std::vector<std::byte> bytes(static_cast<std::size_t>(vector.length) * width);
  backend.download(vector, 0, vector.length, bytes.data());
  std::uint64_t digest = 0;
  if (vector.type == vcode::Type::Float) {
    digest = width == 8 ? digest_of<double>(bytes) : digest_of<float>(bytes);
  } else if (width == 1) {
    digest = digest_of<std::uint8_t>(bytes);
  } else {
    digest = width == 8 ? digest_of<std::int64_t>(bytes) : digest_of<std::int32_t>(bytes);
  }
  return fmt::format("{} elements, digest {:016x}\n", vector.length, digest);
}

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

MachineRun run_on_machine(const vcode::LinkedProgram& program, cvl::Backend& backend,
                          const RunSetup& setup) {
  MachineRun run;
  const Capture input(setup.input);
  const Capture output;
  const Capture error;
  std::string digests;
  try {
    vcode::Diagnostics diagnostics;
    auto constants = vinterp::load_constants(program, backend, diagnostics);
    if (diagnostics.has_errors()) {
      run.failure = diagnostics.all()[0].code;
      run.message = diagnostics.all()[0].message;
      return run;
    }
    vinterp::IoOperations io(
        backend, {.sandbox = true, .strict = setup.strict},
        vinterp::StreamTable(input.descriptor(), output.descriptor(), error.descriptor()));
    backend.seed(cvl::kDefaultSeed);
    vinterp::MachineOptions options;
    options.strict = setup.strict;
    options.kernels = setup.kernels;
    vinterp::Machine machine(program, std::move(constants), backend, io, options);
    for (vinterp::Observer* observer : setup.observers) machine.observe(*observer);
    const vinterp::RunResult result = machine.run();
    run.exited = result.outcome == vinterp::Outcome::Exited;
    if (result.failure) {
      run.failure = result.failure->code;
      run.message = result.failure->message;
      run.failed = program.code[result.at].op;
    } else if (!run.exited) {
      for (const cvl::Value& value : machine.stack()) {
        if (setup.stack == StackAs::Text) {
          io.print(value);
        } else {
          digests += digest_line(value, backend);
        }
      }
      io.flush();
    }
  } catch (const cvl::Failure& failure) {
    run.failure = failure.code();
    run.message = failure.message();
  }
  run.output = output.text() + digests;
  run.error = error.text();
  return run;
}

}  // namespace smith
