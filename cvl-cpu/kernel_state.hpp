// What a kernel holds while it runs, and how it fails.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/kernel_plan.hpp"

namespace cvl::cpu {

/// A failure at one position. Of several, that of the first binding counts, of one binding that at
/// the first position: what evaluating one binding after the other would have met first.
struct KernelFault {
  enum class Kind : std::uint8_t { Division, Index, Segment, Assertion, Length, Size };
  Kind kind = Kind::Division;
  std::uint32_t binding = 0;
  std::int64_t position = 0;
  NodeId node = kNone;     // Division, Index, Segment: the node that failed …
  vcode::Op op{};          // … its operation, if it is one
  std::uint32_t id = 0;    // array, descriptor or size
  std::int64_t value = 0;  // index, length or size
  std::int64_t limit = 0;  // number of elements or segments that there are
  std::int64_t count = 0;  // positions in the pass
};

/// Collects failures of all threads.
class FaultLog {
 public:
  void note(const KernelFault& fault);
  bool any() const { return first_.has_value(); }
  std::uint32_t binding() const { return first_->binding; }
  void clear() { first_.reset(); }
  [[noreturn]] void raise(const vcode::Kernel& kernel) const;

 private:
  std::mutex mutex_;
  std::optional<KernelFault> first_;
};

struct KernelState {
  KernelState(CpuBackend& library, const KernelPlan& kernel_plan)
      : cpu(library),
        plan(kernel_plan),
        arrays(kernel_plan.kernel->arrays.size()),
        segdes(kernel_plan.kernel->segdes.size()),
        sizes(kernel_plan.kernel->sizes.size()) {}

  CpuBackend& cpu;
  const KernelPlan& plan;
  std::vector<Vector> arrays;  // by id; those that do not exist yet are empty
  std::vector<Segdes> segdes;
  std::vector<std::int64_t> sizes;  // by canonical id; kUnbound: not known yet
  FaultLog faults;

  static constexpr std::int64_t kUnbound = -1;
  std::int64_t size(SizeId id) const { return sizes[plan.canonical_size[id]]; }
  /// Gives a size its value, or checks that it is the value that the size has.
  void bind_size(SizeId id, std::int64_t value, const std::string& of);
};

}  // namespace cvl::cpu
