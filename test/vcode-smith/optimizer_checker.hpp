// One program, optimized in several ways: all must do the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "fcode-opt/optimizer.hpp"
#include "vcode/program.hpp"

namespace smith {

/// The ways of optimizing: the levels below `level`, and `level` without each pass.
std::vector<fcode::OptimizerOptions> optimizer_variants(int level);

class OptimizerChecker {
 public:
  /// `level`: the highest that is tried.
  explicit OptimizerChecker(int level) : variants_(optimizer_variants(level)), level_(level) {}

  /// Runs the program on the machine as it is and optimized: by everything, and in one other way
  /// (a lower level, or without one of the passes) that `number` chooses, like the number of
  /// threads. Returns what is wrong;
  /// empty when all agree.
  std::string check(const vcode::Program& program, const cvl::Widths& widths, bool strict,
                    std::uint64_t number);

  /// How many of the checked programs failed at run time, as they should.
  int failing() const { return failing_; }

 private:
  struct Kept {
    cvl::Widths widths;
    int threads;
    std::unique_ptr<cvl::Backend> backend;
  };

  cvl::Backend& backend(const cvl::Widths& widths, int threads);

  std::vector<fcode::OptimizerOptions> variants_;
  int level_;
  std::vector<Kept> backends_;
  int failing_ = 0;
};

}  // namespace smith
