#include "neslc/evaluator.hpp"

#include <chrono>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "neslc/source_map.hpp"
#include "neslc/value.hpp"
#include "neslc/value_text.hpp"
#include "vcode/printer.hpp"
#include "vinterp/constants.hpp"
#include "vinterp/io_ops.hpp"
#include "vinterp/machine.hpp"
#include "vinterp/streams.hpp"

namespace neslc {
namespace {

std::string text_of(cvl::Backend& backend, const cvl::Value& codes) {
  const Column column = download(backend, codes);
  std::string text;
  for (const std::int64_t code : std::get<std::vector<std::int64_t>>(column)) {
    text += static_cast<char>(code);
  }
  return text;
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
  Evaluation result;
  try {
    const auto start = std::chrono::steady_clock::now();
    const ir::Module module = make_module(form);
    const StackCode code = generate(module, {});
    result.compile_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run(code, module, result);
  } catch (const CompileError& error) {
    result.status = Evaluation::Status::Rejected;
    result.error = compile_error(*form.form, error);
  }
  return result;
}

void Evaluator::run(const StackCode& code, const ir::Module& module, Evaluation& result) {
  vcode::Diagnostics diagnostics;
  const auto linked = vcode::link(code.program, diagnostics);
  std::vector<cvl::Value> constants;
  if (linked) constants = vinterp::load_constants(*linked, *backend_, diagnostics);
  if (diagnostics.has_errors()) {
    result.status = Evaluation::Status::Failed;
    result.diagnostic = diagnostics.all().front();
    result.source = module.sources.front();
    return;
  }
  for (std::size_t i = 0; i < module.constants.size(); ++i) {
    const std::int64_t component = module.constants[i].value;
    if (component >= 0) constants[i] = components_[static_cast<std::size_t>(component)];
  }
  backend_->seed(options.seed);
  vinterp::IoOperations io(*backend_, {.sandbox = options.sandbox}, own_streams());
  vinterp::Machine machine(*linked, std::move(constants), *backend_, io,
                           {.max_depth = options.max_depth, .vcode_terms = false});
  CostMeter meter(*linked);
  if (options.cost) machine.observe(meter);
  vinterp::Profile profile(*linked);
  if (options.profile != nullptr) machine.observe(profile);
  vinterp::RunResult run = machine.run();
  result.seconds = run.seconds;
  if (options.cost) result.cost = meter.cost();
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
    case vinterp::Outcome::Exited: {
      const auto number = static_cast<std::size_t>(cvl::read_int(*backend_, stack.back().vector()));
      const ir::Failure& failure = module.failures[number];
      result.status = Evaluation::Status::Stopped;
      result.message = failure.message.empty()
                           ? "ERROR: " + text_of(*backend_, stack[stack.size() - 2])
                           : failure.message;
      vcode::Diagnostic& diagnostic = result.diagnostic.emplace();
      diagnostic.code =
          failure.message.empty() ? vcode::ErrorCode::NeslError : vcode::ErrorCode::NeslCheck;
      diagnostic.message = result.message.substr(result.message.find(": ") + 2);
      if (diagnostic.message.ends_with('.')) diagnostic.message.pop_back();
      result.source = map.explain(diagnostic, run.at, run.calls);
      break;
    }
    case vinterp::Outcome::Failed:
      result.status = Evaluation::Status::Failed;
      result.diagnostic = std::move(run.failure);
      result.source = map.explain(*result.diagnostic, run.at, run.calls);
      break;
    case vinterp::Outcome::Interrupted:
      result.status = Evaluation::Status::Interrupted;
      result.signal = run.signal;
      break;
  }
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

std::string Evaluator::compile(const CheckedForm& form) {
  ir::Module module = make_module(form);
  for (ir::Module::Constant& constant : module.constants) {
    if (constant.value < 0) continue;
    constant.literal = literal_of(*backend_, components_[static_cast<std::size_t>(constant.value)]);
  }
  const StackCode code = generate(module, {.standalone = true});
  return vcode::print(code.program, place_comments(module, code));
}

}  // namespace neslc
