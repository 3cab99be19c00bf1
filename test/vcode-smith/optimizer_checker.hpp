// One program, optimized in several ways: all must do the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "fcode-opt/optimizer.hpp"
#include "vcode-smith/machine_runner.hpp"
#include "vcode-smith/test_program.hpp"

namespace smith {

/// The ways of optimizing: the levels below `level`, and `level` without each pass.
std::vector<fcode::OptimizerOptions> optimizer_variants(int level);

/// What a run did otherwise than it should have; empty if nothing.
std::string difference(const MachineRun& expected, const MachineRun& found);

class OptimizerChecker {
 public:
  /// `level`: the highest that is tried. `long_vectors`: the final stacks are compared by digests,
  /// and two threads take part.
  OptimizerChecker(int level, bool long_vectors)
      : variants_(optimizer_variants(level)), level_(level), long_(long_vectors) {}

  /// Runs the program on the machine as it is and optimized: by everything, and in one other way
  /// (a lower level, or without one of the passes) that `number` chooses, like the number of
  /// threads. Returns what is wrong;
  /// empty when all agree.
  std::string check(const TestProgram& program, const cvl::Widths& widths, bool strict,
                    std::uint64_t number);

  /// How many of the checked programs failed at run time, as they should.
  int failing() const { return failing_; }

 private:
  struct Kept {
    cvl::Widths widths;
    int threads;
    std::unique_ptr<cvl::Backend> backend;
  };
  struct Way {
    fcode::OptimizerOptions options;
    vinterp::KernelUse kernels;
    int threads;
  };

  cvl::Backend& backend(const cvl::Widths& widths, int threads);
  std::vector<Way> ways(std::uint64_t number) const;

  std::vector<fcode::OptimizerOptions> variants_;
  int level_;
  bool long_;
  std::vector<Kept> backends_;
  int failing_ = 0;
};

}  // namespace smith
