// gpu-report: tests and measures the CUDA library on this machine's device and writes a page.
#include <charconv>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "bench/gpu-report/report.hpp"
#include "cvl/failure.hpp"

namespace {

constexpr const char* kHelp =
    "usage: gpu-report [options]\n"
    "Tests and measures the CUDA vector library on device 0. Writes index.html, a page with "
    "plots,\n"
    "and for each step its tables (.csv) and what it wrote (.log); packs all of it into one "
    "archive.\n"
    "  --output=DIR     where to (default: gpu-report-results); the archive is DIR.tar\n"
    "  --folder=DIR     folder made by the build target gpu-report-folder: its test-bin/ is run,\n"
    "                   its programs/ are timed with its bin/vinterp (default: neither)\n"
    "  --programs=DIR   also time the .vcode and .fcode programs in DIR, which read no input\n"
    "  --minutes=N      end within this time (default: 8)\n"
    "  --patience=N     multiply the limits of the steps (default: 1)\n"
    "  --smallest=N, --largest=N\n"
    "                   vectors have from 2^N to 2^N elements (default: 16 and 28)\n"
    "  --segmented=N    segmented operations are measured on 2^N elements (default: 26)\n"
    "  --step=NAME      run one step that measures, in this process: device, flat, fused, "
    "segmented,\n"
    "                   crossing or programs\n"
    "  --dry-run        say what would be done, and whether there is a device\n"
    "  --help           this text\n"
    "Exit status: 0 done, 1 a step has not passed, 2 usage, 5 no device, 70 anything else.\n";

/// The value of --NAME=VALUE.
bool take(std::string_view argument, std::string_view name, std::string_view& value) {
  if (argument.substr(0, name.size()) != name) return false;
  value = argument.substr(name.size());
  return true;
}

template <class Number>
bool parse_number(std::string_view text, Number least, Number most, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= least &&
         number <= most;
}

struct Arguments {
  gpu_report::ReportOptions options;
  std::string step;
  bool dry = false, help = false;

  /// False when the argument cannot be understood.
  bool take_one(std::string_view argument) {
    gpu_report::Lengths& lengths = options.lengths;
    std::string_view value;
    if (argument == "--help") {
      help = true;
    } else if (argument == "--dry-run") {
      dry = true;
    } else if (take(argument, "--output=", value)) {
      options.output = value;
    } else if (take(argument, "--folder=", value)) {
      options.folder = value;
    } else if (take(argument, "--programs=", value)) {
      options.programs = value;
    } else if (take(argument, "--step=", value)) {
      step = value;
    } else if (take(argument, "--minutes=", value)) {
      return parse_number(value, 0.01, 1e4, options.minutes);
    } else if (take(argument, "--patience=", value)) {
      return parse_number(value, 0.01, 1e3, options.patience);
    } else if (take(argument, "--smallest=", value)) {
      return parse_number(value, 0, 32, lengths.smallest);
    } else if (take(argument, "--largest=", value)) {
      return parse_number(value, 0, 32, lengths.largest);
    } else if (take(argument, "--segmented=", value)) {
      return parse_number(value, 0, 30, lengths.segmented);
    } else {
      return false;
    }
    return true;
  }
};

int run(const Arguments& arguments) {
  if (!arguments.step.empty()) {
    if (gpu_report::run_step(arguments.step, arguments.options, gpu_report::make_meter)) return 0;
    std::fprintf(stderr, "gpu-report: there is no step `%s`; try --help\n", arguments.step.c_str());
    return 2;
  }
  const std::string reason = gpu_report::no_device();
  if (arguments.dry) {
    std::fputs(gpu_report::plan(arguments.options).c_str(), stdout);
    std::printf("device: %s\n", reason.empty() ? "usable" : reason.c_str());
    return 0;
  }
  if (!reason.empty()) {
    std::fprintf(stderr, "gpu-report: %s\n", reason.c_str());
    return 5;
  }
  return gpu_report::make_report(arguments.options) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    if (arguments.take_one(argv[k])) continue;
    std::fprintf(stderr, "gpu-report: cannot understand `%s`; try --help\n", argv[k]);
    return 2;
  }
  if (arguments.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  try {
    arguments.options.self = std::filesystem::read_symlink("/proc/self/exe");
    return run(arguments);
  } catch (const cvl::Failure& failure) {
    std::fprintf(stderr, "gpu-report: %s\n", failure.message().c_str());
    for (const std::string& note : failure.notes()) std::fprintf(stderr, "  %s\n", note.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu-report: %s\n", error.what());
  }
  return 70;
}
