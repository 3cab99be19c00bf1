// The machine: runs a linked program on a stack of values with the help of a vector library.
//
// Every instruction checks the depth of the stack, the types and the lengths of its operands, so
// that no program can do harm whether it was verified or not. Failures end the run and come back as
// a diagnostic; nothing is thrown but std::bad_alloc. Single-threaded; two machines may live in one
// process.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "cvl/backend.hpp"
#include "cvl/failure.hpp"
#include "machine/decoded.hpp"
#include "machine/kernel_table.hpp"
#include "machine/observer.hpp"
#include "machine/value_stack.hpp"
#include "machine/warm_up.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/program.hpp"

namespace vinterp {

class IoOperations;

struct MachineOptions {
  bool strict = false;  // -c: elementwise operands must have equal lengths
  std::size_t max_depth = std::numeric_limits<std::size_t>::max();  // of nested calls
  /// Failures name the VCODE operation, function and calls. Without, whoever knows a source text
  /// that the program was made from says that in its terms, from RunResult::at and calls.
  bool vcode_terms = true;
  KernelUse kernels = KernelUse::Always;
  /// The run ends before it would do more than this: elements of the longest operand of each vector
  /// instruction, and kInstructionWork for the instruction itself. A limited run also ends before
  /// an instruction with more than kLongest elements, for the sake of the memory that it would
  /// take.
  std::uint64_t most_work = kUnlimitedWork;
  /// Asked again and again when that much has been done: is it enough? Empty: yes.
  std::function<bool()> enough{};

  /// What commands allow by default, far beyond what programs need whose recursion ends.
  static constexpr std::size_t kDefaultDepth = 1'000'000;
  static constexpr std::uint64_t kUnlimitedWork = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t kInstructionWork = 64;
  static constexpr std::int64_t kLongest = 1 << 24;
};

enum class Outcome {
  Returned,  // the entry function returned: the stack holds the results
  Exited,    // EXIT
  Failed,
  Interrupted,  // by the signal in RunResult::signal (SIGALRM: the time limit)
  OutOfWork,    // MachineOptions::most_work, or more has been read than is kept for another run
  Departed,     // begun anew, it does something else than it did (Departure): `failure` says that
};

struct RunResult {
  Outcome outcome = Outcome::Returned;
  std::optional<vcode::Diagnostic> failure;  // when Failed or Departed
  int signal = 0;                            // when Interrupted
  double seconds = 0;
  std::uint32_t at = 0;              // when Exited or Failed: the instruction
  std::vector<std::uint32_t> calls;  // and the CALLs that led to it, outermost first, if known
};

class Machine {
 public:
  /// `constants` are those of the program (load_constants). The references must outlive the
  /// machine.
  Machine(const vcode::LinkedProgram& program, std::vector<cvl::Value> constants,
          cvl::Backend& backend, IoOperations& io, const MachineOptions& options);

  /// Adds an observer, which must outlive the machine.
  void observe(Observer& observer) { observers_.push_back(&observer); }

  /// Runs the program from its entry function with an empty stack.
  RunResult run();

  /// What lies on the stack, bottom first: after a run that returned, its results.
  std::span<const cvl::Value> stack() const { return stack_.values(); }

 private:
  using Clock = std::chrono::steady_clock;

  template <bool kObserved>
  Outcome loop();
  RunResult run_to_end();
  Outcome guarded_loop();

  void run_vector(const Decoded& step);
  void count_work(const TypedOp& op, const cvl::Value* operands);
  bool run_kernel(const Decoded& step);
  bool prepare(LoadedKernel& kernel, const cvl::Value* operands);
  void run_io(const Decoded& step);
  void limit_record();
  bool branch_taken(const Decoded& step);
  const TypedOp& op_of(const Decoded& step) const { return code_.ops[step.op]; }
  void check_block(const Decoded& step) const;
  void stop_timer();
  void seed(const Decoded& step);

  [[noreturn]] void fail_underflow(const Decoded& step) const;
  [[noreturn]] void fail_block(const Decoded& step) const;
  [[noreturn]] void fail_type(const TypedOp& op, const cvl::Value* operands) const;
  [[noreturn]] void fail_kernel_underflow(const LoadedKernel& kernel) const;
  [[noreturn]] void fail_kernel_type(const LoadedKernel& kernel, const cvl::Value* operands) const;
  bool exits(const cvl::Failure& failure, std::uint32_t at) const;
  [[noreturn]] void fail_no_spec(const LoadedKernel& kernel) const;
  const cvl::Vector& scalar_operand(const Decoded& step);

  void observe_start();
  void observe_before(const Decoded& step, std::uint32_t at);
  std::size_t operand_count(const Decoded& step) const;
  void observe_after(const Decoded& step);
  void add_to_step(const Decoded& step, std::size_t count);

  const vcode::LinkedProgram& program_;
  std::vector<cvl::Value> constants_;
  cvl::Backend& backend_;
  IoOperations& io_;
  MachineOptions options_;
  DecodedProgram code_;
  ValueStack stack_;
  CallStack calls_;
  std::vector<LoadedKernel> kernels_;
  cvl::Value results_[vcode::kMaxResults];  // of the running instruction
  std::vector<cvl::Value> kernel_results_;  // of the running kernel
  std::uint32_t at_ = 0;                    // the running instruction
  Clock::time_point timer_{};
  bool timer_started_ = false;
  std::uint64_t work_ = 0;  // counted only if it is limited

  // Used only when there are observers.
  std::vector<Observer*> observers_;
  std::vector<std::uint32_t> function_of_;  // of each instruction
  bool kernel_ran_ = false;                 // the last RUN: in the library, not as SPEC
  Step step_;
  Clock::time_point step_start_;
};

}  // namespace vinterp
