#include "bench/gpu-report/report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <sys/wait.h>

#include <fmt/core.h>

#include "bench/gpu-report/cases.hpp"
#include "bench/gpu-report/plot.hpp"
#include "cvl/failure.hpp"

namespace gpu_report {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// The work in its order, and the part of the time at which each must have ended.
constexpr double kTestsEnd = 0.35, kFlatEnd = 0.65, kSegmentedEnd = 0.85;

/// A file that must be written.
void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

/// A table as markdown and as comma-separated values.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : rows_{std::move(header)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }

  std::string markdown() const {
    std::string text;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      text += "|";
      for (const std::string& cell : rows_[k]) text += " " + cell + " |";
      text += "\n";
      if (k > 0) continue;
      for (std::size_t column = 0; column < rows_[0].size(); ++column) {
        text += column == 0 ? "| --- " : "| ---: ";
      }
      text += "|\n";
    }
    return text;
  }
  std::string csv() const {
    std::string text;
    for (const auto& row : rows_) {
      for (std::size_t k = 0; k < row.size(); ++k) text += (k > 0 ? ",\"" : "\"") + row[k] + "\"";
      text += "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

struct CommandResult {
  int status;
  std::string output;
  double seconds;
};

CommandResult run_command(const std::string& command) {
  const auto begin = Clock::now();
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "cannot start", 0};
  std::string output;
  char buffer[4096];
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) {
    output.append(buffer, count);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output,
          std::chrono::duration<double>(Clock::now() - begin).count()};
}

std::string quoted(const fs::path& path) {
  std::string result = "'";
  for (const char c : path.string()) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string rate(double bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", bytes / seconds / 1e9) : "-";
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
    const bool passed = run_tests();
    measure_flat();
    measure_segmented();
    time_programs();
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
  std::vector<fs::path> files_in(const char* name, const char* extension) const {
    std::vector<fs::path> files;
    const fs::path folder = options_.folder / name;
    if (options_.folder.empty() || !fs::is_directory(folder)) return files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().extension() == extension) {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  bool run_tests() {
    Table table({"test", "result", "seconds"});
    bool passed = true;
    int count = 0;
    for (const fs::path& test : files_in("test-bin", "")) {
      if (!time_left(kTestsEnd)) {
        table.add({test.filename().string(), "no time left", "-"});
        continue;
      }
      say("test " + test.filename().string());
      const CommandResult result = run_command("timeout 180 " + quoted(test));
      const bool good = result.status == 0;
      passed = passed && good;
      ++count;
      table.add({test.filename().string(),
                 good ? "passed" : fmt::format("FAILED with status {}", result.status),
                 fmt::format("{:.1f}", result.seconds)});
      if (!good) {
        write_file(options_.output / (test.filename().string() + ".log"), result.output);
      }
    }
    if (count > 0) add_table("Tests", "tests", table);
    return passed;
  }

  void measure_flat() {
    Table table({"operation", "elements", "time (us)", "GB/s", "vendor GB/s", "of vendor",
                 "launches", "waits"});
    Plot plot{"Flat operations", "elements", "GB/s", {}};
    Series copy{"device copy", {}, true};
    for (int power = options_.smallest; power <= options_.largest; power += 2) {
      const std::int64_t n = std::int64_t{1} << power;
      if (const auto work = meter_.baseline(Baseline::Copy, n, {})) {
        const double seconds = measure(meter_, work);
        copy.points.emplace_back(static_cast<double>(n),
                                 8.0 * static_cast<double>(n) / seconds / 1e9);
      }
    }
    for (const Case& one : flat_cases()) {
      Series series{one.name, {}};
      for (int power = options_.smallest; power <= options_.largest; power += 2) {
        if (!time_left(kFlatEnd)) break;
        measure_case(one, std::int64_t{1} << power, table, series);
      }
      plot.series.push_back(std::move(series));
    }
    if (!copy.points.empty()) plot.series.push_back(std::move(copy));
    add_table("Flat operations: least bytes moved, per second of device time", "flat", table);
    add_plot("flat", plot);
  }

  void measure_case(const Case& one, std::int64_t n, Table& table, Series& series) {
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
      series.points.emplace_back(static_cast<double>(n), bytes / seconds / 1e9);
      std::string vendor = "-", share = "-";
      if (const auto baseline = meter_.baseline(one.baseline, n, {})) {
        const double theirs = measure(meter_, baseline);
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
      std::string file = "segmented-" + std::string(spread_name(spread));
      std::replace(file.begin(), file.end(), ' ', '-');
      add_plot(file, plot);
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

  void time_programs() {
    const fs::path vinterp = options_.folder / "bin" / "vinterp";
    const std::vector<fs::path> programs = files_in("programs", ".vcode");
    if (programs.empty() || !fs::exists(vinterp)) return;
    Table table({"program", "CPU (s)", "CUDA (s)", "ratio"});
    for (const fs::path& program : programs) {
      if (!time_left(1)) break;
      say("program " + program.filename().string());
      const auto seconds = [&](const char* backend) -> std::optional<double> {
        const CommandResult result =
            run_command(fmt::format("timeout 120 {} -t --backend={} {} < /dev/null",
                                    quoted(vinterp), backend, quoted(program)));
        const std::string key = "elapsed time = ";
        const std::size_t at = result.output.find(key);
        if (result.status != 0 || at == std::string::npos) return std::nullopt;
        return std::strtod(result.output.c_str() + at + key.size(), nullptr);
      };
      const auto cpu = seconds("cpu"), cuda = seconds("cuda");
      const auto shown = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.4f}", *value) : std::string("failed");
      };
      table.add({program.stem().string(), shown(cpu), shown(cuda),
                 cpu && cuda && *cuda > 0 ? fmt::format("{:.1f}", *cpu / *cuda) : "-"});
    }
    add_table("Programs", "programs", table);
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
  }
  return text;
}

bool make_report(Meter& meter, const ReportOptions& options) {
  return Report(meter, options).make();
}

}  // namespace gpu_report
