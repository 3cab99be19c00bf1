// `nesl bench`.
#pragma once

#include "neslc/bench/plan.hpp"
#include "neslc/command/toplevel.hpp"

namespace neslc::bench {

/// Where the measurements go, besides the table on standard output. Empty: nowhere.
struct Files {
  std::string plot;  // SVG
  std::string data;  // JSON if its name ends so, else CSV
};

/// Measures an expression after the forms of `program` (empty: none), prints the table as it grows
/// and what the growth is, writes the files. Returns the exit status. Throws CommandError and
/// cvl::Failure.
int run_bench(Toplevel& top, const std::string& program, const Plan& plan, const Files& files);

}  // namespace neslc::bench
