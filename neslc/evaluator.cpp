#include "neslc/evaluator.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "neslc/optimize.hpp"
#include "neslc/value.hpp"
#include "neslc/value_text.hpp"
#include "vcode/link.hpp"
#include "vcode/printer.hpp"
#include "vinterp/adaptive.hpp"
#include "vinterp/constants.hpp"

namespace neslc {
namespace {

/// Thrown when the constants of a program cannot be loaded.
struct LoadFailure {
  vcode::Diagnostic diagnostic;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::size_t instructions(const StackCode& code) {
  std::size_t count = 0;
  for (const vcode::Function& function : code.program.functions) count += function.code.size();
  return count;
}

}  // namespace

StaticError compile_error(const ast::Form& form, const CompileError& error) {
  StaticError found;
  found.category = error.category;
  found.name = error.name;
  found.source = form.source;
  found.diagnostic.code = error_code(error.category);
  if (error.category == Category::Type) {
    found.diagnostic.message = "a function is called that no function is known for";
    found.diagnostic.hint = "which function is called must be known when the program is compiled";
  } else {
    found.diagnostic.message = fmt::format(
        "function `{}` {}", error.name,
        error.category == Category::SerialOnly ? "is used inside an apply-to-each" : "has no code");
  }
  found.diagnostic.span = form.span;
  return found;
}

ir::Module Evaluator::make_module(const CheckedForm& form) {
  variables_.begin_program();
  CompileOptions compile_options;
  compile_options.argument_checks = options.argument_checks;
  compile_options.observed = &observed_;
  compile_options.int_bytes = backend_->widths().int_bytes;
  return Compiler(session_, variables_, compile_options).compile(*form.body);
}

Compiled Evaluator::compiled(const CheckedForm& form, Optimize optimize) {
  const auto start = std::chrono::steady_clock::now();
  Compiled result;
  result.module = make_module(form);
  result.code = generate(result.module);
  result.seconds = seconds_since(start);
  if (optimize == Optimize::Now && optimizes()) optimize_code(result);
  return result;
}

bool Evaluator::optimizes() const {
  const bool observed = options.when_it_pays && options.profile != nullptr;
  return options.optimizer.level > 0 && !options.cost && !observed;
}

void Evaluator::optimize_code(Compiled& compiled) {
  const auto start = std::chrono::steady_clock::now();
  compiled.optimized = optimize(compiled.code, options.optimizer, variables_.components());
  compiled.seconds += seconds_since(start);
}

/// The program with the values of its constants. Throws LoadFailure.
Executable Evaluator::load(const StackCode& code) {
  vcode::Diagnostics diagnostics;
  auto linked = vcode::link(code.program, diagnostics);
  std::vector<cvl::Value> constants;
  if (linked) constants = vinterp::load_constants(*linked, *backend_, diagnostics);
  if (diagnostics.has_errors()) throw LoadFailure{diagnostics.all().front()};
  for (std::size_t i = 0; i < code.values.size(); ++i) {
    if (code.values[i] < 0) continue;
    constants[i] = variables_.components()[static_cast<std::size_t>(code.values[i])];
  }
  return {std::move(*linked), std::move(constants)};
}

ExecutionOptions Evaluator::execution_options() const {
  return {.seed = options.seed,
          .cost = options.cost,
          .profile = options.profile != nullptr,
          .sandbox = options.sandbox,
          .max_depth = options.max_depth,
          .trace_file = options.trace_file,
          .kernels = options.kernels};
}

/// What `action` gives for the compiled form, or why it cannot be had.
Evaluation Evaluator::with_compiled(const CheckedForm& form, Optimize optimize,
                                    const std::function<Evaluation(Compiled)>& action) {
  Evaluation result;
  try {
    Compiled made = compiled(form, optimize);
    const auto source = made.module.sources.front();
    try {
      return action(std::move(made));
    } catch (LoadFailure& failure) {
      result.status = Evaluation::Status::Failed;
      result.diagnostic = std::move(failure.diagnostic);
      result.source = source;
    }
  } catch (const CompileError& error) {
    result.status = Evaluation::Status::Rejected;
    result.error = compile_error(*form.form, error);
  } catch (NoValue& none) {
    return std::move(none.evaluation);
  }
  return result;
}

Evaluation Evaluator::evaluate(const CheckedForm& form) {
  const auto optimize = options.when_it_pays && optimizes() ? Optimize::Later : Optimize::Now;
  return with_compiled(form, optimize, [&](Compiled compiled) {
    if (optimize == Optimize::Later) {
      const Executable as_written = load(compiled.code);
      std::optional<Execution> execution =
          vinterp::has_effects(as_written.program)
              ? execute(as_written, *backend_, execution_options())
              : execute_if_short(as_written, *backend_, execution_options(),
                                 vinterp::work_of_optimizing(instructions(compiled.code)));
      if (execution) {
        return conclude(compiled, as_written.program, {std::move(*execution), {}}, options.profile);
      }
      optimize_code(compiled);
    }
    Executable executable = load(compiled.main());
    AsWritten as_written;
    if (compiled.optimized) as_written = [&] { return load(compiled.code); };
    Executions executions = execute(executable, as_written, *backend_, execution_options());
    return conclude(compiled, executable.program, std::move(executions), options.profile);
  });
}

Evaluation Evaluator::evaluate_watched(const CheckedForm& form, const MakeWatcher& make_watcher) {
  return with_compiled(form, Optimize::Later, [&](Compiled compiled) {
    const Executable executable = load(compiled.code);
    const SourceMap places(compiled.module, compiled.code, executable.program);
    const auto watcher = make_watcher(places);
    ExecutionOptions watched = execution_options();
    watched.watcher = watcher.get();
    return conclude(compiled, executable.program, {execute(executable, *backend_, watched), {}},
                    options.profile);
  });
}

namespace {

/// The variables that a form defines, null for those without a name, and how many components each
/// one has.
struct Parts {
  std::vector<const Definition*> variables;
  std::vector<std::size_t> widths;
};

Parts parts_of(Session& session, const CheckedForm& form) {
  Parts parts;
  for (const CheckedForm::Change& change : form.changes) {
    parts.variables.push_back(change.contents.name.empty() ? nullptr : change.slot);
    // A function type has no data of open types; all others are known completely.
    std::vector<vcode::Type> types;
    append_types(session.types(), change.contents.scheme.type, types);
    parts.widths.push_back(types.size());
  }
  return parts;
}

}  // namespace

Evaluation Evaluator::start(CheckedForm form, const vinterp::Options& machine) {
  return with_compiled(form, Optimize::Now, [&](Compiled compiled) {
    const double seconds = compiled.seconds;
    Executable executable = load(compiled.main());
    std::optional<Executable> written;
    if (compiled.optimized) written = load(compiled.code);
    ExecutionOptions execution = execution_options();
    execution.trace_file.clear();  // that of the last evaluation in the foreground
    auto evaluation = std::make_unique<BackgroundEvaluation>(form.form, std::move(compiled),
                                                             std::move(executable), written,
                                                             machine, execution, *backend_);
    const auto& binding = std::get<ast::BindingForm>(form.form->node);
    evaluation->name = ast::pattern_text(*binding.pattern);
    evaluation->type = scheme_text(form.scheme);
    Parts parts = parts_of(session_, form);
    evaluation->variables = std::move(parts.variables);
    evaluation->widths = std::move(parts.widths);
    variables_.bind(std::move(evaluation));
    session_.commit(std::move(form));
    Evaluation started;
    started.compile_seconds = seconds;
    return started;
  });
}

void Evaluator::bind(CheckedForm form, const std::vector<cvl::Value>& values) {
  const Parts parts = parts_of(session_, form);
  session_.commit(std::move(form));
  variables_.bind(parts.variables, parts.widths, values);
}

void Evaluator::move_to(cvl::Backend& backend) {
  variables_.move_to(backend);
  backend_ = &backend;
}

std::string Evaluator::compile(const CheckedForm& form, const fcode::OptimizerOptions& optimizer,
                               fcode::OptimizerReport* report) {
  ir::Module module = make_module(form);
  for (ir::Module::Constant& constant : module.constants) {
    if (constant.value < 0) continue;
    constant.literal =
        literal_of(*backend_, variables_.components()[static_cast<std::size_t>(constant.value)]);
    constant.value = -1;
  }
  StackCode code = generate(module);
  if (optimizer.level > 0) code = optimize(code, optimizer, {}, report);
  return vcode::print(code.program, place_comments(module, code));
}

}  // namespace neslc
