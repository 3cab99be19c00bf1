// Any text: parsed, linked, verified and, if it is a program, run within tight limits. Whatever
// happens is a diagnostic, never a crash, and no vector memory is left over.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <limits>
#include <thread>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"
#include "machine/constants.hpp"
#include "machine/interrupt.hpp"
#include "machine/io_ops.hpp"
#include "machine/machine.hpp"
#include "support.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"
#include "vcode/verifier.hpp"

using namespace vcode;

namespace {

constexpr std::size_t kMemory = std::size_t{64} << 20;
constexpr std::size_t kDepth = 10'000;
constexpr auto kTimeLimit = std::chrono::milliseconds(500);
// A vector in compact form costs no memory however long it is, but a sum over it takes its time.
constexpr std::int64_t kGreatestNumber = 1'000'000;

/// Asks runs that take too long to end, as the time limit of the interpreter does. The signal
/// itself belongs to the fuzzer here.
class Watchdog {
 public:
  void start() {
    vinterp::pending_signal = 0;
    deadline_ = (Clock::now() + kTimeLimit).time_since_epoch().count();
  }
  void stop() { deadline_ = kNever; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr Clock::rep kNever = std::numeric_limits<Clock::rep>::max();

  std::atomic<Clock::rep> deadline_{kNever};
  std::jthread thread_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      if (Clock::now().time_since_epoch().count() > deadline_) vinterp::pending_signal = SIGALRM;
    }
  }};
};

bool is_great(std::int64_t number) {
  return number > kGreatestNumber || number < -kGreatestNumber;
}

bool has_great_numbers(const Kernel& kernel) {
  return std::any_of(kernel.bindings.begin(), kernel.bindings.end(), [](const Binding& binding) {
    return std::any_of(binding.elements.nodes.begin(), binding.elements.nodes.end(),
                       [](const ThunkNode& node) { return is_great(node.int_value); });
  });
}

bool has_great_numbers(const LinkedProgram& program) {
  for (const LinkedKernel& kernel : program.kernels) {
    if (has_great_numbers(kernel.definition)) return true;
  }
  return std::any_of(program.constants.begin(), program.constants.end(), [](const Constant& c) {
    const auto* ints = std::get_if<std::vector<std::int64_t>>(&c.elements);
    return ints != nullptr && std::any_of(ints->begin(), ints->end(), is_great);
  });
}

int null_device(int flags) {
  return open("/dev/null", flags | O_CLOEXEC);
}

void run(const LinkedProgram& program, cvl::Backend& backend, bool strict,
         vinterp::KernelUse kernels) {
  Diagnostics diagnostics;
  auto constants = vinterp::load_constants(program, backend, diagnostics);
  if (diagnostics.has_errors()) return;
  vinterp::IoOperations io(
      backend, {.sandbox = true, .strict = strict},
      vinterp::StreamTable(null_device(O_RDONLY), null_device(O_WRONLY), null_device(O_WRONLY)));
  vinterp::MachineOptions options;
  options.strict = strict;
  options.max_depth = kDepth;
  options.kernels = kernels;
  vinterp::Machine machine(program, std::move(constants), backend, io, options);
  static Watchdog watchdog;
  watchdog.start();
  const vinterp::RunResult result = machine.run();
  watchdog.stop();
  if (result.failure) render(*result.failure, program.source.get(), {});
  if (result.outcome != vinterp::Outcome::Returned) return;
  for (const cvl::Value& value : machine.stack()) io.print(value);
  io.flush();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = fuzzing::make_source(data, size);
  Diagnostics diagnostics;
  auto parsed = parse(source, diagnostics);
  if (!parsed) return 0;
  const auto program = link(std::move(*parsed), diagnostics);
  if (!program || has_great_numbers(*program)) return 0;
  // Refused or not: the machine must stand what the verifier refuses too.
  verify(*program, diagnostics);

  static cvl::cpu::CpuBackend backend(
      {.widths = {}, .threads = 2, .memory_limit = kMemory, .seed = cvl::kDefaultSeed, .isa = {}});
  try {
    run(*program, backend, size % 2 == 0, static_cast<vinterp::KernelUse>(size % 3));
  } catch (const cvl::Failure& failure) {
    fuzzing::check(failure.code() != ErrorCode::Internal, "no failure is internal");
  }
  fuzzing::check(backend.heap().statistics().live_bytes == 0, "no vector memory is left over");
  return 0;
}
