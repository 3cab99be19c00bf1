#include "neslc/evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "neslc/optimize.hpp"
#include "neslc/source_map.hpp"
#include "neslc/value.hpp"
#include "neslc/value_text.hpp"
#include "vcode/printer.hpp"
#include "vinterp/chrome_trace.hpp"
#include "vinterp/constants.hpp"
#include "vinterp/io_ops.hpp"
#include "vinterp/machine.hpp"
#include "vinterp/streams.hpp"

namespace neslc {
namespace {

/// Does the program do anything but compute, and say why it stops?
bool has_effects(const vcode::Program& program) {
  for (const vcode::Function& function : program.functions) {
    for (const vcode::Instruction& instruction : function.code) {
      const bool io = vcode::info(instruction.op).family == vcode::Family::Io;
      if (io && instruction.op != vcode::Op::Write) return true;
    }
  }
  return false;
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

/// `LABEL ( NUMBER )` as `LABEL NUMBER`.
std::string shown_value(std::string_view line) {
  const std::size_t open = line.rfind("( "), close = line.rfind(" )");
  if (open >= close || close == std::string_view::npos) return std::string(line);
  const std::string number(line.substr(open + 2, close - open - 2));
  const bool real = number.find_first_not_of("-0123456789") != std::string::npos;
  return std::string(line.substr(0, open)) + (real ? float_text(std::stod(number)) : number);
}

/// A run that ended itself with a message (stack_code.hpp).
void stop(Evaluation& result, std::string_view message) {
  constexpr std::string_view kError = "ERROR: ", kCheck = "RUNTIME ERROR: ";
  if (message.starts_with('\n')) message.remove_prefix(1);
  if (message.ends_with('\n')) message.remove_suffix(1);
  const bool is_error = message.starts_with(kError);
  // The text of `error` may have several lines.
  const std::string_view line = is_error ? message : message.substr(0, message.find('\n'));
  std::string values;
  for (std::string_view rest = message.substr(line.size()); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n', 1), rest.size());
    const std::string_view next = rest.substr(1, end - 1);
    if (!values.empty()) values += next.starts_with("and ") ? " " : ", ";
    values += shown_value(next);
    rest.remove_prefix(end);
  }
  result.status = Evaluation::Status::Stopped;
  result.message = line;
  vcode::Diagnostic& diagnostic = result.diagnostic.emplace();
  diagnostic.code = is_error ? vcode::ErrorCode::NeslError : vcode::ErrorCode::NeslCheck;
  diagnostic.message = line.substr((is_error ? kError : kCheck).size());
  if (diagnostic.message.ends_with('.')) diagnostic.message.pop_back();
  if (!values.empty()) diagnostic.notes.push_back({std::move(values), {}});
}

/// A value as a constant of a program text.
vcode::Constant literal_of(cvl::Backend& backend, const cvl::Value& value) {
  vcode::Constant constant;
  constant.type = value.type();
  std::visit([&](auto&& elements) { constant.elements = std::move(elements); },
             download(backend, value));
  const bool scalar = constant.size() == 1;
  constant.form = scalar ? vcode::ConstantForm::Scalar : vcode::ConstantForm::Vector;
  return constant;
}

/// The standard streams: a program that closes one closes it for itself only.
vinterp::StreamTable own_streams() {
  vinterp::prepare_standard_streams();
  const auto copy = [](int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 3); };
  return vinterp::StreamTable(copy(STDIN_FILENO), copy(STDOUT_FILENO), copy(STDERR_FILENO));
}

}  // namespace

StaticError compile_error(const ast::Form& form, const CompileError& error) {
  StaticError found;
  found.category = error.category;
  found.name = error.name;
  found.source = form.source;
  found.diagnostic.code = error_code(error.category);
  found.diagnostic.message = fmt::format(
      "function `{}` {}", error.name,
      error.category == Category::SerialOnly ? "is used inside an apply-to-each" : "has no code");
  found.diagnostic.span = form.span;
  return found;
}

std::int64_t Evaluator::first_component(const Definition& variable) {
  const auto found = variables_.find(&variable);
  if (found == variables_.end()) return -1;
  const auto [at, inserted] =
      first_components_.try_emplace(&variable, static_cast<std::int64_t>(components_.size()));
  if (inserted) {
    components_.insert(components_.end(), found->second.begin(), found->second.end());
  }
  return at->second;
}

ir::Module Evaluator::make_module(const CheckedForm& form) {
  first_components_.clear();
  components_.clear();
  CompileOptions compile_options;
  compile_options.argument_checks = options.argument_checks;
  compile_options.observed = &observed_;
  compile_options.int_bytes = backend_->widths().int_bytes;
  return Compiler(session_, *this, compile_options).compile(*form.body);
}

Evaluation Evaluator::evaluate(const CheckedForm& form) {
  try {
    const auto start = std::chrono::steady_clock::now();
    const ir::Module module = make_module(form);
    const StackCode code = generate(module);
    const bool optimized = options.optimizer.level > 0 && !options.cost;
    const StackCode faster = optimized ? optimize(code, options.optimizer) : StackCode();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Evaluation result = run(optimized ? faster : code, module);
    if (optimized) result = explained(std::move(result), code, module);
    result.compile_seconds = seconds;
    return result;
  } catch (const CompileError& error) {
    Evaluation result;
    result.status = Evaluation::Status::Rejected;
    result.error = compile_error(*form.form, error);
    return result;
  }
}

/// A failure of an optimized program: the program as it was written says which operation failed
/// first, what with, and how it got there. It runs again only if nobody can notice.
Evaluation Evaluator::explained(Evaluation failed, const StackCode& code,
                                const ir::Module& module) {
  const bool stopped = failed.status == Evaluation::Status::Stopped;
  const bool faulty =
      failed.status == Evaluation::Status::Failed &&
      vcode::info(failed.diagnostic->code).error_class == vcode::ErrorClass::Runtime;
  if ((!stopped && !faulty) || has_effects(code.program)) return failed;
  EvaluatorOptions unobserved = options;
  unobserved.profile = nullptr;
  unobserved.trace_file.clear();
  std::swap(options, unobserved);
  Evaluation again = run(code, module);
  std::swap(options, unobserved);
  return again.status == Evaluation::Status::Done ? std::move(failed) : std::move(again);
}

std::vector<cvl::Value> Evaluator::load_constants(const StackCode& code,
                                                  const vcode::LinkedProgram& linked,
                                                  vcode::Diagnostics& diagnostics) {
  std::vector<cvl::Value> constants = vinterp::load_constants(linked, *backend_, diagnostics);
  if (diagnostics.has_errors()) return constants;
  for (std::size_t i = 0; i < code.values.size(); ++i) {
    if (code.values[i] >= 0) constants[i] = components_[static_cast<std::size_t>(code.values[i])];
  }
  return constants;
}

Evaluation Evaluator::run(const StackCode& code, const ir::Module& module) {
  Evaluation result;
  vcode::Diagnostics diagnostics;
  const auto linked = vcode::link(code.program, diagnostics);
  std::vector<cvl::Value> constants;
  if (linked) constants = load_constants(code, *linked, diagnostics);
  if (diagnostics.has_errors()) {
    result.status = Evaluation::Status::Failed;
    result.diagnostic = diagnostics.all().front();
    result.source = module.sources.front();
    return result;
  }
  backend_->seed(options.seed);
  std::string message;
  vinterp::IoOperations io(*backend_, {.sandbox = options.sandbox, .messages = &message},
                           own_streams());
  vinterp::Machine machine(*linked, std::move(constants), *backend_, io,
                           {.max_depth = options.max_depth, .vcode_terms = false});
  CostMeter meter(*linked);
  if (options.cost) machine.observe(meter);
  vinterp::Profile profile(*linked);
  if (options.profile != nullptr) machine.observe(profile);
  std::optional<vinterp::ChromeTrace> trace;
  if (!options.trace_file.empty()) machine.observe(trace.emplace(*linked, backend_->heap()));
  vinterp::RunResult run = machine.run();
  result.seconds = run.seconds;
  if (options.cost) result.cost = meter.cost();
  if (trace) write_trace(*trace, options.trace_file);
  const SourceMap map(module, code, *linked);
  if (options.profile != nullptr) {
    options.profile->add(
        profile, *linked, [&](std::uint32_t at) { return map.profile_place(at); }, run.seconds);
  }
  const auto stack = machine.stack();
  switch (run.outcome) {
    case vinterp::Outcome::Returned:
      result.values.assign(stack.begin(), stack.end());
      break;
    case vinterp::Outcome::Exited:
      stop(result, message);
      break;
    case vinterp::Outcome::Failed:
      result.status = Evaluation::Status::Failed;
      result.diagnostic = std::move(run.failure);
      break;
    case vinterp::Outcome::Interrupted:
      result.status = Evaluation::Status::Interrupted;
      result.signal = run.signal;
      break;
  }
  if (result.diagnostic) result.source = map.explain(*result.diagnostic, run.at, run.calls);
  return result;
}

void Evaluator::bind(CheckedForm form, std::vector<cvl::Value> values) {
  std::vector<const Definition*> slots;
  std::vector<std::size_t> widths;
  for (const CheckedForm::Change& change : form.changes) {
    slots.push_back(change.slot);
    // A function type has no data of open types; all others are known completely.
    std::vector<vcode::Type> types;
    append_types(session_.types(), change.contents.scheme.type, types);
    widths.push_back(types.size());
  }
  session_.commit(std::move(form));
  std::size_t next = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto& kept = variables_[slots[i]];
    kept.assign(values.begin() + static_cast<std::ptrdiff_t>(next),
                values.begin() + static_cast<std::ptrdiff_t>(next + widths[i]));
    next += widths[i];
  }
}

