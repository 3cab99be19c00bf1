// A random kernel on a vector library and in the reference evaluator.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cvl/backend.hpp"
#include "property/random.hpp"
#include "reference/kernels.hpp"
#include "vcode/program.hpp"

namespace kernel_test {

std::optional<vcode::Program> parsed(const std::string& text, std::string& messages);

struct Counts {
  int ran = 0, failed = 0, left = 0;
};

/// Runs the kernel on random operands over segments of these lengths and compares. `counts` is told
/// how often it ran, failed as it must, or was left to its SPEC.
void check_on_lengths(cvl::Backend& backend, const vcode::Kernel& kernel,
                      const std::vector<std::int64_t>& lengths, property::Random& random,
                      Counts& counts);
/// The same over segments of a few shapes.
void check_on_operands(cvl::Backend& backend, const vcode::Kernel& kernel, property::Random& random,
                       Counts& counts);

/// The operands that random_kernel() names, over segments of these lengths.
std::vector<reference::Value> random_operands(property::Random& random,
                                              const std::vector<std::int64_t>& lengths,
                                              const reference::Widths& widths);

}  // namespace kernel_test
