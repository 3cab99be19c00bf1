#include "bench/gpu-report/report.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <fmt/core.h>

#include "bench/gpu-report/archive.hpp"
#include "bench/gpu-report/page.hpp"
#include "bench/gpu-report/process.hpp"
#include "bench/gpu-report/programs.hpp"

namespace gpu_report {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A step that this program runs itself.
struct OwnStep {
  const char* name;
  const char* title;
  double limit;
  void (*measure)(Meter&, const Lengths&, Section&);
};
constexpr OwnStep kMeasurements[] = {
    {"flat", "Operations", 70, measure_flat},
    {"fused", "Fused passes", 30, measure_fused},
    {"segmented", "Segments", 55, measure_segmented},
    {"crossing", "From which length on the device is faster", 35, measure_crossing},
};
constexpr OwnStep kDevice = {"device", "The device", 20, describe_device};

/// A test in test-bin/, with what a device adds to, and what takes seconds.
struct Test {
  const char* name;
  double limit;
  std::vector<std::string> arguments;
};
const std::vector<Test>& tests() {
  static const std::vector<Test> table = {
      {"cuda-device-test", 45, {}},
      {"property-test", 50, {"[failures]"}},
      {"property-test", 50, {"[small]"}},
  };
  return table;
}
constexpr double kProgramsLimit = 90, kProgramLimit = 20, kSanitizerLimit = 30;

/// The tool of the toolkit, where it is wherever it may be.
fs::path find_sanitizer() {
  std::vector<fs::path> folders = {"/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer",
                                   "/opt/cuda/bin", "/usr/bin"};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr) continue;
    folders.push_back(fs::path(value) / "bin");
    folders.push_back(fs::path(value) / "compute-sanitizer");
  }
  const std::string path = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    folders.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  std::error_code ignored;
  for (const fs::path& folder : folders) {
    const fs::path tool = folder / "compute-sanitizer";
    if (fs::is_regular_file(tool, ignored)) return tool;
  }
  return {};
}

std::vector<fs::path> programs_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  if (folder.empty() || !fs::is_directory(folder, ignored)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".vcode" || extension == ".fcode") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// The options of a step of this program.
std::vector<std::string> own_command(const ReportOptions& options, const std::string& name) {
  return {options.self.string(),
          "--step=" + name,
          "--output=" + options.output.string(),
          "--folder=" + options.folder.string(),
          "--programs=" + options.programs.string(),
          fmt::format("--smallest={}", options.lengths.smallest),
          fmt::format("--largest={}", options.lengths.largest),
          fmt::format("--segmented={}", options.lengths.segmented)};
}

}  // namespace

std::vector<Step> steps(const ReportOptions& options) {
  std::vector<Step> result;
  const auto own = [&](const OwnStep& step) {
    result.push_back({step.name, step.title, step.limit, own_command(options, step.name)});
  };
  const auto test_program = [&](const char* name) {
    const fs::path test = options.folder / "test-bin" / name;
    return !options.folder.empty() && fs::exists(test) ? test : fs::path();
  };
  own(kDevice);
  for (const Test& test : tests()) {
    const fs::path program = test_program(test.name);
    if (program.empty()) continue;
    std::string name = test.name, title = std::string("Test ") + test.name;
    std::vector<std::string> command = {program.string()};
    for (const std::string& argument : test.arguments) {
      command.push_back(argument);
      title += " " + argument;
      name += "-" + argument.substr(1, argument.size() - 2);
    }
    result.push_back({name, title, test.limit, command});
  }
  for (const OwnStep& step : kMeasurements) own(step);
  if (!options.folder.empty()) {
    result.push_back({"programs", "Programs", kProgramsLimit, own_command(options, "programs")});
  }
  const fs::path tool = find_sanitizer(), test = test_program("cuda-device-test");
  for (const std::string name : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    if (tool.empty() || test.empty()) break;
    result.push_back(
        {name,
         "compute-sanitizer --tool " + name,
         kSanitizerLimit,
         {tool.string(), "--tool", name, "--error-exitcode", "1", test.string(), "~[steady]"}});
  }
  for (Step& step : result) step.limit *= options.patience;
  return result;
}

std::string plan(const ReportOptions& options) {
  std::string text = fmt::format("within {:g} minutes, results in {} and {}.tar:\n",
                                 options.minutes, options.output.string(), options.output.string());
  for (const Step& step : steps(options)) {
    text += fmt::format("- {} (at most {:g} s)\n", step.title, step.limit);
  }
  if (find_sanitizer().empty()) text += "- compute-sanitizer was not found\n";
  return text;
}

bool make_report(const ReportOptions& options) {
  const auto begin = Clock::now();
  fs::create_directories(options.output);
  std::vector<DoneStep> done;
  const auto write = [&] {
    write_file(options.output / "index.html", page(options.output, done));
    write_file(options.output / "steps.csv", steps_table(done).csv());
    pack(options.output, options.output.string() + ".tar");
  };
  bool passed = true;
  for (const Step& step : steps(options)) {
    const double used = std::chrono::duration<double>(Clock::now() - begin).count();
    const double left = options.minutes * 60 - used;
    if (left < 1) {
      done.push_back({step, std::nullopt});
      continue;
    }
    std::fprintf(stderr, "%s\n", step.title.c_str());
    const Ended ended = run_process(step.command, std::min(step.limit, left),
                                    options.output / (step.name + ".log"));
    std::fprintf(stderr, "  %s, %.1f s\n", text_of(ended).c_str(), ended.seconds);
    passed = passed && (ended.good() || is_skipped(ended));
    done.push_back({step, ended});
    write();
  }
  write();
  return passed;
}

bool run_step(const std::string& name, const ReportOptions& options,
              const std::function<std::unique_ptr<Meter>()>& meter) {
  Section section(options.output, name);
  if (name == "programs") {
    std::vector<fs::path> programs = programs_in(options.folder / "programs");
    for (const fs::path& program : programs_in(options.programs)) programs.push_back(program);
    const fs::path log = options.output / "program.out";
    time_programs(options.folder / "bin" / "vinterp", programs, kProgramLimit, log, section);
    fs::remove(log);
    return true;
  }
  std::vector<OwnStep> own = {kDevice};
  own.insert(own.end(), std::begin(kMeasurements), std::end(kMeasurements));
  for (const OwnStep& step : own) {
    if (name != step.name) continue;
    step.measure(*meter(), options.lengths, section);
    return true;
  }
  return false;
}

}  // namespace gpu_report