const std::vector<cvl::Value>* Evaluator::value_of(const Definition& variable) const {
  const auto found = variables_.find(&variable);
  return found == variables_.end() ? nullptr : &found->second;
}

void Evaluator::move_to(cvl::Backend& backend) {
  vcode::LinkedProgram values;
  for (const auto& [definition, components] : variables_) {
    for (const cvl::Value& component : components) {
      values.constants.push_back(literal_of(*backend_, component));
    }
  }
  vcode::Diagnostics diagnostics;
  std::vector<cvl::Value> moved = vinterp::load_constants(values, backend, diagnostics);
  if (diagnostics.has_errors()) {
    const vcode::Diagnostic& reason = diagnostics.all().front();
    throw cvl::Failure(reason.code, reason.message, {}, reason.hint);
  }
  std::size_t next = 0;
  for (auto& [definition, components] : variables_) {
    for (cvl::Value& component : components) component = std::move(moved[next++]);
  }
  components_.clear();
  backend_ = &backend;
}

std::string Evaluator::compile(const CheckedForm& form, const fcode::OptimizerOptions& optimizer,
                               fcode::OptimizerReport* report) {
  ir::Module module = make_module(form);
  for (ir::Module::Constant& constant : module.constants) {
    if (constant.value < 0) continue;
    constant.literal = literal_of(*backend_, components_[static_cast<std::size_t>(constant.value)]);
    constant.value = -1;
  }
  StackCode code = generate(module);
  if (optimizer.level > 0) code = optimize(code, optimizer, report);
  return vcode::print(code.program, place_comments(module, code));
}

}  // namespace neslc
