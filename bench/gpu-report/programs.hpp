// Whole programs, on the CPU and on the device.
#pragma once

#include <filesystem>
#include <vector>

#include "bench/gpu-report/section.hpp"

namespace gpu_report {

/// A table with one row for each program: the five of the NESL/GPU paper first, with its times,
/// then the others. Files of the former are called STEM-SIZE.fcode. Programs are run with
/// `vinterp`, each for at most `limit` seconds; with `log` in the place of what they write.
void time_programs(const std::filesystem::path& vinterp,
                   const std::vector<std::filesystem::path>& programs, double limit,
                   const std::filesystem::path& log, Section& section);

}  // namespace gpu_report
