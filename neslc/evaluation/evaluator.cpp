#include "neslc/evaluation/evaluator.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "fcode-opt/stopping.hpp"
#include "ir/tools.hpp"
#include "machine/adaptive.hpp"
#include "machine/ahead.hpp"
#include "machine/constants.hpp"
#include "machine/interrupt.hpp"
#include "neslc/evaluation/source_map.hpp"
#include "neslc/evaluation/value_text.hpp"
#include "neslc/flatten/value.hpp"
#include "vcode/link.hpp"
#include "vcode/printer.hpp"

namespace neslc {
namespace {

/// Thrown when the constants of a program cannot be loaded.
struct LoadFailure {
  vcode::Diagnostic diagnostic;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

ir::GivenShape shape_of(const cvl::Value& value) {
  ir::GivenShape shape;
  if (value.type() != vcode::Type::Segdes) {
    shape.length = value.vector().length;
    return shape;
  }
  const cvl::Segdes& segdes = value.segdes();
  shape.length = segdes.count;
  shape.described = segdes.total;
  if (segdes.uniform) shape.each = segdes.uniform_length;
  return shape;
}

/// Does it read variables of the top level?
bool has_variables(const StackCode& code) {
  return std::any_of(code.values.begin(), code.values.end(),
                     [](std::int64_t component) { return component >= 0; });
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
  if (error.diagnostic) {
    found.diagnostic = *error.diagnostic;
    found.source = error.source;
    return found;
  }
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

namespace {

/// Perhaps as too much was computed at a time.
bool was_too_much(const Evaluation& evaluation) {
  return evaluation.status == Evaluation::Status::Failed &&
         (evaluation.diagnostic->code == vcode::ErrorCode::OutOfMemory ||
          evaluation.diagnostic->code == vcode::ErrorCode::CountOverflow);
}

}  // namespace

FlatProgram Evaluator::flatten(const CheckedForm& form, bool for_optimizer, Warnings warnings) {
  CompileOptions compile_options;
  compile_options.argument_checks = options.argument_checks;
  compile_options.observed = &observed_;
  compile_options.piece_length = piece_length_.value_or(options.piece_length);
  compile_options.in_pieces = piece_length_.has_value();
  compile_options.int_bytes = backend_->widths().int_bytes;
  compile_options.for_optimizer = for_optimizer;
  while (true) {
    variables_.begin_program();
    try {
      return Compiler(session_, variables_, compile_options).compile(*form.body);
    } catch (const CompileError& error) {
      std::vector<WrittenPlace>& collected = compile_options.collected;
      if (!options.collect || !error.made_at ||
          std::find(collected.begin(), collected.end(), *error.made_at) != collected.end()) {
        throw;
      }
      collected.push_back(*error.made_at);
      if (warnings == Warnings::New) warn_of_collected(error);
    }
  }
}

void Evaluator::warn_of_collected(const CompileError& error) const {
  if (!options.warn || piece_length_) return;  // with other pieces it has been said
  const WrittenPlace& made = *error.made_at;
  vcode::Diagnostic warning = *error.diagnostic;
  warning.severity = vcode::Severity::Warning;
  warning.message = "all elements of this stream are kept in memory";
  warning.span = made.span;
  warning.function = made.function;
  warning.notes.clear();
  if (made.source == error.source) {
    warning.notes.push_back({"here they are needed a second time", error.diagnostic->span});
  }
  warning.hint = "--collect has put a `collect` here";
  options.warn(warning, made.source.get());
}

namespace {

/// Fills in the optimized code of what to_optimize() has made, unless it is stopped. Uses nothing
/// of an evaluator: another one of its threads may run it.
void optimize_code(Compiled& compiled, fcode::OptimizerOptions optimizer,
                   const std::function<bool()>& stop) {
  const auto start = std::chrono::steady_clock::now();
  optimizer.stop = [&] { return vinterp::must_end() || (stop && stop()); };
  try {
    fcode::optimize(compiled.flat.module, optimizer);
    compiled.optimized = stack_code(compiled.flat);
  } catch (const fcode::Stopped&) {  // the code as written is not going to run for long, if at all
  }
  compiled.seconds += seconds_since(start);
}

}  // namespace

Compiled Evaluator::compiled(const CheckedForm& form, Optimize optimize) {
  if (optimize == Optimize::Now && optimizes()) {
    Compiled result = to_optimize(form, Warnings::New);
    optimize_code(result, options.optimizer, {});
    return result;
  }
  const auto start = std::chrono::steady_clock::now();
  Compiled result;
  result.flat = flatten(form, false);
  result.code = stack_code(result.flat);
  result.seconds = seconds_since(start);
  return result;
}

/// The form as the optimizer wants it, not optimized yet.
Compiled Evaluator::to_optimize(const CheckedForm& form, Warnings warnings) {
  const auto start = std::chrono::steady_clock::now();
  Compiled result;
  result.flat = flatten(form, true, warnings);
  result.code = stack_code(result.flat);
  for (std::uint32_t i = 0; i < result.flat.components.size(); ++i) {
    const std::int64_t component = result.flat.components[i];
    if (component < 0) continue;
    result.flat.module.given_shapes[i] =
        shape_of(variables_.components()[static_cast<std::size_t>(component)]);
  }
  result.seconds = seconds_since(start);
  return result;
}

bool Evaluator::optimizes() const {
  const bool observed = options.when_it_pays && options.profile != nullptr;
  return options.optimizer.level > 0 && !options.cost && !observed;
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
          .recorded = optimizes(),
          .max_depth = options.max_depth,
          .trace_file = options.trace_file,
          .kernels = options.kernels,
          .limit = {}};
}

/// What `action` gives for the compiled form, or why it cannot be had.
Evaluation Evaluator::with_compiled(const CheckedForm& form, Optimize optimize,
                                    const std::function<Evaluation(Compiled)>& action) {
  Evaluation result;
  try {
    Compiled made = compiled(form, optimize);
    const auto source = made.flat.module.source;
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
  bool pieces_may_help = true;
  Evaluation result = evaluate_once(form, pieces_may_help);
  constexpr std::int64_t kShorter = 64;
  std::int64_t length = options.piece_length;
  while (pieces_may_help && length > 1) {
    length = std::max<std::int64_t>(1, length / kShorter);
    piece_length_ = length;
    Evaluation again = evaluate_once(form, pieces_may_help);
    piece_length_.reset();
    if (!was_too_much(again)) return again;
  }
  return result;
}

/// `pieces_may_help`: has too much been computed at a time, and can it be done again?
Evaluation Evaluator::evaluate_once(const CheckedForm& form, bool& pieces_may_help) {
  const auto optimize = options.when_it_pays && optimizes() ? Optimize::Later : Optimize::Now;
  pieces_may_help = false;
  return with_compiled(form, optimize, [&](Compiled compiled) {
    ProgramStreams streams(*backend_, execution_options());
    Evaluation result = evaluate_compiled(form, compiled, optimize, streams);
    const bool has_shorter_pieces = !piece_length_ || compiled.flat.has_streams;
    pieces_may_help = was_too_much(result) && has_shorter_pieces && streams.io.can_be_repeated();
    return result;
  });
}

Evaluation Evaluator::evaluate_compiled(const CheckedForm& form, Compiled& compiled,
                                        Optimize optimize, ProgramStreams& streams) {
  if (optimize == Optimize::Later && !shows_times(compiled.code)) {
    // The values of variables are this thread's, which then flattens, too. Otherwise the other one
    // does: nothing here uses the session, or the variables, before it has ended.
    std::optional<Compiled> prepared;
    vinterp::Ahead<Compiled> ahead([&](const std::function<bool()>& stop) {
      Compiled made = prepared ? *std::exchange(prepared, {}) : to_optimize(form, Warnings::Said);
      optimize_code(made, options.optimizer, stop);
      return made;
    });
    bool is_to_prepare = has_variables(compiled.code);
    const auto optimized_is_ready = [&] {
      if (std::exchange(is_to_prepare, false)) prepared = to_optimize(form, Warnings::Said);
      return ahead.ready();
    };
    if (std::optional<Evaluation> evaluation =
            run_if_short(compiled, streams, optimized_is_ready)) {
      return std::move(*evaluation);
    }
    const double seconds = compiled.seconds;
    compiled = ahead.take();
    compiled.seconds += seconds;
  }
  Executable executable = load(compiled.main());
  return run(compiled, executable, streams);
}

/// Does the program say how long its parts take, as `set profile` asks for? All of it runs in the
/// same form then.
bool Evaluator::shows_times(const StackCode& code) const {
  const bool asked = std::any_of(observed_.begin(), observed_.end(),
                                 [](const auto& function) { return function.second.profile; });
  if (!asked) return false;
  const std::vector<vcode::Function>& functions = code.program.functions;
  return std::any_of(functions.begin(), functions.end(), [](const vcode::Function& function) {
    return std::any_of(function.code.begin(), function.code.end(), [](const auto& instruction) {
      return instruction.op == vcode::Op::StopTimer;
    });
  });
}

std::optional<Evaluation> Evaluator::run_if_short(const Compiled& compiled, ProgramStreams& streams,
                                                  std::function<bool()> optimized_is_ready) {
  const Executable executable = load(compiled.code);
  const vinterp::WorkLimit limit = vinterp::limit_as_written(instructions(compiled.code), *backend_,
                                                             std::move(optimized_is_ready));
  std::optional<Execution> execution =
      execute_if_short(executable, *backend_, execution_options(), limit, streams);
  if (!execution) return std::nullopt;
  return conclude(compiled, executable.program, {std::move(*execution), {}}, options.profile);
}

/// `executable` is `compiled.main()`, loaded.
Evaluation Evaluator::run(const Compiled& compiled, Executable& executable,
                          ProgramStreams& streams) {
  AsWritten as_written;
  if (compiled.optimized) as_written = [&] { return load(compiled.code); };
  Executions executions = execute(executable, as_written, *backend_, execution_options(), streams);
  return conclude(compiled, executable.program, std::move(executions), options.profile);
}

Evaluation Evaluator::evaluate_while(const CheckedForm& form,
                                     const std::function<bool(Evaluation)>& again) {
  return with_compiled(form, Optimize::Now, [&](Compiled compiled) {
    Executable executable = load(compiled.main());
    while (true) {
      ProgramStreams streams(*backend_, execution_options());
      Evaluation evaluation = run(compiled, executable, streams);
      if (evaluation.status != Evaluation::Status::Done) return evaluation;
      if (!again(std::move(evaluation))) return Evaluation();
    }
  });
}

Evaluation Evaluator::evaluate_watched(const CheckedForm& form, const MakeWatcher& make_watcher) {
  return with_compiled(form, Optimize::Later, [&](Compiled compiled) {
    const Executable executable = load(compiled.code);
    const SourceMap places(compiled.flat.module, executable.program);
    const auto watcher = make_watcher(places);
    ExecutionOptions watched = execution_options();
    watched.watcher = watcher.get();
    watched.recorded = false;
    ProgramStreams streams(*backend_, watched);
    return conclude(compiled, executable.program,
                    {execute(executable, *backend_, watched, streams), {}}, options.profile);
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

/// Puts the values of top-level variables into the program's text.
void Evaluator::write_out_values(FlatProgram& flat) {
  ir::Module& module = flat.module;
  for (std::size_t i = 0; i < flat.components.size(); ++i) {
    if (flat.components[i] < 0) continue;
    const auto component = static_cast<std::size_t>(flat.components[i]);
    module.constants[i] = literal_of(*backend_, variables_.components()[component]);
    module.given[i] = false;
    flat.components[i] = -1;
  }
  for (ir::Function& function : module.functions) {
    ir::for_each_statement(function.body, [](ir::Statement& statement) {
      if (statement.kind == ir::Statement::Kind::Given) statement.kind = ir::Statement::Kind::Const;
    });
  }
}

std::string Evaluator::compile(const CheckedForm& form, const fcode::OptimizerOptions& optimizer,
                               fcode::OptimizerReport* report) {
  FlatProgram flat = flatten(form, optimizer.level > 0);
  write_out_values(flat);
  if (report != nullptr) report->before = fcode::measure(stack_code(flat).program);
  if (optimizer.level > 0) fcode::optimize(flat.module, optimizer, report);
  const StackCode code = stack_code(flat);
  if (report != nullptr) report->after = fcode::measure(code.program);
  return vcode::print(code.program, place_comments(flat.module, code.program));
}

}  // namespace neslc
