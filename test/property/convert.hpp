// Values of the reference evaluator to values of a vector library and back.
#pragma once

#include "cvl/backend.hpp"
#include "property/operands.hpp"
#include "property/random.hpp"
#include "reference/value.hpp"

namespace property {

reference::Widths widths_of(const cvl::Widths& widths);

/// The value in the library's memory, in the layout of the operand. Descriptors whose segments have
/// equal lengths arrive in either of their two forms.
cvl::Value to_library(cvl::Backend& backend, const Operand& operand, Random& random);

/// REQUIRES: not a pair.
reference::Value from_library(cvl::Backend& backend, const cvl::Value& value);

}  // namespace property
