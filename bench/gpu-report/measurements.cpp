#include "bench/gpu-report/measurements.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <fmt/core.h>

#include "bench/gpu-report/cases.hpp"
#include "cvl/failure.hpp"

namespace gpu_report {
namespace {

std::string rate(double bytes, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", bytes / seconds / 1e9) : "-";
}

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
}

/// Bytes that a copy reads and writes a second.
Series copy_line(Meter& meter, const Lengths& lengths) {
  Series copy{"device copy", {}, true};
  for (int power = lengths.smallest; power <= lengths.largest; power += 2) {
    const std::int64_t n = std::int64_t{1} << power;
    const auto run = meter.baseline(Baseline::Copy, n, {random_ints(meter.backend(), n)}, {});
    if (run) {
      const double seconds = measure(meter, run);
      copy.points.emplace_back(static_cast<double>(n),
                               8.0 * static_cast<double>(n) / seconds / 1e9);
    }
  }
  return copy;
}

/// Cases over lengths, those of one group in one plot.
class CaseReport {
 public:
  CaseReport(Meter& meter, const Lengths& lengths, Section& section)
      : meter_(meter),
        lengths_(lengths),
        section_(section),
        copy_(copy_line(meter, lengths)),
        part_(section.table(table_)) {}

  void run(const std::vector<Case>& cases) {
    for (const Case& one : cases) {
      if (!plot_ || plot_->title != one.group) {
        plot_ = Plot{std::string(one.group), "elements", "GB/s", {copy_}};
        plot_part_ = section_.plot(*plot_);
      }
      measure_case(one);
      section_.set(part_, table_);
      section_.set(plot_part_, *plot_);
      section_.save();
    }
  }

 private:
  void measure_case(const Case& one) {
    Series ours{one.name, {}}, vendor{"", {}, true};
    ours.color = vendor.color = static_cast<int>(plot_->series.size());
    for (int power = lengths_.smallest; power <= lengths_.largest; power += 2) {
      const std::int64_t n = std::int64_t{1} << power;
      say(fmt::format("{} of 2^{}", one.name, power));
      try {
        measure_length(one, n, ours, vendor);
      } catch (const cvl::Failure& failure) {
        table_.add({one.name, std::to_string(n), failure.message(), "-", "-", "-", "-", "-"});
      }
    }
    plot_->series.push_back(std::move(ours));
    if (!vendor.points.empty()) plot_->series.push_back(std::move(vendor));
  }

  void measure_length(const Case& one, std::int64_t n, Series& ours, Series& vendors) {
    const Work work = one.prepare(meter_.backend(), n);
    work.run();
    meter_.backend().synchronize();
    const cvl::DeviceCounters before = meter_.backend().counters();
    work.run();
    const cvl::DeviceCounters after = meter_.backend().counters();
    const double bytes = one.bytes_per_element * static_cast<double>(n);
    const double seconds = measure(meter_, work.run);
    ours.points.emplace_back(static_cast<double>(n), bytes / seconds / 1e9);
    std::string vendor = "-", share = "-";
    if (const auto baseline = meter_.baseline(one.baseline, n, work.operands, {})) {
      const double theirs = measure(meter_, baseline);
      vendors.points.emplace_back(static_cast<double>(n), bytes / theirs / 1e9);
      vendor = rate(bytes, theirs);
      share = fmt::format("{:.0f}%", 100 * theirs / seconds);
    }
    table_.add({one.name, std::to_string(n), fmt::format("{:.1f}", seconds * 1e6),
                rate(bytes, seconds), vendor, share,
                std::to_string(after.launches - before.launches),
                std::to_string(after.waits - before.waits)});
  }

  Meter& meter_;
  const Lengths& lengths_;
  Section& section_;
  Series copy_;
  Table table_{{"operation", "elements", "time (us)", "GB/s", "vendor GB/s", "of vendor",
                "launches", "waits"}};
  std::size_t part_;
  std::optional<Plot> plot_;
  std::size_t plot_part_ = 0;
};

constexpr const char* kBytes =
    "Least bytes that must be read and written, a second of device time; dashed: the vendor's "
    "primitive on the same data.";

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

void describe_device(Meter& meter, const Lengths& lengths, Section& section) {
  section.text(meter.device());
  section.save();
  Plot plot{"Copy of INT inside the device", "elements", "GB/s", {copy_line(meter, lengths)}};
  plot.series[0].dashed = false;
  section.plot(plot);
  section.save();
}

void measure_flat(Meter& meter, const Lengths& lengths, Section& section) {
  section.text(kBytes);
  CaseReport(meter, lengths, section).run(flat_cases());
}

void measure_fused(Meter& meter, const Lengths& lengths, Section& section) {
  section.text(kBytes);
  CaseReport(meter, lengths, section).run(fused_cases());
}

}  // namespace gpu_report
