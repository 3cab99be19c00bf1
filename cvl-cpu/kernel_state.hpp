// What a kernel holds while it runs, and how it fails.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/kernel_fault.hpp"
#include "cvl/kernel_plan.hpp"
#include "cvl/random.hpp"

namespace cvl::cpu {

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
        arrays(kernel_plan.kernel->arrays.size() + kArraysBehind),
        segdes(kernel_plan.kernel->segdes.size()),
        sizes(kernel_plan.kernel->sizes.size()) {}

  CpuBackend& cpu;
  const KernelPlan& plan;
  /// By id; those that do not exist yet are empty. Machine code may read a whole register where an
  /// Inline vector lies.
  std::vector<Vector> arrays;
  std::vector<Segdes> segdes;
  std::vector<std::int64_t> sizes;  // by canonical id; kUnbound: not known yet
  RandomState random{};             // when the run began
  FaultLog faults;

  static constexpr std::size_t kArraysBehind = Heap::kPadding / sizeof(Vector) + 1;
  static constexpr std::int64_t kUnbound = -1;
  std::int64_t size(SizeId id) const { return sizes[plan.canonical_size[id]]; }
  /// The place in the stream of the number at position 0 of a draw of the plan; of the number of
  /// draws: the place behind all of them.
  std::uint64_t stream_at(std::size_t draw) const {
    return random.drawn + plan.drawn_before(draw, [&](SizeId id) { return size(id); });
  }
  /// Gives a size its value, or checks that it is the value that the size has.
  void bind_size(SizeId id, std::int64_t value, const std::string& of) {
    std::int64_t& size = sizes[plan.canonical_size[id]];
    if (size == kUnbound) size = value;
    if (size != value) [[unlikely]]
      fail_mismatch(id, value, of);
  }
  /// Puts down a descriptor that a pass has made, and binds its sizes.
  void put(SegdesId id, Segdes descriptor) {
    const vcode::KernelSegdes& known = plan.kernel->segdes[id];
    bind_size(known.count, descriptor.count, known.name);
    bind_size(known.total, descriptor.total, known.name);
    segdes[id] = std::move(descriptor);
  }

 private:
  [[noreturn]] void fail_mismatch(SizeId id, std::int64_t value, const std::string& of) const;
};

}  // namespace cvl::cpu
