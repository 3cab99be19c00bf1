#include "cvl-cpu/kernel_state.hpp"

#include <tuple>

namespace cvl::cpu {

void FaultLog::note(const KernelFault& fault) {
  const auto key = [](const KernelFault& f) { return std::tuple(f.binding, f.position, f.node); };
  const std::lock_guard lock(mutex_);
  if (!first_ || key(fault) < key(*first_)) first_ = fault;
}

void FaultLog::raise(const vcode::Kernel& kernel) const {
  throw failure_of(kernel, *first_);
}

void KernelState::fail_mismatch(SizeId id, std::int64_t value, const std::string& of) const {
  throw size_mismatch(*plan.kernel, id, of, value, size(id));
}

}  // namespace cvl::cpu
