// The choice of element types by the widths of a run, for the files that fill the kernel table.
#pragma once

#include <cstdint>
#include <type_traits>

#include "cvl/scalar_ops.hpp"
#include "cvl/value.hpp"

namespace cvl::cpu::CVL_ISA {

/// Calls visit.template operator()<I, F>() with the element types of the run.
template <class Visit>
CVL_FN void for_widths(Widths widths, Visit visit) {
  if (widths.int_bytes == 4) {
    widths.float_bytes == 4 ? visit.template operator()<std::int32_t, float>()
                            : visit.template operator()<std::int32_t, double>();
  } else {
    widths.float_bytes == 4 ? visit.template operator()<std::int64_t, float>()
                            : visit.template operator()<std::int64_t, double>();
  }
}

/// The same for kernels that only move FLOAT: F is an unsigned integer of its size.
template <class Visit>
CVL_FN void for_element_sizes(Widths widths, Visit visit) {
  for_widths(widths, [&]<class I, class F>() {
    using Bits = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
    visit.template operator()<I, Bits>();
  });
}

}  // namespace cvl::cpu::CVL_ISA
