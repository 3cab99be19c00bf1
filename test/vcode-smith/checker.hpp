// One program through every configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "vcode/program.hpp"

namespace smith {

class Checker {
 public:
  explicit Checker(const std::vector<int>& threads);

  /// Prints, parses, links and verifies the program and runs it on the reference and on the machine
  /// at every thread count. Returns what is wrong; empty when all agree.
  std::string check(const vcode::Program& program, const cvl::Widths& widths, bool strict);

  /// How many of the checked programs failed at run time, as they should.
  int failing() const { return failing_; }

 private:
  cvl::Backend& backend(const cvl::Widths& widths, std::size_t which);

  std::vector<int> threads_;
  struct Kept {
    cvl::Widths widths;
    std::size_t which;
    std::unique_ptr<cvl::Backend> backend;
  };
  std::vector<Kept> backends_;
  int failing_ = 0;
};

}  // namespace smith
