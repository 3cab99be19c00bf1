// The report: what is measured, in which order, and the files that it becomes.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/gpu-report/meter.hpp"

namespace gpu_report {

struct ReportOptions {
  std::filesystem::path output = "gpu-report-results";
  std::filesystem::path folder;     // with bin/, test-bin/ and programs/; empty: measurements only
  std::filesystem::path programs;   // of the user's: every .vcode file in it is timed too
  double minutes = 10;              // for everything
  int smallest = 16, largest = 28;  // powers of two of the flat measurements
  int segmented = 26;               // power of two of the segmented ones
};

/// What the report will do, line by line.
std::string plan(const ReportOptions& options);

/// Measures and writes. Returns false when a test failed.
bool make_report(Meter& meter, const ReportOptions& options);

}  // namespace gpu_report
