// When a kernel pays.
//
// Planning a kernel and finding out what its steps are takes as long as its SPEC does on some ten
// thousand elements, which many kernels of a short run never see. So a kernel begins as its SPEC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

  /// Counts a run. True from the first run on that has more than `enough` elements, or with those
  /// before several times as many.
  /// REQUIRES: the operands (deepest first) have the types of the kernel's IN.
  bool pays(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough);

 private:
  /// What the elements of an INT operand say about the length of some space.
  enum class Says : std::uint8_t {
    Nothing,
    Greatest,  // one of them may be a length
    Sum,       // they may be lengths of segments
  };
  struct Measured {
    std::size_t operand;
    Says says;
  };

  void find_measured(const vcode::Kernel& kernel, const std::vector<bool>& spaces);
  std::int64_t extent(cvl::Backend& backend, const cvl::Value* operands, std::int64_t enough) const;

  std::size_t operands_;
  std::int64_t longest_literal_ = 0;  // length of a space that is a number
  std::vector<Measured> measured_;
  bool multiplies_ = false;    // are lengths products, and not sums, of that?
  std::int64_t growth_ = 1;    // and of constants that make up so much
  std::int64_t elements_ = 0;  // so far
  bool pays_ = false;
};

}  // namespace vinterp
