// The report: steps that are processes of their own, the page that they become, and the archive.
//
// Whatever a step does, hangs and crashes included, the next one begins in time, and the page and
// the archive are written again after each.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/gpu-report/measurements.hpp"

namespace gpu_report {

struct ReportOptions {
  std::filesystem::path self;  // this program
  std::filesystem::path output = "gpu-report-results";
  std::filesystem::path folder;    // with bin/, test-bin/ and programs/; empty: measurements only
  std::filesystem::path programs;  // of the user's: every .vcode and .fcode file is timed too
  double minutes = 8;              // for everything
  double patience = 1;             // limits of steps are multiplied by it
  Lengths lengths;
};

struct Step {
  std::string name;   // of its files: NAME.html, NAME.csv, NAME.log
  std::string title;  // of its part of the page
  double limit;       // seconds
  std::vector<std::string> command;
};

/// In their order: what tells whether the results are right comes before what takes times, and what
/// is slow and wanted least, the tools of compute-sanitizer, at the end.
std::vector<Step> steps(const ReportOptions& options);

/// What the report will do, line by line.
std::string plan(const ReportOptions& options);

/// Runs the steps; the archive is OUTPUT.tar. Returns false when one has not passed.
bool make_report(const ReportOptions& options);

/// Runs a step that measures, in this process, with a meter that it makes. False when there is none
/// of that name.
bool run_step(const std::string& name, const ReportOptions& options,
              const std::function<std::unique_ptr<Meter>()>& meter);

}  // namespace gpu_report
