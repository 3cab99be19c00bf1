#include "cvl-cpu/kernel_state.hpp"

#include <tuple>

#include <fmt/core.h>

#include "cvl/failure.hpp"
#include "cvl/op_failure.hpp"

namespace cvl::cpu {
namespace {

using vcode::ErrorCode;

std::string at_position(const KernelFault& fault) {
  return fmt::format("at position {} of {} (counted from 0)", fault.position, fault.count);
}

}  // namespace

void FaultLog::note(const KernelFault& fault) {
  const auto key = [](const KernelFault& f) { return std::tuple(f.binding, f.position, f.node); };
  const std::lock_guard lock(mutex_);
  if (!first_ || key(fault) < key(*first_)) first_ = fault;
}

void FaultLog::raise(const vcode::Kernel& kernel) const {
  const KernelFault& fault = *first_;
  switch (fault.kind) {
    case KernelFault::Kind::Division:
      throw division_by_zero(fault.op, fault.position, fault.count);
    case KernelFault::Kind::Index:
      throw Failure(
          ErrorCode::IndexOutOfRange,
          fmt::format("index {} is out of range in kernel `{}`", fault.value, kernel.name),
          {fmt::format("`{}` has {} elements; the index is used {}", kernel.arrays[fault.id].name,
                       fault.limit, at_position(fault))});
    case KernelFault::Kind::Segment:
      throw Failure(
          ErrorCode::IndexOutOfRange,
          fmt::format("index {} is out of range in kernel `{}`", fault.value, kernel.name),
          {fmt::format("the index refers to `{}`, where indices below {} are allowed, {}",
                       kernel.segdes[fault.id].name, fault.limit, at_position(fault))});
    case KernelFault::Kind::Assertion:
      throw Failure(
          ErrorCode::AssertionFailed, kernel.bindings[fault.binding].message,
          {fmt::format("the check of kernel `{}` fails {}", kernel.name, at_position(fault))});
    case KernelFault::Kind::Length:
      throw negative_length(fault.position, fault.value, fault.count);
    case KernelFault::Kind::Size:
      break;
  }
  throw Failure(ErrorCode::NegativeLength,
                fmt::format("`{}` of kernel `{}` cannot be {}", kernel.sizes[fault.id].name,
                            kernel.name, fault.value),
                {"a size must not be negative"});
}

void KernelState::bind_size(SizeId id, std::int64_t value, const std::string& of) {
  std::int64_t& size = sizes[plan.canonical_size[id]];
  if (size == kUnbound) {
    size = value;
    return;
  }
  if (size == value) return;
  const vcode::Kernel& kernel = *plan.kernel;
  const vcode::KernelSize& name = kernel.sizes[id];
  throw Failure(ErrorCode::LengthMismatch,
                fmt::format("lengths do not fit in kernel `{}`: `{}` has {} where {} is needed",
                            kernel.name, of, value, size),
                name.name.empty() ? std::vector<std::string>{}
                                  : std::vector{fmt::format("`{}` is {}", name.name, size)});
}

}  // namespace cvl::cpu
