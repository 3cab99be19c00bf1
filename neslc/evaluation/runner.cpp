#include "neslc/evaluation/runner.hpp"

#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "neslc/front/warnings.hpp"

namespace neslc {
namespace {

bool is_background(const ast::Form& form) {
  const auto* binding = std::get_if<ast::BindingForm>(&form.node);
  return binding != nullptr && binding->kind == ast::BindingForm::Kind::Background;
}

}  // namespace

FormResult Runner::rejected(StaticError error) {
  FormResult result;
  result.kind = FormResult::Kind::Rejected;
  result.line = transcript_line(error);
  result.diagnostic = error.diagnostic;
  result.source = error.source;
  result.error = std::move(error);
  return result;
}

void Runner::warn_of(const CheckedForm& form) const {
  if (!evaluator_.options.warn) return;
  for (const vcode::Diagnostic& warning : warnings_of(form)) {
    evaluator_.options.warn(warning, form.written_body()->source.get());
  }
}

FormResult Runner::check(const ParsedForm& form) {
  if (form.error) return rejected(*form.error);
  Checked checked = session_.check(form.form);
  if (!checked) return rejected(std::move(*checked.error));
  warn_of(*checked.form);
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
  warn_of(*checked.form);
  switch (checked.form->kind) {
    case CheckedForm::Kind::Expression:
    case CheckedForm::Kind::Binding:
      if (is_background(*form.form)) return started(std::move(*checked.form));
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
  if (evaluation.status != Evaluation::Status::Done) {
    session_.no_value(*form.form);
    return failed(std::move(evaluation));
  }
  FormResult result;
  result.kind = FormResult::Kind::Value;
  result.seconds = evaluation.seconds;
  result.compile_seconds = evaluation.compile_seconds;
  result.cost = evaluation.cost;
  show(result, form, evaluation.values);
  evaluator_.bind(std::move(form), evaluation.values);
  return result;
}

FormResult Runner::started(CheckedForm form) {
  const std::shared_ptr<const ast::Form> written = form.form;
  const auto& binding = std::get<ast::BindingForm>(written->node);
  FormResult result;
  result.kind = FormResult::Kind::Started;
  result.line = fmt::format("background {} : {}", ast::pattern_text(*binding.pattern),
                            scheme_text(form.scheme));
  Evaluation evaluation;
  try {
    evaluation = evaluator_.start(std::move(form), background_machine(*written));
  } catch (const StaticError& error) {
    return rejected(error);
  } catch (const cvl::Failure& failure) {
    evaluation.status = Evaluation::Status::Failed;
    evaluation.diagnostic = vinterp::diagnostic_of(failure);
    evaluation.diagnostic->span = written->span;
    evaluation.source = written->source;
  }
  return evaluation.status == Evaluation::Status::Done ? result : failed(std::move(evaluation));
}

FormResult Runner::failed(Evaluation evaluation) {
  if (evaluation.status == Evaluation::Status::Rejected) {
    return rejected(std::move(*evaluation.error));
  }
  FormResult result;
  result.seconds = evaluation.seconds;
  result.compile_seconds = evaluation.compile_seconds;
  result.cost = evaluation.cost;
  result.diagnostic = std::move(evaluation.diagnostic);
  result.source = std::move(evaluation.source);
  result.signal = evaluation.signal;
  if (evaluation.status == Evaluation::Status::Stopped) {
    result.kind = FormResult::Kind::Stopped;
    result.line = std::move(evaluation.message);
  } else if (evaluation.status == Evaluation::Status::Failed) {
    result.kind = FormResult::Kind::Failed;
    result.line = "RUNTIME ERROR: " + result.diagnostic->message;
  } else {
    result.kind = FormResult::Kind::Interrupted;
    result.line = "Interrupted.";
  }
  return result;
}

void Runner::show(FormResult& result, const CheckedForm& form,
                  const std::vector<cvl::Value>& values) {
  const auto* binding = std::get_if<ast::BindingForm>(&form.form->node);
  const std::string name = binding != nullptr ? ast::pattern_text(*binding->pattern) : "it";
  result.line = " : " + scheme_text(form.scheme);
  if (binding != nullptr && binding->kind != ast::BindingForm::Kind::Value) {
    result.line.insert(0, name);
  } else {
    result.shown = {name, form.scheme.type, values};
  }
}

void Runner::write_line(const FormResult& result, const vinterp::TextSink& sink) {
  if (result.shown) {
    sink(result.shown->name + " = ");
    write_value_text(session_.types(), result.shown->type, evaluator_.backend(),
                     result.shown->values, text, sink);
  }
  sink(result.line);
}

namespace {

/// What is sent to the sink that `write` is given.
std::string collected(const std::function<void(const vinterp::TextSink&)>& write) {
  std::string text;
  write([&](std::string_view piece) {
    text += piece;
    return true;
  });
  return text;
}

}  // namespace

std::string Runner::line_text(const FormResult& result) {
  return collected([&](const vinterp::TextSink& sink) { write_line(result, sink); });
}

std::string Runner::value_line(TypePtr type, const std::vector<cvl::Value>& values) {
  return collected([&](const vinterp::TextSink& sink) {
    write_value_text(session_.types(), type, evaluator_.backend(), values, text, sink);
  });
}

}  // namespace neslc
