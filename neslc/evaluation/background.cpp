#include "neslc/evaluation/background.hpp"

#include <csignal>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "cvl/failure.hpp"
#include "machine/failure_report.hpp"
#include "machine/interrupt.hpp"
#include "vcode/printer.hpp"

namespace neslc {
namespace {

/// Collects the values that programs are given; one that several of them use is sent once.
class RequestMaker {
 public:
  explicit RequestMaker(JobRequest& request) : request_(request) {}

  /// `values` as in StackCode.
  void add(const StackCode& code, const Executable& executable) {
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < executable.constants.size(); ++i) {
      numbers.push_back(number_of(code.values[i], executable.constants[i]));
    }
    JobProgram& job = request_.programs.emplace_back();
    job.text = vcode::print(code.program);
    for (const vcode::Instruction& instruction : executable.program.code) {
      if (instruction.op == vcode::Op::Const) job.constants.push_back(numbers[instruction.a]);
    }
  }

 private:
  std::uint32_t number_of(std::int64_t component, const cvl::Value& value) {
    const auto next = static_cast<std::uint32_t>(request_.values.size());
    if (component >= 0) {
      const auto [known, inserted] = components_.try_emplace(component, next);
      if (!inserted) return known->second;
    }
    request_.values.push_back(value);
    return next;
  }

  JobRequest& request_;
  std::unordered_map<std::int64_t, std::uint32_t> components_;
};

JobRequest make_request(const Compiled& compiled, const Executable& executable,
                        const std::optional<Executable>& written, const vinterp::Options& machine,
                        const ExecutionOptions& options) {
  JobRequest request;
  request.machine = machine;
  request.options = options;
  RequestMaker maker(request);
  maker.add(compiled.main(), executable);
  if (written) maker.add(compiled.code, *written);
  return request;
}

}  // namespace

BackgroundEvaluation::BackgroundEvaluation(std::shared_ptr<const ast::Form> form, Compiled compiled,
                                           Executable executable,
                                           const std::optional<Executable>& written,
                                           const vinterp::Options& machine,
                                           const ExecutionOptions& options, cvl::Backend& backend)
    : form_(std::move(form)),
      compiled_(std::move(compiled)),
      time_limit_(machine.time_limit),
      job_(make_request(compiled_, executable, written, machine, options), backend) {
  program_ = std::move(executable.program);
}

Evaluation BackgroundEvaluation::await(cvl::Backend& backend, vinterp::LineProfile* profile) {
  Evaluation result;
  if (!job_.wait()) {
    result.status = Evaluation::Status::Interrupted;
    result.signal = vinterp::pending_signal.load();
    return result;
  }
  try {
    result = conclude(compiled_, program_, job_.result(backend), profile);
  } catch (const cvl::Failure& failure) {
    result.status = Evaluation::Status::Failed;
    result.diagnostic = vinterp::diagnostic_of(failure);
  }
  if (result.status == Evaluation::Status::Interrupted) {  // by its own limit
    result.status = Evaluation::Status::Failed;
    vcode::Diagnostic& diagnostic = result.diagnostic.emplace();
    diagnostic.code = vcode::ErrorCode::TimeLimit;
    diagnostic.message = fmt::format("the time limit of {} seconds was reached", time_limit_);
    diagnostic.hint = "allow the evaluation more, `name &= exp, max_time := seconds`";
  }
  if (result.diagnostic && !result.source) {
    result.diagnostic->span = form_->span;
    result.source = form_->source;
  }
  return result;
}

}  // namespace neslc
