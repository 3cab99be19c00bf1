#include "cvl/kernel_fault.hpp"

#include <fmt/core.h>

#include "cvl/op_failure.hpp"

namespace cvl {
namespace {

using vcode::ErrorCode;

std::string at_position(const KernelFault& fault) {
  return fmt::format("at position {} of {} (counted from 0)", fault.position, fault.count);
}

Failure index_failure(const vcode::Kernel& kernel, const KernelFault& fault, std::string note) {
  return {ErrorCode::IndexOutOfRange,
          fmt::format("index {} is out of range in kernel `{}`", fault.value, kernel.name),
          {std::move(note)}};
}

}  // namespace

Failure failure_of(const vcode::Kernel& kernel, const KernelFault& fault) {
  switch (fault.kind) {
    case KernelFault::Kind::Division:
      return division_by_zero(fault.op, fault.position, fault.count);
    case KernelFault::Kind::Index:
      return index_failure(
          kernel, fault,
          fmt::format("`{}` has {} elements; the index is used {}", kernel.arrays[fault.id].name,
                      fault.limit, at_position(fault)));
    case KernelFault::Kind::Segment:
      return index_failure(
          kernel, fault,
          fmt::format("the index refers to `{}`, where indices below {} are allowed, {}",
                      kernel.segdes[fault.id].name, fault.limit, at_position(fault)));
    case KernelFault::Kind::Assertion:
      return {ErrorCode::AssertionFailed,
              kernel.bindings[fault.binding].message,
              {fmt::format("the check of kernel `{}` fails {}", kernel.name, at_position(fault))}};
    case KernelFault::Kind::Random:
      return random_range(fault.position, fault.value, fault.count);
    case KernelFault::Kind::Length:
      return negative_length(fault.position, fault.value, fault.count);
    case KernelFault::Kind::Size:
      break;
  }
  return {ErrorCode::NegativeLength,
          fmt::format("`{}` of kernel `{}` cannot be {}", kernel.sizes[fault.id].name, kernel.name,
                      fault.value),
          {"a size must not be negative"}};
}

Failure size_mismatch(const vcode::Kernel& kernel, SizeId id, const std::string& of,
                      std::int64_t found, std::int64_t needed) {
  const vcode::KernelSize& name = kernel.sizes[id];
  return {ErrorCode::LengthMismatch,
          fmt::format("lengths do not fit in kernel `{}`: `{}` has {} where {} is needed",
                      kernel.name, of, found, needed),
          name.name.empty() ? std::vector<std::string>{}
                            : std::vector{fmt::format("`{}` is {}", name.name, needed)}};
}

Failure segment_mismatch(const vcode::Kernel& kernel, SegdesId under, std::int64_t under_count,
                         SegdesId into, std::int64_t into_count) {
  return {
      ErrorCode::LengthMismatch,
      fmt::format("lengths do not fit in kernel `{}`: `{}` has {} segments, `{}` {}", kernel.name,
                  kernel.segdes[under].name, under_count, kernel.segdes[into].name, into_count),
      {}};
}

}  // namespace cvl
