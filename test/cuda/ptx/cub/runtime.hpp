// As much of the CUDA runtime as CUB asks for, on the machine that runs PTX.
//
// A program that links this in the place of the vendor's runtime runs the kernels that nvcc has
// registered in it from the PTX of the same sources, one launch after the other, and counts what
// they cost.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cuda/ptx/cost.hpp"

namespace cub_costs {

/// What the launches of `work` cost, kernel by kernel, in the order of their first launches.
struct KernelCost {
  std::string name;
  ptx_machine::Cost cost;
};
std::vector<KernelCost> costs_of(const std::function<void()>& work);

}  // namespace cub_costs
