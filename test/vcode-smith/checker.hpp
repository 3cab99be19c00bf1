// One program through every configuration.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "vcode-smith/test_program.hpp"

namespace smith {

/// A vector library that programs are run with.
struct Configuration {
  std::string name;
  std::function<std::unique_ptr<cvl::Backend>(const cvl::Widths&)> make;
  /// Does it hold vector memory between programs by itself?
  bool keeps_memory;
};

/// The CPU library with that many threads.
Configuration cpu_configuration(int threads);
/// The CUDA library on the emulated device, and on the real one where there is one.
std::vector<Configuration> cuda_configurations();

class Checker {
 public:
  explicit Checker(std::vector<Configuration> configurations);

  /// Prints, parses, links and verifies the program and runs it on the reference and on the machine
  /// in every configuration. Returns what is wrong; empty when all agree.
  std::string check(const TestProgram& program, const cvl::Widths& widths, bool strict);

  /// How many of the checked programs failed at run time, as they should.
  int failing() const { return failing_; }

 private:
  cvl::Backend& backend(const cvl::Widths& widths, std::size_t which);

  std::vector<Configuration> configurations_;
  struct Kept {
    cvl::Widths widths;
    std::size_t which;
    std::unique_ptr<cvl::Backend> backend;
  };
  std::vector<Kept> backends_;
  int failing_ = 0;
};

}  // namespace smith
