// Processes the forms of a program in their order, and says what each one gave. Warnings go to
// EvaluatorOptions::warn.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "neslc/evaluation/evaluator.hpp"
#include "neslc/evaluation/value_text.hpp"
#include "neslc/front/parser.hpp"

namespace neslc {

/// What became of a form.
struct FormResult {
  enum class Kind : std::uint8_t {
    Defined,      // a function or datatype
    Value,        // write_line(): `it = VALUE : TYPE`
    Started,      // in the background; `line`: `background NAME : TYPE`
    Rejected,     // `line`: STATIC ERROR ...; `error`
    Stopped,      // `line`: RUNTIME ERROR ... or ERROR ...
    Failed,       // by the machine
    Interrupted,  // by `signal`
    Command,      // check() only: nothing is done
  };
  Kind kind = Kind::Defined;
  std::string line;  // of a value, what comes after it: ` : TYPE`
  /// What `line` follows, if it has a value: `NAME = VALUE`.
  struct Shown {
    std::string name;
    TypePtr type = nullptr;
    std::vector<cvl::Value> values;
  };
  std::optional<Shown> shown;
  std::optional<StaticError> error;
  std::optional<vcode::Diagnostic> diagnostic;
  std::shared_ptr<const vcode::Source> source;
  std::string definition;    // Defined: `NAME = fn : TYPE`
  std::optional<Cost> cost;  // of an evaluation, if it is measured
  int signal = 0;
  double seconds = 0;  // of the run
  double compile_seconds = 0;
};

class Runner {
 public:
  Runner(Session& session, Evaluator& evaluator) : session_(session), evaluator_(evaluator) {}

  TextOptions text;
  /// Where a binding `&=` is evaluated, from its options. Throws StaticError. Must be set before
  /// the first one.
  std::function<vinterp::Options(const ast::Form&)> background_machine;

  /// REQUIRES: not a command.
  FormResult process(const ParsedForm& form);
  /// Only checks; binds functions and datatypes.
  FormResult check(const ParsedForm& form);
  /// What an evaluation of the form without a value tells; one without a diagnostic was
  /// interrupted.
  FormResult failed(Evaluation evaluation);
  /// The line of a result, handed on as it is made, without a line end. May throw Failure as
  /// write_value_text() does.
  void write_line(const FormResult& result, const vinterp::TextSink& sink);
  std::string line_text(const FormResult& result);
  /// A value as result lines show it.
  std::string value_line(TypePtr type, const std::vector<cvl::Value>& values);

 private:
  void warn_of(const CheckedForm& form) const;
  FormResult rejected(StaticError error);
  FormResult evaluated(CheckedForm form);
  FormResult started(CheckedForm form);
  FormResult defined(CheckedForm form);
  void show(FormResult& result, const CheckedForm& form, const std::vector<cvl::Value>& values);

  Session& session_;
  Evaluator& evaluator_;
};

}  // namespace neslc
