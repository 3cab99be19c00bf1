#include "bench/gpu-report/report.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <stdexcept>

#include <fmt/core.h>

#include "bench/gpu-report/cases.hpp"
#include "bench/gpu-report/command.hpp"
#include "bench/gpu-report/plot.hpp"
#include "bench/gpu-report/programs.hpp"
#include "bench/gpu-report/table.hpp"
#include "cvl/failure.hpp"

namespace gpu_report {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The work in its order, and the part of the time at which each must have ended.
constexpr double kTestsEnd = 0.25, kFlatEnd = 0.5, kSegmentedEnd = 0.65, kProgramsEnd = 0.8;

/// Arguments of the tests in test-bin/: what a device adds to, and what takes seconds.
struct TestArguments {
  const char* name;
  const char* arguments;
};
constexpr TestArguments kTestArguments[] = {
    {"property-test", "[small],[failures]"},
    {"vcode-smith", "--cuda --count 2000 --seed 200000"},
};
constexpr const char* kSanitizers[] = {"memcheck", "racecheck", "initcheck", "synccheck"};

/// A file that must be written.
void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string rate(double bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", bytes / seconds / 1e9) : "-";
}

/// "flat", "Order and choice": flat-order-and-choice.
std::string file_name(std::string_view first, std::string_view second) {
  std::string result = fmt::format("{}-{}", first, second);
  for (char& c : result) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : '-';
  }
  return result;
}

class Report {
 public:
  Report(Meter& meter, const ReportOptions& options)
      : meter_(meter), options_(options), begin_(Clock::now()) {}

  bool make() {
    fs::create_directories(options_.output);
    const std::time_t now = std::time(nullptr);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M", std::localtime(&now));
    text_ = fmt::format("# GPU report\n\n{}, {}\n\n", date, meter_.device());
    bool passed = run_tests();
    measure_flat();
    measure_segmented();
    measure_programs();
    passed = run_sanitizers() && passed;
    write_file(options_.output / "report.md", text_);
    return passed;
  }

 private:
  bool time_left(double part) const {
    const double used = std::chrono::duration<double>(Clock::now() - begin_).count();
    return used < part * options_.minutes * 60;
  }
  void say(const std::string& line) const { std::fprintf(stderr, "%s\n", line.c_str()); }
  void add_table(const std::string& title, const std::string& file, const Table& table) {
    text_ += fmt::format("## {}\n\n{}\n", title, table.markdown());
    write_file(options_.output / (file + ".csv"), table.csv());
  }
  void add_plot(const std::string& file, const Plot& plot) {
    write_file(options_.output / (file + ".svg"), svg(plot));
    text_ += fmt::format("![{}]({}.svg)\n\n", plot.title, file);
  }
  static std::vector<fs::path> files_in(const fs::path& folder, const char* extension) {
    std::vector<fs::path> files;
    if (!fs::is_directory(folder)) return files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().extension() == extension) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  /// Runs a test and adds its row to the table.
  bool run_test(const std::string& name, const std::string& command, double end, Table& table) {
    if (!time_left(end)) {
      table.add({name, "no time left", "-"});
      return true;
    }
    say("test " + name);
    const CommandResult result = run_command("timeout 150 " + command);
    const bool good = result.status == 0;
    const std::string text = good                   ? "passed"
                             : result.status == 77  ? "skipped: no device"
                             : result.status == 124 ? "FAILED: not done after 150 s"
                                                    : fmt::format("FAILED, {}", result.status);
    table.add({name, text, fmt::format("{:.1f}", result.seconds)});
    if (!good) write_file(options_.output / (name + ".log"), result.output);
    return good || result.status == 77;
  }

  bool run_tests() {
    if (options_.folder.empty()) return true;
    Table table({"test", "result", "seconds"});
    bool passed = true;
    for (const fs::path& test : files_in(options_.folder / "test-bin", "")) {
      std::string command = quoted(test);
      for (const TestArguments& one : kTestArguments) {
        if (test.filename() == one.name) command += std::string(" ") + one.arguments;
      }
      passed = run_test(test.filename().string(), command, kTestsEnd, table) && passed;
    }
    if (!table.empty()) add_table("Tests", "tests", table);
    return passed;
  }

