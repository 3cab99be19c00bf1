// The order of RANK and SORT.
#pragma once

#include <limits>

#include "cvl/scalar_ops.hpp"

namespace cvl {

/// The bits of an element as an unsigned number whose order is that of the elements: INT by value;
/// FLOAT by sign and magnitude, so that -0.0 comes before 0.0, and all NaNs alike after everything
/// else. Which sign and payload a computed NaN has depends on the processor.
template <class U, bool is_float>
CVL_FN U sort_key(U bits) {
  constexpr int kDigits = std::numeric_limits<U>::digits;
  constexpr U kSign = U{1} << (kDigits - 1);
  if constexpr (is_float) {
    constexpr U kInfinity = kDigits == 64 ? static_cast<U>(0x7FF0000000000000) : U{0x7F800000};
    const U negative = static_cast<U>(U{0} - (bits >> (kDigits - 1)));
    return (bits & ~kSign) > kInfinity ? ~U{0} : bits ^ (negative | kSign);
  } else {
    return bits ^ kSign;
  }
}

}  // namespace cvl
