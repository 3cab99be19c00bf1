// What depends on lengths of segments, and on lengths at which the device begins to pay.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/core.h>

#include "bench/gpu-report/cases.hpp"
#include "bench/gpu-report/measurements.hpp"
#include "cvl-cpu/cpu_backend.hpp"
#include "cvl/failure.hpp"

namespace gpu_report {
namespace {

using cvl::Segdes;
using cvl::Value;
using vcode::Op;
using vcode::Type;

// ---- segments ----

/// An operation over segments.
struct Segmented {
  const char* name;
  double bytes_per_element;  // beside 12 for each segment: its length, and a result or a start
  Baseline baseline;
  Work (*make)(cvl::Backend&, const Segdes&);
};
constexpr Segmented kSegmented[] = {
    {"+_REDUCE INT", 4, Baseline::SegmentedReduce,
     [](cvl::Backend& b, const Segdes& d) {
       return make_work(b, Op::AddReduce, Type::Int, {random_ints(b, d.total), d});
     }},
    {"+_SCAN INT", 8, Baseline::None,
     [](cvl::Backend& b, const Segdes& d) {
       return make_work(b, Op::AddScan, Type::Int, {random_ints(b, d.total), d});
     }},
    {"fused sum", 8, Baseline::FusedSegmentedReduce,
     [](cvl::Backend& b, const Segdes& d) {
       return make_kernel_work(b, "segmented_sum", {d, random_floats(b, d.total)});
     }},
    {"fused scan", 16, Baseline::None,
     [](cvl::Backend& b, const Segdes& d) {
       return make_kernel_work(b, "segmented_scan", {d, random_floats(b, d.total)});
     }},
};

std::string measure_one(Meter& meter, const std::function<void()>& run, double bytes, double x,
                        Series& series) {
  if (!run) return "-";
  const double seconds = measure(meter, run);
  series.points.emplace_back(x, bytes / seconds / 1e9);
  return fmt::format("{:.1f}", bytes / seconds / 1e9);
}

/// Segments over which operations are measured, made once for all of them.
struct Descriptor {
  Segdes segdes;
  std::vector<std::int64_t> offsets{0};
  std::int64_t mean;

  Descriptor(cvl::Backend& backend, Spread spread, std::int64_t n, std::int64_t mean_length)
      : mean(mean_length) {
    const std::vector<std::int64_t> lengths = segment_lengths(spread, n, mean);
    segdes = make_segments(backend, lengths);
    for (const std::int64_t length : lengths) offsets.push_back(offsets.back() + length);
  }
};

/// Fills the row, and adds points to the lines.
void measure_segments(Meter& meter, const Segmented& one, const Descriptor& over,
                      std::vector<std::string>& row, Series& ours, Series& vendor) {
  try {
    const Work work = one.make(meter.backend(), over.segdes);
    const double bytes = one.bytes_per_element * static_cast<double>(over.segdes.total) +
                         12.0 * static_cast<double>(over.segdes.count);
    const double x = static_cast<double>(over.mean);
    row.push_back(measure_one(meter, work.run, bytes, x, ours));
    const auto baseline =
        meter.baseline(one.baseline, over.segdes.total, work.operands, over.offsets);
    row.push_back(measure_one(meter, baseline, bytes, x, vendor));
  } catch (const cvl::Failure& failure) {
    row.push_back(failure.message());
  }
}

// ---- the CPU library beside this one ----

struct Crossing {
  const char* name;
  Work (*make)(cvl::Backend&, std::int64_t);
};
constexpr Crossing kCrossings[] = {
    {"+ FLOAT",
     [](cvl::Backend& b, std::int64_t n) {
       return make_work(b, Op::Add, Type::Float, {random_floats(b, n), random_floats(b, n)});
     }},
    {"+_REDUCE FLOAT",
     [](cvl::Backend& b, std::int64_t n) {
       return make_work(b, Op::AddReduce, Type::Float, {random_floats(b, n), Segdes::single(n)});
     }},
    {"+_SCAN INT",
     [](cvl::Backend& b, std::int64_t n) {
       return make_work(b, Op::AddScan, Type::Int, {random_ints(b, n), Segdes::single(n)});
     }},
    {"RANK_UP INT",
     [](cvl::Backend& b, std::int64_t n) {
       return make_work(b, Op::RankUp, Type::Int, {random_ints(b, n), Segdes::single(n)});
     }},
};

/// Seconds of one of many runs, one after the other, until all are done.
double elapsed(cvl::Backend& backend, const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr double kEnough = 0.01;
  work.run();
  backend.synchronize();
  for (int runs = 10;; runs *= 4) {
    const auto begin = Clock::now();
    for (int k = 0; k < runs; ++k) work.run();
    backend.synchronize();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds > kEnough) return seconds / runs;
  }
}

}  // namespace