  /// The kernel tests again under the tools of the toolkit, with the time that is left.
  bool run_sanitizers() {
    const fs::path test = options_.folder / "test-bin" / "cuda-device-test";
    const std::string tool = "compute-sanitizer";
    if (options_.folder.empty() || !fs::exists(test)) return true;
    if (run_command("command -v " + tool).status != 0) {
      text_ += "compute-sanitizer was not found on the path and did not run.\n\n";
      return true;
    }
    Table table({"compute-sanitizer", "result", "seconds"});
    bool passed = true;
    for (const std::string name : kSanitizers) {
      const std::string command =
          fmt::format("{} --tool {} --error-exitcode 1 {} '~[steady]'", tool, name, quoted(test));
      passed = run_test(name, command, 0.95, table) && passed;
    }
    add_table("Kernel tests under compute-sanitizer", "sanitizer", table);
    return passed;
  }

  void measure_flat() {
    Table table({"operation", "elements", "time (us)", "GB/s", "vendor GB/s", "of vendor",
                 "launches", "waits"});
    Series copy{"device copy", {}, true};
    for (int power = options_.smallest; power <= options_.largest; power += 2) {
      const std::int64_t n = std::int64_t{1} << power;
      if (const auto work = meter_.baseline(Baseline::Copy, n, {})) {
        const double seconds = measure(meter_, work);
        copy.points.emplace_back(static_cast<double>(n),
                                 8.0 * static_cast<double>(n) / seconds / 1e9);
      }
    }
    std::vector<Plot> plots;
    for (const Case& one : flat_cases()) {
      if (plots.empty() || plots.back().title != one.group) {
        plots.push_back({std::string(one.group), "elements", "GB/s", {copy}});
      }
      Series ours{one.name, {}}, vendor{"", {}, true};
      ours.color = vendor.color = static_cast<int>(plots.back().series.size());
      for (int power = options_.smallest; power <= options_.largest; power += 2) {
        if (!time_left(kFlatEnd)) break;
        measure_case(one, std::int64_t{1} << power, table, ours, vendor);
      }
      plots.back().series.push_back(std::move(ours));
      if (!vendor.points.empty()) plots.back().series.push_back(std::move(vendor));
    }
    add_table("Flat operations: least bytes moved, per second of device time", "flat", table);
    for (const Plot& plot : plots) add_plot(file_name("flat", plot.title), plot);
  }

  void measure_case(const Case& one, std::int64_t n, Table& table, Series& ours, Series& vendors) {
    say(fmt::format("{} of {}", one.name, n));
    try {
      const auto work = one.prepare(meter_.backend(), n);
      work();
      meter_.backend().synchronize();
      const cvl::DeviceCounters before = meter_.backend().counters();
      work();
      const cvl::DeviceCounters after = meter_.backend().counters();
      const double bytes = one.bytes_per_element * static_cast<double>(n);
      const double seconds = measure(meter_, work);
      ours.points.emplace_back(static_cast<double>(n), bytes / seconds / 1e9);
      std::string vendor = "-", share = "-";
      if (const auto baseline = meter_.baseline(one.baseline, n, {})) {
        const double theirs = measure(meter_, baseline);
        vendors.points.emplace_back(static_cast<double>(n), bytes / theirs / 1e9);
        vendor = rate(bytes, theirs);
        share = fmt::format("{:.0f}%", 100 * theirs / seconds);
      }
      table.add({one.name, std::to_string(n), fmt::format("{:.1f}", seconds * 1e6),
                 rate(bytes, seconds), vendor, share,
                 std::to_string(after.launches - before.launches),
                 std::to_string(after.waits - before.waits)});
    } catch (const cvl::Failure& failure) {
      table.add({one.name, std::to_string(n), failure.message(), "-", "-", "-", "-", "-"});
    }
  }

  void measure_segmented() {
    const std::int64_t n = std::int64_t{1} << options_.segmented;
    Table table({"lengths", "mean", "+_REDUCE GB/s", "vendor GB/s", "+_SCAN GB/s"});
    for (const Spread spread : {Spread::Uniform, Spread::PowerLaw, Spread::OneGiant}) {
      Plot plot{fmt::format("Segmented operations, {}", spread_name(spread)),
                "mean length of segments",
                "GB/s",
                {{"+_REDUCE", {}}, {"+_SCAN", {}}, {"vendor's reduce", {}, true}}};
      for (int power = 0; power <= options_.segmented; power += 2) {
        if (!time_left(kSegmentedEnd)) break;
        const std::int64_t mean = std::int64_t{1} << power;
        say(fmt::format("segments, {}, mean {}", spread_name(spread), mean));
        try {
          measure_spread(spread, n, mean, table, plot);
        } catch (const cvl::Failure& failure) {
          table.add({std::string(spread_name(spread)), std::to_string(mean), failure.message(), "-",
                     "-"});
        }
      }
      add_plot(file_name("segmented", spread_name(spread)), plot);
    }
    add_table(fmt::format("Segmented operations on 2^{} INT", options_.segmented), "segmented",
              table);
  }

