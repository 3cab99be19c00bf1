#include "machine/machine.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "cvl/check.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "machine/io_ops.hpp"
#include "machine/scalars.hpp"
#include "machine/tuning.hpp"
#include "vcode/printer.hpp"

namespace vinterp {
namespace {

using cvl::Failure;
using cvl::Value;
using vcode::ErrorCode;
using vcode::Type;

/// Thrown by the loop's own checks, caught by guarded_loop().
struct StopRequest {
  Outcome outcome = Outcome::Interrupted;
};

void stop_if_asked() {
  if (must_end()) [[unlikely]]
    throw StopRequest();
}

std::int64_t element_count(const Value& value) {
  if (value.is_vector()) return value.vector().length;
  return value.type() == Type::Segdes ? value.segdes().count : 0;
}

std::int64_t element_bytes(const cvl::Widths& widths, const Value& value) {
  const auto bytes = [&](const cvl::Vector& vector) {
    return static_cast<std::int64_t>(cvl::stored_bytes(widths, vector));
  };
  if (value.is_vector()) return bytes(value.vector());
  if (value.type() == Type::Segdes && value.segdes().tables) {
    return bytes(value.segdes().tables->lengths);
  }
  return 0;
}

/// The earliest failure of a run that found `failure`: an instruction before that one may have
/// failed in the library's outstanding work.
Failure first_failure(cvl::Backend& backend, const Failure& failure) {
  if (failure.origin()) return failure;
  try {
    backend.synchronize();
  } catch (const Failure& earlier) {
    return earlier;
  }
  return failure;
}

/// The CALLs that lie just before the places where their RETs continue; none where there is no
/// memory for so many.
std::vector<std::uint32_t> calls_before(std::span<const std::uint32_t> places) {
  std::vector<std::uint32_t> calls;
  try {
    calls.assign(places.begin(), places.end());
  } catch (const std::bad_alloc&) {
  }
  for (std::uint32_t& call : calls) --call;
  return calls;
}

}  // namespace

Machine::Machine(const vcode::LinkedProgram& program, std::vector<Value> constants,
                 cvl::Backend& backend, IoOperations& io, const MachineOptions& options)
    : program_(program),
      constants_(std::move(constants)),
      backend_(backend),
      io_(io),
      options_(options),
      code_(decode(program, options.strict)),
      stack_(backend.heap()),
      calls_(backend.heap(), options.max_depth),
      kernels_(load_kernels(program)) {
  std::size_t most = 0;
  for (const LoadedKernel& kernel : kernels_) most = std::max<std::size_t>(most, kernel.results);
  kernel_results_.resize(most);
  backend_.stop = must_end;
}

RunResult Machine::run() {
  std::vector<const vcode::Kernel*> kernels;
  for (const LoadedKernel& kernel : kernels_) kernels.push_back(kernel.definition);
  backend_.expect(std::move(kernels));
  const struct NoneAfterwards {
    cvl::Backend& backend;
    ~NoneAfterwards() { backend.expect({}); }
  } none_afterwards{backend_};
  return run_to_end();
}

RunResult Machine::run_to_end() {
  RunResult result;
  const auto start = Clock::now();
  try {
    result.outcome = guarded_loop();
  } catch (const Failure& failure) {
    const Failure first = first_failure(backend_, failure);
    result.at = first.origin().value_or(at_);
    if (exits(first, result.at)) {
      result.outcome = Outcome::Exited;
      io_.write_message(first.message());
    } else {
      result.outcome = Outcome::Failed;
      result.failure = report_failure(first, program_, at_, calls_.places(), stack_.values(),
                                      options_.vcode_terms);
      stack_.release();  // what tells about the failure needs memory, too
    }
  }
  if (result.outcome == Outcome::Exited) result.at = at_;
  if (result.outcome == Outcome::Departed) {
    const Failure departure(ErrorCode::Internal,
                            "a program that was begun anew reads or writes something else than it "
                            "did before");
    result.at = at_;
    result.failure = report_failure(departure, program_, at_, calls_.places(), stack_.values(),
                                    options_.vcode_terms);
  }
  if (result.at == at_) result.calls = calls_before(calls_.places());
  if (result.outcome == Outcome::Interrupted) result.signal = pending_signal.load();
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

Outcome Machine::guarded_loop() {
  try {
    Outcome outcome{};
    if (observers_.empty()) {
      outcome = loop<false>();
    } else {
      observe_start();
      outcome = loop<true>();
    }
    backend_.synchronize();
    const EffectRecord* const record = io_.record();
    return record != nullptr && record->repeats() ? Outcome::Departed : outcome;
  } catch (const StopRequest& request) {
    return request.outcome;
  } catch (const Departure&) {
    return Outcome::Departed;
  } catch (const Failure&) {
    // A kernel that ended early, because it was asked to, may have failed on what it then had.
    if (must_end()) return Outcome::Interrupted;
    throw;
  }
}

// One instruction a turn. `at_` is kept in memory for the report of a failure; everything that is
// rare or slow lies in functions of its own.
template <bool kObserved>
Outcome Machine::loop() {
  const Decoded* const code = code_.code.data();
  std::uint32_t next = program_.functions[program_.entry].begin;
  for (;;) {
    const std::uint32_t at = next++;
    const Decoded& step = code[at];
    at_ = at;
    if constexpr (kObserved) observe_before(step, at);
    if (!stack_.holds(step.operands)) [[unlikely]]
      fail_underflow(step);
    switch (step.action) {
      case Action::Vector:
        run_vector(step);
        break;
      case Action::Io:
        run_io(step);
        break;
      case Action::Copy:
        check_block(step);
        stack_.reserve(step.a);
        stack_.copy(step.a, step.b);
        break;
      case Action::Pop:
        check_block(step);
        stack_.pop(step.a, step.b);
        break;
      case Action::MoveToTop:
        check_block(step);
        stack_.move_to_top(step.a, step.b);
        break;
      case Action::Pair: {
        Value* const operands = stack_.topmost(2);
        Value pair = cvl::make_pair(std::move(operands[0]), std::move(operands[1]));
        stack_.replace(2, &pair, 1);
        break;
      }
      case Action::Unpair: {
        stack_.reserve(1);
        Value* const operand = stack_.topmost(1);
        if (!types_fit(op_of(step), operand)) [[unlikely]]
          fail_type(op_of(step), operand);
        const cvl::Ref<cvl::PairNode> node = operand->pair().node;
        stack_.drop(1);
        stack_.push(node->first);
        stack_.push(node->second);
        break;
      }
      case Action::Push:
        stack_.reserve(1);
        stack_.push(constants_[step.a]);
        break;
      case Action::Call:
        stop_if_asked();  // a program that runs for ever calls for ever
        calls_.push(next);
        next = program_.functions[step.a].begin;
        if constexpr (kObserved) {
          for (Observer* observer : observers_) observer->enter_function(step.a, at);
        }
        break;
      case Action::CallAgain:
        stop_if_asked();  // the depth of calls does not end it
        next = program_.functions[step.a].begin;
        if constexpr (kObserved) {
          for (Observer* observer : observers_) observer->call_again(step.a, at);
        }
        break;
      case Action::Run:
        kernel_ran_ = run_kernel(step);
        if (kernel_ran_) break;
        calls_.push(next);  // the SPEC returns behind the RUN
        next = program_.functions[*kernels_[step.a].spec].begin;
        if constexpr (kObserved) {
          for (Observer* observer : observers_) {
            observer->enter_function(*kernels_[step.a].spec, at);
          }
        }
        break;
      case Action::Return:
        if constexpr (kObserved) {
          for (Observer* observer : observers_) observer->leave_function(function_of_[at]);
        }
        if (calls_.depth() == 0) return Outcome::Returned;
        next = calls_.pop();
        break;
      case Action::Branch:
        if (!branch_taken(step)) next = step.a;
        break;
      case Action::Jump:
        next = step.a;
        break;
      case Action::Nothing:
        break;
      case Action::Exit:
        return Outcome::Exited;
      case Action::StartTimer:
        backend_.synchronize();
        timer_ = Clock::now();
        timer_started_ = true;
        break;
      case Action::StopTimer:
        stop_timer();
        break;
      case Action::Seed:
        seed(step);
        break;
    }
    if constexpr (kObserved) observe_after(step);
  }
}

// ---- instructions ----

inline void Machine::run_vector(const Decoded& step) {
  const TypedOp& op = op_of(step);
  stack_.reserve(op.results);
  Value* const operands = stack_.topmost(op.operands);
  if (!types_fit(op, operands) || !lengths_fit(op, operands)) [[unlikely]] {
    cvl::check_operands(vcode::info(op.op), op.type, operands, options_.strict);
  }
  if (element_count(operands[0]) >= tuning.long_vector) stop_if_asked();
  if (options_.most_work != MachineOptions::kUnlimitedWork) [[unlikely]]
    count_work(op, operands);
  if (compute_scalar(op, backend_.widths(), operands)) {
    stack_.drop(1);
    return;
  }
  backend_.origin = at_;
  backend_.execute(op.op, op.type, operands, results_);
  if (op.op == vcode::Op::MakeSegdes) cvl::check_total(backend_.widths(), results_[0].segdes());
  stack_.replace(op.operands, results_, op.results);
}

[[gnu::noinline]] void Machine::count_work(const TypedOp& op, const Value* operands) {
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < op.operands; ++i) {
    const Value& operand = operands[i];
    const bool segdes = operand.type() == Type::Segdes;
    longest = std::max(longest, segdes ? operand.segdes().total : element_count(operand));
  }
  work_ += MachineOptions::kInstructionWork + static_cast<std::uint64_t>(longest);
  const bool enough = work_ > options_.most_work && (!options_.enough || options_.enough());
  if (enough || longest > MachineOptions::kLongest) {
    throw StopRequest{Outcome::OutOfWork};
  }
}

// Runs a kernel in the library; false: its SPEC has to be run.
inline bool Machine::run_kernel(const Decoded& step) {
  LoadedKernel& kernel = kernels_[step.a];
  const std::size_t count = kernel.accepted.size();
  if (!stack_.holds(count)) [[unlikely]]
    fail_kernel_underflow(kernel);
  Value* operands = stack_.topmost(count);
  if (!kernel.types_fit(operands)) [[unlikely]]
    fail_kernel_type(kernel, operands);
  stop_if_asked();
  backend_.origin = at_;
  // Where lengths do not fit, the operations of the SPEC do what they do in such a case.
  if (kernel.spec && !kernel.lengths_fit(operands)) [[unlikely]]
    return false;
  if (kernel.prepared || prepare(kernel, operands)) {
    stack_.reserve(kernel.results);
    operands = stack_.topmost(count);
    if (backend_.run(*kernel.prepared, operands, kernel_results_.data())) [[likely]] {
      stop_if_asked();  // the kernel may have been, and ended early
      stack_.replace(count, kernel_results_.data(), kernel.results);
      return true;
    }
  }
  if (!kernel.spec) [[unlikely]]
    fail_no_spec(kernel);
  return false;
}

// Asks the library, once and when it is time, to make the kernel ready.
bool Machine::prepare(LoadedKernel& kernel, const Value* operands) {
  if (kernel.asked || options_.kernels == KernelUse::Never) return false;
  const bool waits = options_.kernels == KernelUse::WhenItPays && kernel.spec;
  if (waits && !kernel.warm_up.pays(backend_, operands, backend_.kernels_pay_after())) return false;
  kernel.asked = true;
  kernel.prepared = backend_.prepare(*kernel.definition);
  return kernel.prepared != nullptr;
}

void Machine::run_io(const Decoded& step) {
  const TypedOp& op = op_of(step);
  stack_.reserve(op.results);
  Value* const operands = stack_.topmost(op.operands);
  if (!types_fit(op, operands)) fail_type(op, operands);
  if (options_.most_work != MachineOptions::kUnlimitedWork) count_work(op, operands);
  backend_.origin = at_;
  backend_.synchronize();  // nothing may be read or written after a failure
  io_.execute(op.op, op.type, operands, results_);
  stop_if_asked();
  stack_.replace(op.operands, results_, op.results);
  limit_record();
}

// Where much has been read, a limited run ends, which can be begun anew as long as all of it is
// kept; another run goes on without keeping it.
void Machine::limit_record() {
  EffectRecord* const record = io_.record();
  if (record == nullptr || !record->is_full()) return;
  if (options_.most_work != MachineOptions::kUnlimitedWork) throw StopRequest{Outcome::OutOfWork};
  record->close();
}

inline bool Machine::branch_taken(const Decoded& step) {
  const cvl::Vector& flag = scalar_operand(step);
  const bool taken = flag.form == cvl::Form::Inline ? *flag.inline_elements<std::uint8_t>() != 0
                                                    : cvl::read_bool(backend_, flag);
  stack_.drop(1);
  return taken;
}

inline void Machine::check_block(const Decoded& step) const {
  // Both are 32-bit numbers: their sum does not wrap around.
  if (!stack_.holds(std::uint64_t{step.a} + step.b)) [[unlikely]]
    fail_block(step);
}

inline const cvl::Vector& Machine::scalar_operand(const Decoded& step) {
  const Value* const operand = stack_.topmost(1);
  if (!types_fit(op_of(step), operand)) [[unlikely]]
    fail_type(op_of(step), operand);
  if (operand->vector().length != 1) [[unlikely]] {
    throw Failure(ErrorCode::NotAScalar,
                  fmt::format("`{}` needs a {} of length 1, found length {}",
                              vcode::print(program_.code[at_], program_),
                              vcode::type_name(operand->type()), operand->vector().length));
  }
  return operand->vector();
}

void Machine::stop_timer() {
  backend_.synchronize();
  const double seconds =
      timer_started_ ? std::chrono::duration<double>(Clock::now() - timer_).count() : 0.0;
  stack_.reserve(1);
  stack_.push(io_.elapsed(seconds));
  limit_record();
}

void Machine::seed(const Decoded& step) {
  const std::int64_t seed = cvl::read_int(backend_, scalar_operand(step));
  backend_.seed(static_cast<std::uint64_t>(seed));
  stack_.drop(1);
  stack_.push(cvl::make_bool(true));
}

// ---- failures ----

[[gnu::cold, gnu::noinline]] void Machine::fail_underflow(const Decoded& step) const {
  throw Failure(ErrorCode::StackUnderflow, fmt::format("`{}` needs {} values, the stack has {}",
                                                       vcode::print(program_.code[at_], program_),
                                                       step.operands, stack_.size()));
}

[[gnu::cold, gnu::noinline]] void Machine::fail_block(const Decoded& step) const {
  throw Failure(ErrorCode::StackUnderflow,
                fmt::format("`{}` reaches {} values down, the stack has {}",
                            vcode::print(program_.code[at_], program_),
                            std::uint64_t{step.a} + step.b, stack_.size()));
}

[[gnu::cold, gnu::noinline]] void Machine::fail_type(const TypedOp& op,
                                                     const Value* operands) const {
  const vcode::OpInfo& row = vcode::info(op.op);
  std::size_t i = 0;
  while (((op.accepted[i] >> static_cast<unsigned>(operands[i].type())) & 1u) != 0) ++i;
  const Type expected = vcode::operand_type(row.operands[i], op.type).value_or(Type::Int);
  throw Failure(ErrorCode::TypeMismatch,
                fmt::format("`{}` needs a {} as operand {}, found {}",
                            vcode::print(program_.code[at_], program_), vcode::type_name(expected),
                            i, vcode::type_name(operands[i].type())));
}

[[gnu::cold, gnu::noinline]] void Machine::fail_kernel_underflow(const LoadedKernel& kernel) const {
  throw Failure(ErrorCode::StackUnderflow,
                fmt::format("`RUN {}` needs {} values, the stack has {}", kernel.definition->name,
                            kernel.accepted.size(), stack_.size()));
}

[[gnu::cold, gnu::noinline]] void Machine::fail_kernel_type(const LoadedKernel& kernel,
                                                            const Value* operands) const {
  std::size_t i = 0;
  while (((kernel.accepted[i] >> static_cast<unsigned>(operands[i].type())) & 1u) != 0) ++i;
  const vcode::KernelParameter input = kernel.definition->inputs[i];
  throw Failure(ErrorCode::TypeMismatch,
                fmt::format("`RUN {}` needs a {} as operand {}, found {}", kernel.definition->name,
                            vcode::type_name(vcode::parameter_type(*kernel.definition, input)), i,
                            vcode::type_name(operands[i].type())));
}

// Is the failure that of a check, at instruction `at`, which ends the program without an error?
bool Machine::exits(const Failure& failure, std::uint32_t at) const {
  if (failure.code() != ErrorCode::AssertionFailed || code_.code[at].action != Action::Run)
    return false;
  const std::vector<vcode::Binding>& bindings = kernels_[code_.code[at].a].definition->bindings;
  return std::any_of(bindings.begin(), bindings.end(), [&](const vcode::Binding& binding) {
    return binding.exits && binding.message == failure.message();
  });
}

[[gnu::cold, gnu::noinline]] void Machine::fail_no_spec(const LoadedKernel& kernel) const {
  throw Failure(ErrorCode::NoSpec,
                options_.kernels != KernelUse::Never
                    ? fmt::format("the vector library `{}` cannot run the kernel `{}`, which has "
                                  "no SPEC",
                                  backend_.name(), kernel.definition->name)
                    : fmt::format("the kernel `{}` has no SPEC to run", kernel.definition->name),
                {}, options_.kernels != KernelUse::Never ? "" : "leave out --no-kernels");
}

// ---- observers ----

void Machine::observe_start() {
  function_of_.resize(program_.code.size());
  for (std::uint32_t f = 0; f < program_.functions.size(); ++f) {
    for (std::uint32_t at = program_.functions[f].begin; at < program_.functions[f].end; ++at) {
      function_of_[at] = f;
    }
  }
  const std::uint32_t begin = program_.functions[program_.entry].begin;
  for (Observer* observer : observers_) observer->enter_function(program_.entry, begin);
}

void Machine::observe_before(const Decoded& step, std::uint32_t at) {
  step_.instruction = at;
  step_.function = function_of_[at];
  step_.code = &program_.code[at];
  step_.op = &vcode::info(op_of(step).op);
  step_.stack = stack_.values();
  step_.operand_count = static_cast<int>(operand_count(step));
  step_.result_count = op_of(step).results;
  step_.depth = calls_.depth();
  step_.ran_kernel = false;
  step_.elements = 0;
  step_.bytes = 0;
  add_to_step(step, operand_count(step));
  for (Observer* observer : observers_) observer->before(step_);
  step_start_ = Clock::now();
}

void Machine::observe_after(const Decoded& step) {
  const bool ran_kernel = step.action == Action::Run && kernel_ran_;
  if (step.action == Action::Vector || ran_kernel) backend_.synchronize();
  const double seconds = std::chrono::duration<double>(Clock::now() - step_start_).count();
  step_.stack = stack_.values();
  step_.ran_kernel = ran_kernel;
  if (step.action == Action::Run) {
    // A SPEC counts by its instructions.
    step_.result_count = ran_kernel ? static_cast<int>(kernels_[step.a].results) : 0;
    if (!ran_kernel) step_.elements = step_.bytes = 0;
  }
  add_to_step(step, static_cast<std::size_t>(step_.result_count));
  for (Observer* observer : observers_) observer->after(step_, seconds);
}

std::size_t Machine::operand_count(const Decoded& step) const {
  return step.action == Action::Run ? kernels_[step.a].accepted.size() : step.operands;
}

void Machine::add_to_step(const Decoded& step, std::size_t count) {
  if (step.action != Action::Vector && step.action != Action::Io && step.action != Action::Run) {
    return;
  }
  for (std::size_t i = step_.stack.size() - std::min(count, step_.stack.size());
       i < step_.stack.size(); ++i) {
    step_.elements = std::max(step_.elements, element_count(step_.stack[i]));
    step_.bytes += element_bytes(backend_.widths(), step_.stack[i]);
  }
}

}  // namespace vinterp
