// Measurements as text: the table, the growth, and files for other programs.
#pragma once

#include <string>

#include "neslc/bench/measurement.hpp"

namespace neslc::bench {

/// The heads of the columns.
std::string table_head();
/// A line for each number of threads, and one for a failure.
std::string table_rows(const Point& point);
/// The growth of work, depth and times, and how well it fits.
std::string growth_text(const Measurements& measurements);

/// One line for each size and number of threads, under a line with the names of the columns.
std::string csv(const Measurements& measurements);
/// One object, with the seconds of every repetition and the growths.
std::string json(const Measurements& measurements);

}  // namespace neslc::bench