  void measure_spread(Spread spread, std::int64_t n, std::int64_t mean, Table& table, Plot& plot) {
    const std::vector<std::int64_t> lengths = segment_lengths(spread, n, mean);
    const double x = static_cast<double>(mean);
    const auto rate_of = [&](const std::function<void()>& work, double bytes, Series& series) {
      if (!work) return std::string("-");
      const double seconds = measure(meter_, work);
      series.points.emplace_back(x, bytes / seconds / 1e9);
      return rate(bytes, seconds);
    };
    const double segment_bytes = 12.0 * static_cast<double>(lengths.size());
    const double reduce_bytes = 4.0 * static_cast<double>(n) + segment_bytes;
    const double scan_bytes = 8.0 * static_cast<double>(n) + segment_bytes;
    cvl::Backend& backend = meter_.backend();
    const std::string reduce = rate_of(prepare_segmented(backend, vcode::Op::AddReduce, lengths),
                                       reduce_bytes, plot.series[0]);
    const std::string scan = rate_of(prepare_segmented(backend, vcode::Op::AddScan, lengths),
                                     scan_bytes, plot.series[1]);
    std::vector<std::int64_t> offsets{0};
    for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
    const std::string vendor = rate_of(meter_.baseline(Baseline::SegmentedReduce, n, offsets),
                                       reduce_bytes, plot.series[2]);
    table.add({std::string(spread_name(spread)), std::to_string(mean), reduce, vendor, scan});
  }

  void measure_programs() {
    const fs::path vinterp = options_.folder / "bin" / "vinterp";
    if (options_.folder.empty() || !fs::exists(vinterp)) return;
    std::vector<fs::path> programs = files_in(options_.folder / "programs", ".vcode");
    for (const fs::path& program : files_in(options_.programs, ".vcode")) {
      programs.push_back(program);
    }
    const Table table = time_programs(
        vinterp, programs, [this] { return time_left(kProgramsEnd); },
        [this](const std::string& line) { say(line); });
    if (!table.empty()) add_table("Programs", "programs", table);
  }

  Meter& meter_;
  const ReportOptions& options_;
  Clock::time_point begin_;
  std::string text_;
};

}  // namespace

double measure(Meter& meter, const std::function<void()>& work) {
  constexpr int kMost = 9;
  constexpr double kEnough = 0.2;  // seconds
  meter.seconds(work);             // memory is pooled and code is loaded now
  std::vector<double> times;
  double sum = 0;
  while (static_cast<int>(times.size()) < kMost && (times.size() < 3 || sum < kEnough)) {
    times.push_back(meter.seconds(work));
    sum += times.back();
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

std::string plan(const ReportOptions& options) {
  std::string text = fmt::format("within {:g} minutes, results in {}:\n", options.minutes,
                                 options.output.string());
  text += options.folder.empty()
              ? "- no tests and programs (no --folder)\n"
              : fmt::format("- tests in {}\n", (options.folder / "test-bin").string());
  for (const Case& one : flat_cases()) {
    text += fmt::format("- {} of 2^{} ... 2^{} elements\n", one.name, options.smallest,
                        options.largest);
  }
  for (const Spread spread : {Spread::Uniform, Spread::PowerLaw, Spread::OneGiant}) {
    text +=
        fmt::format("- segments over 2^{} elements, {}\n", options.segmented, spread_name(spread));
  }
  if (!options.folder.empty()) {
    text += fmt::format("- programs in {}, CPU and CUDA\n", (options.folder / "programs").string());
    if (!options.programs.empty()) {
      text += fmt::format("- programs in {}, CPU and CUDA\n", options.programs.string());
    }
    text += "- kernel tests under compute-sanitizer, if it is there\n";
  }
  return text;
}

bool make_report(Meter& meter, const ReportOptions& options) {
  return Report(meter, options).make();
}

}  // namespace gpu_report
