// Runs checked forms in this process and keeps the values of top-level variables.
//
// Values stay where the vector library has them: a variable is a constant of the programs that use
// it, and is never printed and read again.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cvl/backend.hpp"
#include "fcode-opt/optimizer.hpp"
#include "neslc/compiler.hpp"
#include "neslc/cost.hpp"
#include "neslc/session.hpp"
#include "neslc/stack_code.hpp"
#include "vcode/diagnostics.hpp"
#include "vcode/link.hpp"
#include "vinterp/line_profile.hpp"

namespace neslc {

inline fcode::OptimizerOptions not_optimized() {
  fcode::OptimizerOptions options;
  options.level = fcode::kLeastLevel;
  return options;
}

struct EvaluatorOptions {
  bool argument_checks = true;
  fcode::OptimizerOptions optimizer = not_optimized();  // not when cost is measured
  std::uint64_t seed = 1;                               // of RAND, at the start of every evaluation
  bool cost = false;                                    // measure it
  bool sandbox = false;                                 // no files, no processes
  std::size_t max_depth = std::numeric_limits<std::size_t>::max();  // of nested calls
  vinterp::LineProfile* profile = nullptr;                          // collects all evaluations
  std::string trace_file;  // gets the Chrome trace of the last evaluation; empty: none
};

struct Evaluation {
  enum class Status : std::uint8_t {
    Done,
    Rejected,     // found by the compiler: `error`
    Stopped,      // RUNTIME ERROR or ERROR of the program: `message` is the whole line
    Failed,       // by the machine: `diagnostic`
    Interrupted,  // by `signal`
  };
  Status status = Status::Done;
  std::vector<cvl::Value> values;  // Done: the components of the result
  std::optional<StaticError> error;
  std::string message;
  std::optional<vcode::Diagnostic> diagnostic;  // Stopped (the place) and Failed
  std::shared_ptr<const vcode::Source> source;  // of the diagnostic's spans
  std::optional<Cost> cost;                     // if it was measured, of a failed run too
  int signal = 0;                               // Interrupted; SIGALRM: the time limit
  double seconds = 0;                           // of the run
  double compile_seconds = 0;
};

/// The error of a form that cannot be compiled after all.
StaticError compile_error(const ast::Form& form, const CompileError& error);

class Evaluator : private TopLevelValues {
 public:
  Evaluator(Session& session, cvl::Backend& backend) : session_(session), backend_(&backend) {}

  EvaluatorOptions options;

  /// REQUIRES: an expression or a binding. Changes nothing but the state of the backend.
  Evaluation evaluate(const CheckedForm& form);
  /// Commits the form, and keeps the values for its variables.
  void bind(CheckedForm form, std::vector<cvl::Value> values);
  /// A program that needs no other input, optimized: the text of VCODE, or of FCODE 2 if there are
  /// kernels. Comments say which line of the program the instructions come from. `report` may be
  /// null. Throws CompileError; make_module() too.
  std::string compile(const CheckedForm& form, const fcode::OptimizerOptions& optimizer,
                      fcode::OptimizerReport* report = nullptr);
  /// The intermediate form of an expression.
  ir::Module make_module(const CheckedForm& form);

  cvl::Backend& backend() { return *backend_; }
  /// The value of a variable, if it has been evaluated.
  const std::vector<cvl::Value>* value_of(const Definition& variable) const;
  /// How a function is observed from now on.
  ObservedFunction& observe(const Definition& function) { return observed_[&function]; }
  const ObservedFunctions& observed() const { return observed_; }
  /// Goes on with another backend, which takes over the values of all variables. The old one must
  /// live until then. Throws cvl::Failure and changes nothing if the values do not fit.
  void move_to(cvl::Backend& backend);

 private:
  std::int64_t first_component(const Definition& variable) override;
  Evaluation run(const StackCode& code, const ir::Module& module);
  std::vector<cvl::Value> load_constants(const StackCode& code, const vcode::LinkedProgram& linked,
                                         vcode::Diagnostics& diagnostics);
  Evaluation explained(Evaluation failed, const StackCode& code, const ir::Module& module);

  Session& session_;
  cvl::Backend* backend_;
  std::unordered_map<const Definition*, std::vector<cvl::Value>> variables_;
  ObservedFunctions observed_;
  // Of the program being made.
  std::unordered_map<const Definition*, std::int64_t> first_components_;
  std::vector<cvl::Value> components_;
};

}  // namespace neslc