void measure_segmented(Meter& meter, const Lengths& lengths, Section& section) {
  const std::int64_t n = std::int64_t{1} << lengths.segmented;
  section.text(
      fmt::format("2^{} elements. Segmented primitives of the vendor give each segment a "
                  "block of threads.",
                  lengths.segmented));
  const auto copy = meter.baseline(Baseline::Copy, n, {random_ints(meter.backend(), n)}, {});
  const double copied = copy ? 8.0 * static_cast<double>(n) / measure(meter, copy) / 1e9 : 0;
  Table table({"operation", "spread", "mean length", "GB/s", "vendor GB/s"});
  const std::size_t part = section.table(table);
  for (const Spread spread : {Spread::Uniform, Spread::PowerLaw, Spread::OneGiant}) {
    Plot plot{
        fmt::format("Segments, {}", spread_name(spread)), "mean length of segments", "GB/s", {}};
    plot.series.push_back(
        {"device copy", {{1, copied}, {std::exp2(lengths.segmented), copied}}, true});
    const std::size_t first = plot.series.size(), plot_part = section.plot(plot);
    for (const Segmented& one : kSegmented) {
      const int color = static_cast<int>(plot.series.size());
      plot.series.push_back({one.name, {}, false, color});
      plot.series.push_back({"", {}, true, color});
    }
    for (int power = 0; power <= lengths.segmented; power += 4) {
      const Descriptor over(meter.backend(), spread, n, std::int64_t{1} << power);
      std::size_t line = first;
      for (const Segmented& one : kSegmented) {
        std::vector<std::string> row = {one.name, std::string(spread_name(spread)),
                                        std::to_string(over.mean)};
        std::fprintf(stderr, "%s, %s, mean 2^%d\n", one.name, row[1].c_str(), power);
        measure_segments(meter, one, over, row, plot.series[line], plot.series[line + 1]);
        table.add(std::move(row));
        line += 2;
      }
      section.set(part, table);
      section.set(plot_part, plot);
      section.save();
    }
  }
}

void measure_crossing(Meter& meter, const Lengths& lengths, Section& section) {
  constexpr int kShortest = 8, kLongest = 24;  // powers of two
  const cvl::cpu::CpuOptions options;
  cvl::cpu::CpuBackend cpu(options);
  const std::unique_ptr<cvl::Backend> device = meter.all_on_device();
  section.text(fmt::format(
      "Operations one after the other on vectors that are where they are needed. CPU: {}.",
      cpu.description()));
  Table table({"operation", "elements", "CPU (us)", "device (us)", "CPU / device"});
  Table crossings({"operation", "the device is faster from"});
  const std::size_t crossings_part = section.table(crossings), part = section.table(table);
  for (const Crossing& one : kCrossings) {
    Series ratio{one.name, {}};
    std::string from = "never";
    for (int power = kShortest; power <= std::min(kLongest, lengths.largest); power += 2) {
      const std::int64_t n = std::int64_t{1} << power;
      std::fprintf(stderr, "%s of 2^%d, CPU and device\n", one.name, power);
      const double on_cpu = elapsed(cpu, one.make(cpu, n));
      const double on_device = elapsed(*device, one.make(*device, n));
      ratio.points.emplace_back(static_cast<double>(n), on_cpu / on_device);
      if (on_device >= on_cpu) from = "never";
      if (on_device < on_cpu && from == "never") from = fmt::format("2^{}", power);
      table.add({one.name, std::to_string(n), fmt::format("{:.1f}", on_cpu * 1e6),
                 fmt::format("{:.1f}", on_device * 1e6),
                 fmt::format("{:.2f}", on_cpu / on_device)});
    }
    crossings.add({one.name, from});
    section.set(crossings_part, crossings);
    section.set(part, table);
    section.plot({fmt::format("{}: time on the CPU, divided by that on the device", one.name),
                  "elements",
                  "times as fast",
                  {ratio}});
    section.save();
  }
}

}  // namespace gpu_report
