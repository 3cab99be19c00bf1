#include "long_checker.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/backends.hpp"
#include "neslc/evaluation/evaluator.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "neslc/front/parser.hpp"
#include "neslc/front/session.hpp"
#include "vcode-smith/machine_runner.hpp"

namespace neslc::random_test {
namespace {

struct Way {
  int level;
  int threads;
  vinterp::KernelUse kernels;
};

constexpr Way kWays[] = {{0, 1, vinterp::KernelUse::Always},
                         {3, 1, vinterp::KernelUse::Always},
                         {3, 2, vinterp::KernelUse::Always},
                         {3, 2, vinterp::KernelUse::Never}};

/// What comes of a program; empty if it is wrong.
std::optional<std::string> outcome(const std::vector<std::string>& forms, const Way& way,
                                   std::string& error, bool& stopped) {
  vinterp::Options options;
  options.backend = "cpu";
  options.threads = way.threads;
  const auto backend = vinterp::make_backend(options);
  Session session(std::string(library_text()) + std::string(definitions_text()));
  Evaluator evaluator(session, *backend);
  evaluator.options.optimizer.level = way.level;
  evaluator.options.kernels = way.kernels;
  std::string text;
  for (const std::string& form : forms) {
    const auto source = std::make_shared<const vcode::Source>("program", form);
    for (ParsedForm& parsed : parse_program(source).forms) {
      if (parsed.error) {
        error = transcript_line(*parsed.error);
        return std::nullopt;
      }
      Checked checked = session.check(parsed.form);
      if (!checked) {
        error = transcript_line(*checked.error) + " " + checked.error->diagnostic.message;
        return std::nullopt;
      }
      if (checked.form->kind != CheckedForm::Kind::Expression &&
          checked.form->kind != CheckedForm::Kind::Binding) {
        session.commit(std::move(*checked.form));
        continue;
      }
      Evaluation evaluation = evaluator.evaluate(*checked.form);
      if (evaluation.status != Evaluation::Status::Done) {
        stopped = true;
        return evaluation.status == Evaluation::Status::Stopped
                   ? "a run-time error\n"
                   : fmt::format("a failure: {}\n",
                                 evaluation.diagnostic ? evaluation.diagnostic->message : "");
      }
      if (checked.form->kind == CheckedForm::Kind::Binding) {
        evaluator.bind(std::move(*checked.form), evaluation.values);
        continue;
      }
      for (const cvl::Value& value : evaluation.values) text += smith::digest_line(value, *backend);
    }
  }
  return text;
}

}  // namespace

LongVerdict check_long(const std::vector<std::string>& forms) {
  LongVerdict verdict;
  std::optional<std::string> expected;
  for (const Way& way : kWays) {
    const std::string name =
        fmt::format("-O{}, threads: {}{}", way.level, way.threads,
                    way.kernels == vinterp::KernelUse::Never ? ", kernels as SPECs" : "");
    std::string error;
    const auto found = outcome(forms, way, error, verdict.stopped);
    if (!found) return {fmt::format("{}: is refused: {}", name, error)};
    if (!expected) expected = found;
    if (*found != *expected) return {fmt::format("{}: {}instead of {}", name, *found, *expected)};
  }
  return verdict;
}

}  // namespace neslc::random_test
