// Forms in and lines out, without a process of their own: many small programs in little time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <catch2/catch.hpp>

#include "cli/backends.hpp"
#include "neslc/evaluation/evaluator.hpp"
#include "neslc/evaluation/runner.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "support.hpp"

namespace neslc::testing {

/// Evaluates forms on one thread with one setting.
class Evaluations {
 public:
  Evaluations(int level, std::int64_t piece_length = kPieceLength)
      : backend_(vinterp::make_backend([] {
          vinterp::Options machine;
          machine.backend = "cpu";
          machine.threads = 1;
          return machine;
        }())),
        session_(std::string(library_text()) + std::string(definitions_text()),
                 open_definitions_text()),
        evaluator_(session_, *backend_),
        runner_(session_, evaluator_) {
    evaluator_.options.piece_length = piece_length;
    evaluator_.options.optimizer.level = level;
    runner_.text.print_length = 1'000'000;
    value("1");
  }

  Evaluator& evaluator() { return evaluator_; }

  /// Defines functions, or a variable as `name = value`.
  void define(const std::string& text) {
    const std::string said = value(text);
    INFO(text << "\n" << said);
    CHECK((said.empty() || text.starts_with(said.substr(0, said.find('=')) + '=')));
  }

  /// The value, or the message of the failure.
  std::string value(const std::string& text) {
    std::string result;
    for (const ParsedForm& form : parse_program(make_source(text + ";")).forms) {
      FormResult done = runner_.process(form);
      if (done.kind == FormResult::Kind::Value) {
        result = runner_.line_text(done);
        result = result.substr(0, result.rfind(" : "));
      } else if (done.kind != FormResult::Kind::Defined) {
        result = done.diagnostic ? done.diagnostic->message : done.line;
      }
    }
    return result;
  }

  /// The program for an expression: VCODE, or FCODE.
  std::string compiled(const std::string& text) {
    std::string result;
    for (const ParsedForm& form : parse_program(make_source(text + ";")).forms) {
      const Checked checked = session_.check(form.form);
      if (checked) result = evaluator_.compile(*checked.form, evaluator_.options.optimizer);
    }
    return result;
  }

 private:
  std::unique_ptr<cvl::Backend> backend_;
  Session session_;
  Evaluator evaluator_;
  Runner runner_;
};

}  // namespace neslc::testing
