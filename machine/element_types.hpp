// From the widths of a run to the types of its elements.
#pragma once

#include <cstdint>

#include "cvl/backend.hpp"

namespace vinterp {

/// Calls `use` with a number of the type that INT has in this run.
template <class Use>
auto with_int(const cvl::Widths& widths, Use use) {
  return widths.int_bytes == 8 ? use(std::int64_t{}) : use(std::int32_t{});
}

/// The same of INT or FLOAT.
template <class Use>
auto with_element(const cvl::Widths& widths, vcode::Type type, Use use) {
  if (type == vcode::Type::Int) return with_int(widths, use);
  return widths.float_bytes == 8 ? use(double{}) : use(float{});
}

}  // namespace vinterp
