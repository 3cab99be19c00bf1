// When a kernel pays.
//
// Planning a kernel and finding out what its steps are takes as long as its SPEC does on some ten
// thousand elements, which many kernels of a short run never see. So a kernel begins as its SPEC.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cvl/backend.hpp"
#include "cvl/value.hpp"
#include "vcode/kernel.hpp"

namespace vinterp {

/// When RUN gives a kernel to the vector library; before that, and else, it runs the SPEC.
enum class KernelUse : std::uint8_t { Never, WhenItPays, Always };

/// Counts the elements that a kernel has been run on.
class WarmUp {
 public:
  /// `kernel` has passed verification and is needed here only.
  explicit WarmUp(const vcode::Kernel& kernel);

  /// Counts a run. True once it is, with those before, one of more than `enough` elements.
  /// REQUIRES: the operands (deepest first) have the types of the kernel's IN.
  bool pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough);

 private:
  std::int64_t extent(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) const;

  std::size_t operands_;
  std::int64_t longest_literal_ = 0;  // length of a space that is a number
  /// Some of its spaces are as long as elements of INT operands say, at most so many times that;
  /// 0: no space is.
  std::int64_t growth_ = 0;
  std::int64_t elements_ = 0;  // so far
};

}  // namespace vinterp
