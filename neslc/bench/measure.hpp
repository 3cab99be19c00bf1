// Evaluates an expression for growing n.
#pragma once

#include <functional>

#include "neslc/bench/measurement.hpp"
#include "neslc/command/toplevel.hpp"

namespace neslc::bench {

/// Measures what the plan says, size by size, and tells each point as soon as it is complete. A
/// size that fails is shown as errors are, and the next one is tried; a wrong expression, an
/// interruption or the time limit ends the measurement. Returns the greatest status of these
/// errors. Throws cvl::Failure if there is no such backend.
int measure(Toplevel& top, const Plan& plan, const std::function<void(Point)>& tell);

}  // namespace neslc::bench
