// When a kernel pays.
//
// Planning a kernel and finding out what its steps are takes as long as its SPEC does on some ten
// thousand elements, which many kernels of a short run never see. So a kernel begins as its SPEC.
#pragma once

#include <cstdint>
#include <vector>

#include "cvl/backend.hpp"
#include "cvl/value.hpp"
#include "vcode/kernel.hpp"

namespace vinterp {

/// When RUN gives a kernel to the vector library; before that, and else, it runs the SPEC.
enum class KernelUse : std::uint8_t { Never, WhenItPays, Always };

/// Counts the operations on elements that a kernel has been run for.
class WarmUp {
 public:
  /// REQUIRES: a kernel that verify_kernel() accepts; it must outlive this.
  explicit WarmUp(const vcode::Kernel& kernel);

  /// Counts a run. True from the first run on that has more than `enough` elements, or that makes,
  /// with those before, several times as many operations on elements; always, if the kernel runs
  /// over lengths that only running it tells. REQUIRES: the operands (deepest first) have the types
  /// and lengths of the kernel's IN.
  bool pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough);

 private:
  std::int64_t extent(cvl::Backend& backend, const cvl::Value* operands) const;

  const vcode::Kernel* kernel_;
  std::int64_t longest_ = 0;             // of the spaces whose length is a number
  std::vector<vcode::SizeId> computed_;  // lengths of spaces that SIZE binds
  std::int64_t operations_ = 0;          // on an element
  std::int64_t work_ = 0;                // operations so far
  bool pays_ = false;
};

}  // namespace vinterp
