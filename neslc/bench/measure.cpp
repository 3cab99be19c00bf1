#include "neslc/bench/measure.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace neslc::bench {
namespace {

// A measurement is repeated until these times have passed together, or these numbers are reached.
constexpr double kEnoughSeconds = 0.3;
constexpr std::size_t kLeastRuns = 3;
constexpr std::size_t kMostRuns = 100;

/// The measurement cannot go on, for this size or at all.
struct Stopped {
  int status = kOk;
  std::string message;
  bool all = false;  // nothing more can be measured
};

std::vector<ParsedForm> forms_of(const std::string& name, const std::string& text) {
  return parse_program(std::make_shared<const vcode::Source>(name, text)).forms;
}

class Measurer {
 public:
  Measurer(Toplevel& top, const Plan& plan)
      : top_(top), plan_(plan), expression_(forms_of("expression", plan.expression)) {
    const bool one_value = expression_.size() == 1 &&
                           (expression_[0].error ||
                            std::holds_alternative<ast::ExpressionForm>(expression_[0].form->node));
    if (!one_value) {
      throw CommandError{"bench measures one expression",
                         "definitions belong into the file or into --setup",
                         {},
                         vcode::ErrorCode::Usage};
    }
  }

  /// Throws Stopped if nothing more can be measured; failures of one size are in the point.
  void measure(Point& point, int& status) {
    try {
      for (const int threads : plan_.threads) {
        use(threads);
        bind(point.n);
        if (threads == plan_.threads.front()) point.cost = cost();
        point.timings.push_back(timing(threads));
      }
    } catch (const Stopped& stopped) {
      status = std::max(status, stopped.status);
      point.failure = stopped.message;
      if (stopped.all) throw;
    }
  }

 private:
  /// Nothing moves if all is measured on the same number of threads.
  void use(int threads) {
    const std::string name = threads_text(threads);
    if (top_.machine().threads == threads) return;
    Configuration configuration = top_.configurations().at(top_.configuration());
    configuration.threads = threads;
    top_.configurations()[name] = configuration;
    top_.configure(name, configuration);
  }

  [[noreturn]] void stop(const FormResult& result) {
    const int status = top_.present(result);
    throw Stopped{
        status, result.diagnostic ? result.diagnostic->message : result.line,
        result.kind == FormResult::Kind::Rejected || result.kind == FormResult::Kind::Interrupted};
  }

  void process(const std::vector<ParsedForm>& forms) {
    for (const ParsedForm& form : forms) {
      if (form.form && std::holds_alternative<ast::CommandForm>(form.form->node)) {
        top_.process(form);
        continue;
      }
      const FormResult result = top_.runner().process(form);
      if (result.kind != FormResult::Kind::Defined && result.kind != FormResult::Kind::Value &&
          result.kind != FormResult::Kind::Started) {
        stop(result);
      }
    }
  }

  void bind(std::int64_t n) {
    process(forms_of("n", fmt::format("n = {};", n)));
    process(forms_of("setup", plan_.setup));
  }

  /// The expression, which has the same type for every size unless the setup makes others.
  CheckedForm checked() {
    const ParsedForm& parsed = expression_.front();
    FormResult rejected;
    rejected.kind = FormResult::Kind::Rejected;
    rejected.error = parsed.error;
    if (parsed.form) {
      Checked checked = top_.session().check(parsed.form);
      if (checked) return std::move(*checked.form);
      rejected.error = std::move(checked.error);
    }
    rejected.diagnostic = rejected.error->diagnostic;
    rejected.source = rejected.error->source;
    stop(rejected);
  }

  /// Nothing if it takes more memory than there is: optimized programs need less.
  std::optional<Cost> cost() {
    EvaluatorOptions& options = top_.evaluator().options;
    const bool outer = std::exchange(options.cost, true);
    Evaluation result = top_.evaluator().evaluate(checked());
    options.cost = outer;
    if (result.status == Evaluation::Status::Done) return result.cost;
    const bool lacks_memory = result.status == Evaluation::Status::Failed &&
                              result.diagnostic->code == vcode::ErrorCode::OutOfMemory;
    if (lacks_memory) return std::nullopt;
    stop(top_.runner().failed(std::move(result)));
  }

  Timing timing(int threads) {
    Timing timing;
    timing.threads = threads;
    double sum = 0;
    const auto enough = [&] {
      const std::size_t runs = timing.seconds.size();
      if (plan_.repetitions > 0) return runs >= plan_.repetitions;
      return runs >= kMostRuns || (runs >= kLeastRuns && sum >= kEnoughSeconds);
    };
    // What the sizes are compared by is the same program: one that is optimized when it has much to
    // do would make the curves jump.
    Evaluation result = top_.evaluator().evaluate_while(checked(), [&](const Evaluation& done) {
      timing.seconds.push_back(done.seconds);
      sum += done.seconds;
      return !enough();
    });
    if (result.status != Evaluation::Status::Done) {
      stop(top_.runner().failed(std::move(result)));
    }
    std::sort(timing.seconds.begin(), timing.seconds.end());
    return timing;
  }

  Toplevel& top_;
  const Plan& plan_;
  std::vector<ParsedForm> expression_;
};

}  // namespace

int measure(Toplevel& top, const Plan& plan, const std::function<void(Point)>& tell) {
  int status = kOk;
  Measurer measurer(top, plan);
  for (const std::int64_t n : plan.sizes) {
    Point point;
    point.n = n;
    bool ended = false;
    try {
      measurer.measure(point, status);
    } catch (const Stopped&) {
      ended = true;
    }
    const bool anything = point.cost || !point.timings.empty() || !ended;
    if (anything) tell(std::move(point));
    if (ended) break;
  }
  return status;
}

}  // namespace neslc::bench
