// The kernels that are generated as CUDA C++ when the tests are built, compiled by the host
// compiler and run on the emulated device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cvl/value.hpp"

namespace kernel_test {

inline constexpr int kBatchKernels = 90;

/// Text of the file with kernel number `number` of the batch.
std::string batch_kernel(int number);
/// The widths that it is compiled for.
cvl::Widths batch_widths(int number);

/// A kernel of each kind over the operands of random kernels, and what a run costs.
struct CostCase {
  const char* outputs;
  const char* bindings;
  std::uint64_t launches, waits;
};
const std::vector<CostCase>& cost_cases();
/// Text of its file.
std::string cost_kernel(const CostCase& one);

}  // namespace kernel_test
