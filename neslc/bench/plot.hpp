// Measurements as a picture.
#pragma once

#include <string>

#include "neslc/bench/measurement.hpp"

namespace neslc::bench {

/// An SVG of work and depth, of the times and, for several numbers of threads, of the speed-up,
/// each against n. All axes but that of the speed-up are logarithmic. Growths that fit are dashed
/// lines.
std::string plot(const Measurements& measurements);

}  // namespace neslc::bench
