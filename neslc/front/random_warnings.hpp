// A warning about random numbers that are all equal.
#pragma once

#include <vector>

#include "neslc/front/typed.hpp"
#include "vcode/diagnostics.hpp"

namespace neslc {

/// A part of an apply-to-each that depends on none of its variables is evaluated once, so
/// `{rand(10) : i in s}` draws one number and repeats it. One warning for each such call of `rand`;
/// the spans belong to `body.source`.
std::vector<vcode::Diagnostic> random_warnings(const Body& body);

}  // namespace neslc
