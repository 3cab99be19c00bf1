#include "neslc/runner.hpp"

#include <utility>

#include <fmt/format.h>

namespace neslc {

FormResult Runner::rejected(StaticError error) {
  FormResult result;
  result.kind = FormResult::Kind::Rejected;
  result.line = transcript_line(error);
  result.diagnostic = error.diagnostic;
  result.source = error.source;
  result.error = std::move(error);
  return result;
}

FormResult Runner::check(const ParsedForm& form) {
  if (form.error) return rejected(*form.error);
  Checked checked = session_.check(form.form);
  if (!checked) return rejected(std::move(*checked.error));
  FormResult result;
  const CheckedForm::Kind kind = checked.form->kind;
  if (kind == CheckedForm::Kind::Command) {
    result.kind = FormResult::Kind::Command;
    return result;
  }
  session_.commit(std::move(*checked.form));
  return result;
}

FormResult Runner::process(const ParsedForm& form) {
  if (form.error) return rejected(*form.error);
  Checked checked = session_.check(form.form);
  if (!checked) return rejected(std::move(*checked.error));
  switch (checked.form->kind) {
    case CheckedForm::Kind::Expression:
    case CheckedForm::Kind::Binding:
      return evaluated(std::move(*checked.form));
    default:
      return defined(std::move(*checked.form));
  }
}

FormResult Runner::defined(CheckedForm form) {
  FormResult result;
  const CheckedForm::Change& change = form.changes.front();
  const char* const shape =
      form.kind == CheckedForm::Kind::Declaration ? "{} : {}, without a body yet" : "{} = fn : {}";
  result.definition =
      fmt::format(fmt::runtime(shape), change.contents.name, scheme_text(change.contents.scheme));
  if (change.hides) {
    result.definition += fmt::format(
        "\nThe earlier definition of {}, which has another type, is hidden; functions that use it "
        "go on doing so.",
        change.contents.name);
  }
  session_.commit(std::move(form));
  return result;
}

FormResult Runner::evaluated(CheckedForm form) {
  Evaluation evaluation = evaluator_.evaluate(form);
  FormResult result;
  result.seconds = evaluation.seconds;
  result.compile_seconds = evaluation.compile_seconds;
  result.cost = evaluation.cost;
  result.diagnostic = std::move(evaluation.diagnostic);
  result.source = std::move(evaluation.source);
  switch (evaluation.status) {
    case Evaluation::Status::Done:
      result.kind = FormResult::Kind::Value;
      result.line = result_line(form, evaluation.values);
      evaluator_.bind(std::move(form), std::move(evaluation.values));
      break;
    case Evaluation::Status::Rejected:
      return rejected(std::move(*evaluation.error));
    case Evaluation::Status::Stopped:
      result.kind = FormResult::Kind::Stopped;
      result.line = std::move(evaluation.message);
      break;
    case Evaluation::Status::Failed:
      result.kind = FormResult::Kind::Failed;
      result.line = "RUNTIME ERROR: " + result.diagnostic->message;
      break;
    case Evaluation::Status::Interrupted:
      result.kind = FormResult::Kind::Interrupted;
      result.signal = evaluation.signal;
      result.line = "Interrupted.";
      break;
  }
  return result;
}

std::string Runner::result_line(const CheckedForm& form, const std::vector<cvl::Value>& values) {
  const auto* binding = std::get_if<ast::BindingForm>(&form.form->node);
  const std::string name = binding != nullptr ? ast::pattern_text(*binding->pattern) : "it";
  if (binding != nullptr && binding->kind != ast::BindingForm::Kind::Value) {
    return name + " : " + scheme_text(form.scheme);
  }
  return name + " = " + value_line(form.scheme.type, values) + " : " + scheme_text(form.scheme);
}

std::string Runner::value_line(TypePtr type, const std::vector<cvl::Value>& values) {
  std::vector<Column> columns;
  for (const cvl::Value& value : values) columns.push_back(download(evaluator_.backend(), value));
  return value_text(session_.types(), type, columns, text);
}

}  // namespace neslc
