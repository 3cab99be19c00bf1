// Random valid programs.
#pragma once

#include <cstdint>

#include "property/random.hpp"
#include "reference/value.hpp"
#include "vcode-smith/test_program.hpp"

namespace smith {

struct GeneratorOptions {
  reference::Widths widths;
  bool strict = false;
  int size = 25;                   // about as many random steps
  std::int64_t max_length = 3000;  // of a vector
  double failing = 0.08;           // how often a program ends in a run-time failure
};

/// A program whose results are the same to the last printed digit whatever the order in which sums
/// are evaluated, so that its output can be compared as text.
TestProgram generate(const GeneratorOptions& options, property::Random& random);

}  // namespace smith
