// bench/gpu-report on the emulated device: it measures nothing of interest there, but every case
// runs and every file is written.
#include "bench/gpu-report/report.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "bench/gpu-report/cases.hpp"
#include "cuda/under_test.hpp"

namespace {

class EmulatedMeter final : public gpu_report::Meter {
 public:
  cvl::Backend& backend() override { return *backend_; }
  std::string device() const override { return backend_->description(); }
  double seconds(const std::function<void()>& work) override {
    const auto begin = std::chrono::steady_clock::now();
    work();
    backend_->synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  std::function<void()> baseline(gpu_report::Baseline which, std::int64_t,
                                 const std::vector<std::int64_t>&) override {
    if (which != gpu_report::Baseline::Copy) return {};
    return [] {};
  }

 private:
  std::unique_ptr<cvl::Backend> backend_ = make_under_test();
};

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("segment lengths add up") {
  using gpu_report::Spread;
  for (const Spread spread : {Spread::Uniform, Spread::PowerLaw, Spread::OneGiant}) {
    for (const std::int64_t mean : {1, 4, 64, 4096, 65536}) {
      const auto lengths = gpu_report::segment_lengths(spread, 65536, mean);
      CHECK(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) == 65536);
      CHECK(static_cast<std::int64_t>(lengths.size()) == 65536 / mean);
    }
  }
}

TEST_CASE("the report is complete") {
  gpu_report::ReportOptions options;
  options.output =
      std::filesystem::temp_directory_path() / ("gpu-report-test-" + std::to_string(::getpid()));
  options.smallest = 10;
  options.largest = 12;
  options.segmented = 12;
  EmulatedMeter meter;
  CHECK(gpu_report::make_report(meter, options));
  const std::string report = contents(options.output / "report.md");
  for (const gpu_report::Case& one : gpu_report::flat_cases()) {
    CHECK(report.find("| " + one.name + " | 4096 |") != std::string::npos);
  }
  CHECK(report.find("one giant") != std::string::npos);
  for (const char* name : {"flat.csv", "segmented.csv"}) {
    CHECK(contents(options.output / name).size() > 100);
  }
  for (const char* name : {"flat.svg", "segmented-uniform.svg", "segmented-power-law.svg",
                           "segmented-one-giant.svg"}) {
    const std::string plot = contents(options.output / name);
    CHECK(plot.rfind("<svg", 0) == 0);
    CHECK(plot.find("nan") == std::string::npos);
  }
  std::filesystem::remove_all(options.output);
}
