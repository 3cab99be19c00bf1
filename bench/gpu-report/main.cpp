// gpu-report: tests and measures the CUDA library on this machine's device and writes the tables.
#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "bench/gpu-report/report.hpp"
#include "cvl-cuda/make_backend.hpp"
#include "cvl/failure.hpp"

namespace {

constexpr const char* kHelp =
    "usage: gpu-report [options]\n"
    "Tests and measures the CUDA vector library on device 0 and writes report.md, tables (.csv)\n"
    "and plots (.svg).\n"
    "  --output=DIR     where to (default: gpu-report-results)\n"
    "  --folder=DIR     folder made by the build target gpu-report-folder: its test-bin/ is run,\n"
    "                   its programs/ are timed with its bin/vinterp (default: neither)\n"
    "  --programs=DIR   also time the .vcode programs in DIR, which read no input\n"
    "  --minutes=N      stop beginning new work in time for this limit (default: 10)\n"
    "  --largest=N      longest vectors have 2^N elements (default: 28)\n"
    "  --dry-run        say what would be done, and whether there is a device\n"
    "  --help           this text\n"
    "Exit status: 0 done, 1 a test failed, 2 usage, 5 no device, 70 anything else.\n";

/// The value of --NAME=VALUE.
bool take(std::string_view argument, std::string_view name, std::string_view& value) {
  if (argument.substr(0, name.size()) != name) return false;
  value = argument.substr(name.size());
  return true;
}

bool parse_number(std::string_view text, int least, int most, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= least &&
         number <= most;
}

int usage(std::string_view argument) {
  std::fprintf(stderr, "gpu-report: cannot understand `%.*s`; try --help\n",
               static_cast<int>(argument.size()), argument.data());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  gpu_report::ReportOptions options;
  bool dry = false;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    std::string_view value;
    int number = 0;
    if (argument == "--help") {
      std::fputs(kHelp, stdout);
      return 0;
    }
    if (argument == "--dry-run") {
      dry = true;
    } else if (take(argument, "--output=", value)) {
      options.output = value;
    } else if (take(argument, "--folder=", value)) {
      options.folder = value;
    } else if (take(argument, "--programs=", value)) {
      options.programs = value;
    } else if (take(argument, "--minutes=", value) && parse_number(value, 1, 1000, number)) {
      options.minutes = number;
    } else if (take(argument, "--largest=", value) && parse_number(value, 16, 32, number)) {
      options.largest = number;
      options.segmented = number < options.segmented ? number : options.segmented;
    } else {
      return usage(argument);
    }
  }
  const std::string reason = cvl::cuda::cuda_unavailable_reason();
  if (dry) {
    std::fputs(gpu_report::plan(options).c_str(), stdout);
    std::printf("device: %s\n", reason.empty() ? "usable" : reason.c_str());
    return 0;
  }
  if (!reason.empty()) {
    std::fprintf(stderr, "gpu-report: %s\n", reason.c_str());
    return 5;
  }
  try {
    const auto meter = gpu_report::make_device_meter();
    return gpu_report::make_report(*meter, options) ? 0 : 1;
  } catch (const cvl::Failure& failure) {
    std::fprintf(stderr, "gpu-report: %s\n", failure.message().c_str());
    for (const std::string& note : failure.notes()) std::fprintf(stderr, "  %s\n", note.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu-report: %s\n", error.what());
  }
  return 70;
}
