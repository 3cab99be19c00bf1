// The page of the report.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/gpu-report/process.hpp"
#include "bench/gpu-report/report.hpp"
#include "bench/gpu-report/table.hpp"

namespace gpu_report {

/// A step that has ended; nothing where there was no time for it.
struct DoneStep {
  Step step;
  std::optional<Ended> ended;
};

/// Did a test say that there was no device for it?
bool is_skipped(const Ended& ended);

Table steps_table(const std::vector<DoneStep>& done);

/// From the sections that the steps have left in the folder; where one has not passed, with the end
/// of what it wrote.
std::string page(const std::filesystem::path& folder, const std::vector<DoneStep>& done);

}  // namespace gpu_report
