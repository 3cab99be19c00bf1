// Runs checked forms, in this process or in the background, and keeps the values of top-level
// variables.
//
// Values stay where the vector library has them: a variable is a constant of the programs that use
// it, and is never printed and read again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "cvl/backend.hpp"
#include "fcode-opt/optimizer.hpp"
#include "machine/line_profile.hpp"
#include "machine/observer.hpp"
#include "neslc/evaluation/evaluation.hpp"
#include "neslc/evaluation/source_map.hpp"
#include "neslc/evaluation/variables.hpp"
#include "neslc/flatten/compiler.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

inline fcode::OptimizerOptions not_optimized() {
  fcode::OptimizerOptions options;
  options.level = fcode::kLeastLevel;
  return options;
}

struct EvaluatorOptions {
  bool argument_checks = true;
  fcode::OptimizerOptions optimizer = not_optimized();  // not when cost is measured
  /// Optimize only what turns out to have much to do; not what is profiled, so that each operation
  /// is found where it was written.
  bool when_it_pays = false;
  std::uint64_t seed = 1;  // of RAND, at the start of every evaluation
  bool cost = false;       // measure it
  bool sandbox = false;    // no files, no processes
  std::size_t max_depth = vinterp::MachineOptions::kDefaultDepth;  // of nested calls
  vinterp::LineProfile* profile = nullptr;                         // collects all evaluations
  std::int64_t piece_length = kPieceLength;                        // of streams, in elements
  bool collect = false;  // keep the elements of streams that are needed a second time
  /// Gets warnings.
  std::function<void(const vcode::Diagnostic&, const vcode::Source*)> warn{};
  std::string trace_file;  // gets the Chrome trace of the last evaluation; empty: none
  vinterp::KernelUse kernels = vinterp::KernelUse::WhenItPays;
};

/// The error of a form that cannot be compiled after all.
StaticError compile_error(const ast::Form& form, const CompileError& error);

/// Makes what watches a run.
using MakeWatcher = std::function<std::unique_ptr<vinterp::Observer>(const SourceMap& places)>;

class Evaluator {
 public:
  Evaluator(Session& session, cvl::Backend& backend)
      : session_(session), backend_(&backend), variables_(backend) {}

  EvaluatorOptions options;

  /// REQUIRES: an expression or a binding. Changes nothing but the state of the backend. Waits for
  /// the variables that it needs.
  ///
  /// What the memory cannot hold is computed once more, if all that has been done so far can be
  /// done again: what is computed of streams in shorter pieces, and each apply-to-each in pieces.
  Evaluation evaluate(const CheckedForm& form);
  /// The same again and again, compiled once and optimized from the start: as long as an evaluation
  /// is Done, and `again`, which gets it, asks for more. Returns one that is not Done, or an empty
  /// one that is.
  Evaluation evaluate_while(const CheckedForm& form, const std::function<bool(Evaluation)>& again);
  /// As evaluate(), not optimized, for an observer of the run that knows where its instructions
  /// come from.
  Evaluation evaluate_watched(const CheckedForm& form, const MakeWatcher& make_watcher);
  /// Commits the form, and keeps the values for its variables.
  void bind(CheckedForm form, const std::vector<cvl::Value>& values);
  /// Commits a binding and evaluates it in another process, with the backend and the limits of
  /// `machine`. Done: it has started. Throws cvl::Failure if it cannot.
  Evaluation start(CheckedForm form, const vinterp::Options& machine);

  /// A program that needs no other input, optimized: the text of VCODE, or of FCODE if there are
  /// kernels. Comments say which line of the program the instructions come from. `report` may be
  /// null. Throws CompileError and NoValue; flatten() too.
  std::string compile(const CheckedForm& form, const fcode::OptimizerOptions& optimizer,
                      fcode::OptimizerReport* report = nullptr);
  /// Have the warnings about a form been shown before?
  enum class Warnings { New, Said };
  /// The intermediate form of an expression, to be run as it is or `for_optimizer`.
  FlatProgram flatten(const CheckedForm& form, bool for_optimizer = false,
                      Warnings warnings = Warnings::New);

  cvl::Backend& backend() { return *backend_; }
  Variables& variables() { return variables_; }
  /// How a function is observed from now on.
  ObservedFunction& observe(const Definition& function) { return observed_[&function]; }
  const ObservedFunctions& observed() const { return observed_; }
  /// Goes on with another backend (Variables::move_to).
  void move_to(cvl::Backend& backend);

 private:
  enum class Optimize { Now, Later };
  Evaluation evaluate_once(const CheckedForm& form, bool& pieces_may_help);
  Evaluation evaluate_compiled(const CheckedForm& form, Compiled& compiled, Optimize optimize,
                               ProgramStreams& streams);
  void warn_of_collected(const CompileError& error) const;
  Compiled compiled(const CheckedForm& form, Optimize optimize);
  Compiled to_optimize(const CheckedForm& form, Warnings warnings);
  bool optimizes() const;
  bool shows_times(const StackCode& code) const;
  void write_out_values(FlatProgram& flat);
  Executable load(const StackCode& code);
  ExecutionOptions execution_options() const;
  std::optional<Evaluation> run_if_short(const Compiled& compiled, ProgramStreams& streams,
                                         std::function<bool()> optimized_is_ready);
  Evaluation run(const Compiled& compiled, Executable& executable, ProgramStreams& streams);
  Evaluation with_compiled(const CheckedForm& form, Optimize optimize,
                           const std::function<Evaluation(Compiled)>& action);

  Session& session_;
  cvl::Backend* backend_;
  Variables variables_;
  ObservedFunctions observed_;
  std::optional<std::int64_t> piece_length_;  // instead of that of the options
};

}  // namespace neslc
