// Runs a program twice, compiled and directly, and compares.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "neslc/evaluation/evaluator.hpp"
#include "neslc/front/session.hpp"

namespace neslc::random_test {

struct Verdict {
  enum class Kind {
    Agreed,       // equal values
    BothStopped,  // both ended in the same run-time error
    Skipped,      // the language does not say, or too long
    Rejected,     // a static error
    Differs,
  };
  Kind kind = Kind::Agreed;
  std::string detail;
};

/// A session in which programs are run one after another.
class Checker {
 public:
  /// `level`: that of the optimizer.
  explicit Checker(int level);
  /// Takes the forms of a program one after the other, until one does not agree.
  Verdict check(const std::string& program);

 private:
  /// `values` gets what the compiled program has left, if it has come to its end.
  Verdict compare(const CheckedForm& form, std::vector<cvl::Value>& values);
  /// Does the optimized program stop by itself? What evaluating it says comes from a second run of
  /// the program as it was written.
  bool stops_when_optimized(const CheckedForm& form);

  Session session_;
  std::unique_ptr<cvl::Backend> backend_;
  Evaluator evaluator_;
};

}  // namespace neslc::random_test
