#include "neslc/evaluation/evaluation.hpp"

#include <algorithm>
#include <utility>

#include "neslc/evaluation/failure_messages.hpp"
#include "neslc/evaluation/source_map.hpp"
#include "neslc/evaluation/value_text.hpp"
#include "vcode/link.hpp"

namespace neslc {
namespace {

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
  std::string_view text = line.substr((is_error ? kError : kCheck).size());
  if (text.ends_with('.')) text.remove_suffix(1);
  if (is_error) {
    diagnostic.message = text;
  } else {
    word_check(diagnostic, text);
  }
  if (!values.empty()) diagnostic.notes.push_back({std::move(values), {}});
}

Evaluation tell(Execution execution, const SourceMap& map) {
  vinterp::RunResult& run = execution.run;
  Evaluation result;
  result.seconds = run.seconds;
  result.cost = execution.cost;
  switch (run.outcome) {
    case vinterp::Outcome::Returned:
      result.values = std::move(execution.values);
      break;
    case vinterp::Outcome::Exited:
      stop(result, execution.message);
      break;
    case vinterp::Outcome::Failed:
    case vinterp::Outcome::Departed:
      result.status = Evaluation::Status::Failed;
      result.diagnostic = std::move(run.failure);
      break;
    case vinterp::Outcome::OutOfWork:  // does not end an evaluation
    case vinterp::Outcome::Interrupted:
      result.status = Evaluation::Status::Interrupted;
      result.signal = run.signal;
      break;
  }
  if (result.diagnostic) {
    const std::size_t own_notes = result.diagnostic->notes.size();
    if (run.at != kNowhere) result.source = map.explain(*result.diagnostic, run.at, run.calls);
    word_failure(*result.diagnostic, result.source.get(), own_notes);
  }
  return result;
}

}  // namespace

Evaluation conclude(const Compiled& compiled, const vcode::LinkedProgram& program,
                    Executions executions, vinterp::LineProfile* profile) {
  const SourceMap map(compiled.flat.module, program);
  const Execution& first = executions.first;
  if (profile != nullptr && !first.profile.empty()) {
    profile->add(
        first.profile, program, [&](std::uint32_t at) { return map.profile_place(at); },
        first.run.seconds);
  }
  Evaluation result;
  if (executions.as_written) {
    // It has linked before, in the process that ran it.
    vcode::Diagnostics diagnostics;
    const auto written = vcode::link(compiled.code.program, diagnostics);
    result =
        tell(std::move(*executions.as_written), SourceMap(compiled.flat.module, written.value()));
  } else {
    result = tell(std::move(executions.first), map);
  }
  result.compile_seconds = compiled.seconds;
  return result;
}

}  // namespace neslc
