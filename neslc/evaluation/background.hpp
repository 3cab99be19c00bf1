// A background evaluation (`name &= exp`): the job, and the variables that wait for its result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neslc/evaluation/evaluation.hpp"
#include "neslc/evaluation/job.hpp"
#include "neslc/front/session.hpp"

namespace neslc {

class BackgroundEvaluation {
 public:
  /// Starts it. `executable` is `compiled.main()`, whose values `backend` holds; `written` is
  /// `compiled.code`, if that is another program. Throws cvl::Failure.
  BackgroundEvaluation(std::shared_ptr<const ast::Form> form, Compiled compiled,
                       Executable executable, const std::optional<Executable>& written,
                       const vinterp::Options& machine, const ExecutionOptions& options,
                       cvl::Backend& backend);

  /// Of the pattern and its type, for messages.
  std::string name, type;
  /// The variables, and how many components each one has; null where another value has taken the
  /// place of the result.
  std::vector<const Definition*> variables;
  std::vector<std::size_t> widths;

  /// Does it still run? Does not wait.
  bool runs() { return !job_.has_ended(); }
  /// Waits for the result and takes it. A wait that is interrupted leaves the evaluation as it is.
  /// A failure is that of the evaluation, and shown where it happened there.
  Evaluation await(cvl::Backend& backend, vinterp::LineProfile* profile);

 private:
  std::shared_ptr<const ast::Form> form_;
  Compiled compiled_;
  vcode::LinkedProgram program_;
  double time_limit_;
  Job job_;
};

}  // namespace neslc
