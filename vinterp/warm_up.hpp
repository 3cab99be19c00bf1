// When a kernel pays.
//
// Planning a kernel and finding out what its steps are takes as long as its SPEC does on some ten
// thousand elements, which many kernels of a short run never see. So a kernel begins as its SPEC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "cvl/backend.hpp"
#include "cvl/value.hpp"
#include "vcode/kernel_reach.hpp"

namespace vinterp {

/// When RUN gives a kernel to the vector library; before that, and else, it runs the SPEC.
enum class KernelUse : std::uint8_t { Never, WhenItPays, Always };

/// Counts the elements that a kernel has been run on.
class WarmUp {
 public:
  WarmUp(std::size_t operands, vcode::KernelReach reach)
      : operands_(operands), reach_(std::move(reach)) {}

  /// Counts a run. True from the first run on that has more than `enough` elements, or with those
  /// before several times as many.
  /// REQUIRES: the operands (deepest first) have the types of the kernel's IN.
  bool pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough);

 private:
  std::int64_t extent(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) const;

  std::size_t operands_;
  vcode::KernelReach reach_;
  std::int64_t elements_ = 0;  // so far
  bool pays_ = false;
};

}  // namespace vinterp
