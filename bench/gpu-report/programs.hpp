// Whole programs, timed with each way of running them.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "bench/gpu-report/table.hpp"

namespace gpu_report {

/// A table with one row per program: the five of the NESL/GPU paper first, with its times. Columns
/// are the ways of running in programs.cpp. `say` is told what is under way; programs for which
/// `time_left` is false are left out.
Table time_programs(const std::filesystem::path& vinterp,
                    const std::vector<std::filesystem::path>& programs,
                    const std::function<bool()>& time_left,
                    const std::function<void(const std::string&)>& say);

}  // namespace gpu_report
