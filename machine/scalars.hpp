// Operations on single elements, as programs do them between their vectors. Asking the vector
// library for one takes several times as long as computing it.
#pragma once

#include "cvl/value.hpp"
#include "machine/decoded.hpp"

namespace vinterp {

/// Computes the result over the first operand, if the operation is one of those that are simple and
/// cannot fail, and all operands are single elements that are here and not on a device. Else false,
/// and nothing has been done. REQUIRES: types and lengths fit.
bool compute_scalar(const TypedOp& op, cvl::Widths widths, cvl::Value* operands);

}  // namespace vinterp
