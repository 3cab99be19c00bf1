// Random programs that run on vectors of any length.
#pragma once

#include <cstdint>

#include "property/random.hpp"
#include "vcode-smith/test_program.hpp"

namespace smith {

struct LongOptions {
  std::int64_t length = 1'000'000;  // of the vectors that the program begins with, about
  int size = 20;                    // about as many random steps
};

/// A program all of whose lengths come from its input. Other than generate() nobody evaluates it
/// beforehand: operands have the right lengths because of where they come from. What it computes
/// may be anything, but it is the same bits whatever runs it (docs/architecture.md). Some programs
/// fail.
TestProgram generate_long(const LongOptions& options, property::Random& random);

}  // namespace smith
