#include "neslc/runner.hpp"

#include <utility>

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
    case CheckedForm::Kind::Command:
      return command(std::get<ast::CommandForm>(checked.form->form->node));
    default:
      session_.commit(std::move(*checked.form));
      return {};
  }
}

FormResult Runner::command(const ast::CommandForm& command) {
  FormResult result;
  result.kind = FormResult::Kind::Command;
  if (command.name == "set" && command.words.size() == 2) {
    const std::string& what = command.words[0].text;
    const std::string& value = command.words[1].text;
    if (what == "arg_check") evaluator_.options.argument_checks = value == "on";
    if (what == "print_length") text.print_length = std::stoul(value);
  }
  return result;
}

FormResult Runner::evaluated(CheckedForm form) {
  Evaluation evaluation = evaluator_.evaluate(form);
  FormResult result;
  result.seconds = evaluation.seconds;
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
      result.kind = FormResult::Kind::Failed;
      result.line = "Interrupted.";
      break;
  }
  return result;
}

std::string Runner::result_line(const CheckedForm& form, const std::vector<cvl::Value>& values) {
  std::vector<Column> columns;
  for (const cvl::Value& value : values) columns.push_back(download(evaluator_.backend(), value));
  const auto* binding = std::get_if<ast::BindingForm>(&form.form->node);
  const std::string name = binding != nullptr ? ast::pattern_text(*binding->pattern) : "it";
  return name + " = " + value_text(session_.types(), form.scheme.type, columns, text) + " : " +
         scheme_text(form.scheme);
}

}  // namespace neslc
