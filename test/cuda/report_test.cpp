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

namespace fs = std::filesystem;

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
    if (which == gpu_report::Baseline::None) return {};
    return [this] { backend_->synchronize(); };
  }

 private:
  std::unique_ptr<cvl::Backend> backend_ = make_under_test();
};

std::string contents(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder like that of the target gpu-report-folder, with the vinterp of the emulated device.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("gpu-report-test-" + std::to_string(::getpid()))) {
    for (const char* name : {"bin", "test-bin", "programs", "others"}) {
      fs::create_directories(path_ / name);
    }
    fs::create_symlink(VINTERP_EMULATED, path_ / "bin" / "vinterp");
    write("programs/dot_product.vcode", "FUNC MAIN CONST INT 3 CONST INT 4 + INT RET");
    write("programs/a-failing-one.vcode", "FUNC MAIN CONST INT 3 CONST INT 0 / INT RET");
    write("others/public.vcode", "FUNC MAIN CONST FLOAT 0.5 RET");
  }
  ~Folder() { fs::remove_all(path_); }

  const fs::path& path() const { return path_; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
  }
  void write_test(const std::string& name, const std::string& text) const {
    write("test-bin/" + name, "#!/bin/sh\n" + text + "\n");
    fs::permissions(path_ / "test-bin" / name, fs::perms::owner_all);
  }

 private:
  fs::path path_;
};

gpu_report::ReportOptions small_report(const Folder& folder) {
  gpu_report::ReportOptions options;
  options.output = folder.path() / "results";
  options.folder = folder.path();
  options.programs = folder.path() / "others";
  options.smallest = 10;
  options.largest = 12;
  options.segmented = 12;
  return options;
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
  const Folder folder;
  folder.write_test("good-test", "exit 0");
  folder.write_test("property-test", "test \"$1\" = '[small],[failures]'");
  folder.write_test("absent-test", "exit 77");
  const gpu_report::ReportOptions options = small_report(folder);
  EmulatedMeter meter;
  CHECK(gpu_report::make_report(meter, options));
  const std::string report = contents(options.output / "report.md");
  CHECK(report.find("| good-test | passed |") != std::string::npos);
  CHECK(report.find("| property-test | passed |") != std::string::npos);
  CHECK(report.find("| absent-test | skipped: no device |") != std::string::npos);
  for (const gpu_report::Case& one : gpu_report::flat_cases()) {
    INFO(one.name);
    const std::size_t at = report.find("| " + one.name + " | 4096 |");
    REQUIRE(at != std::string::npos);
    const std::string row = report.substr(at, report.find('\n', at) - at);
    // The vendor's columns are there where there is a baseline.
    CHECK((row.find('%') != std::string::npos) == (one.baseline != gpu_report::Baseline::None));
  }
  CHECK(report.find("one giant") != std::string::npos);

  // The programs of the paper come first, with its times; the user's own last.
  const std::size_t paper = report.find("| dot product, 10^7 |");
  const std::size_t failing = report.find("| a-failing-one | failed | failed | - |");
  const std::size_t own = report.find("| public |");
  REQUIRE(own != std::string::npos);
  CHECK(paper < failing);
  CHECK(failing < own);
  CHECK(report.substr(paper, failing - paper).find("| yes | 0.0270 | 0.0030 |") !=
        std::string::npos);

  for (const char* name : {"tests.csv", "flat.csv", "segmented.csv", "programs.csv"}) {
    INFO(name);
    CHECK(contents(options.output / name).size() > 100);
  }
  int plots = 0;
  for (const auto& entry : fs::directory_iterator(options.output)) {
    if (entry.path().extension() != ".svg") continue;
    ++plots;
    const std::string plot = contents(entry.path());
    CHECK(plot.rfind("<svg", 0) == 0);
    CHECK(plot.find("nan") == std::string::npos);
    CHECK(report.find("(" + entry.path().filename().string() + ")") != std::string::npos);
  }
  CHECK(plots == 5 + 3);
}

TEST_CASE("a failing test makes the report fail and leaves its output") {
  const Folder folder;
  folder.write_test("broken-test", "echo what went wrong; exit 3");
  gpu_report::ReportOptions options = small_report(folder);
  options.largest = 10;
  options.segmented = 2;
  EmulatedMeter meter;
  CHECK_FALSE(gpu_report::make_report(meter, options));
  CHECK(contents(options.output / "report.md").find("| broken-test | FAILED, 3 |") !=
        std::string::npos);
  CHECK(contents(options.output / "broken-test.log") == "what went wrong\n");
}
