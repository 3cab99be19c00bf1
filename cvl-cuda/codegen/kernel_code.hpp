// Fused kernels as CUDA C++ text, and what must be known to run it.
//
// One struct for each pass of the plan (cvl/kernel_plan.hpp), which says what happens at one
// position; the skeleton of kernels/pass.hpp does the rest. The text depends on the structure of
// the kernel alone: it holds none of its names, and Int and Float are aliases of the widths of a
// run. It is compiled for a device by NVRTC, and for the emulated device by the host compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cvl/kernel_fault.hpp"
#include "cvl/kernel_plan.hpp"
#include "cvl/value.hpp"

namespace cvl::cuda::codegen {

/// A member of the struct of a pass, in the order of the struct. All are multiples of 8 bytes.
struct Member {
  enum class Kind : std::uint8_t {
    Source,      // Source<type> of array `id`
    Target,      // Array<type> of array `id`, which the pass makes or scatters to
    Descriptor,  // Segments of descriptor `id`
    Size,        // the size `id` as std::int64_t
    Random,      // RandomState before the first number of draw `id` of the plan
    Lengths,     // Array<Int>: lengths of the segments of descriptor `id`, which the pass makes
    Winners,     // Array<std::uint64_t> for the targets of sink `id`
    Kept,        // Array<type> over the positions: scratch, value `value` of sink `id`
    Counts,      // Array<std::int64_t>: numbers that the host waits for, see PassCode::counts
  };
  Kind kind = Kind::Source;
  std::uint32_t id = 0;
  std::uint32_t value = 0;
  vcode::Type type = vcode::Type::Int;
  bool operator==(const Member&) const = default;
};

struct PassCode {
  std::string text;  // the struct
  std::vector<Member> members;
  int threads = 0;       // of a block
  int run = 0;           // positions of each thread in a tile
  int states = 0;        // things that are folded, each of at most kStateBytes
  bool running = false;  // are any of them wanted at every position?
  bool counted = false;  // must the host know counts before there is room for results?
  bool others = false;   // are there results for segments without elements?
  bool targets = false;  // are there scatters?
  int counts = 0;  // numbers for the host: of each selection the elements of each class, sizes
};
inline constexpr int kStateBytes = 16;

struct KernelCode {
  std::vector<PassCode> passes;  // as in the plan
  /// What may fail; kernels report the index. Of each: kind, binding, node, op, id …
  std::vector<KernelFault> sites;
  std::vector<std::uint32_t> site_pass;  // … and the pass
  int ranks = 0;  // bindings that may fail, numbered in order: which failure comes first

  /// The structs of all passes.
  std::string text() const;
};

/// The plan that code is generated from: a pass folds all that it folds in one sweep, so that what
/// depends on its scans is reduced by a later one. As plan_kernel().
std::optional<KernelPlan> plan_for_device(const vcode::Kernel& kernel);

/// The code, or the reason why there is none.
struct Generated {
  std::optional<KernelCode> code;
  std::string reason;
};
/// REQUIRES: the plan is one of plan_for_device().
Generated generate(const KernelPlan& plan);
/// The reason where there is no plan.
inline constexpr const char* kNoPlan = "nested conditionals share what may fail in too many ways";

/// A whole translation unit for NVRTC: entry k is the function `pass<k>`.
std::string device_source(const KernelCode& code, const Widths& widths);
/// The same for all of these kernels, to be read, and compiled by nvcc: with the names of kernels
/// and the plans that they follow in comments.
std::string readable_source(const std::vector<vcode::Kernel>& kernels, const Widths& widths);

/// The aliases of the widths of a run.
std::string width_aliases(const Widths& widths);

}  // namespace cvl::cuda::codegen
