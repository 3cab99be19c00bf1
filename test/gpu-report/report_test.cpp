// bench/gpu-report on a device of the tests: it measures nothing of interest there, but every step
// runs, and the page and the archive are complete whatever a step does.
#include "bench/gpu-report/report.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

#include "bench/gpu-report/cases.hpp"
#include "bench/gpu-report/process.hpp"

namespace {

namespace fs = std::filesystem;
using gpu_report::contents;

/// A folder like that of the target gpu-report-folder, with the vinterp of the emulated device.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("gpu-report-test-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    for (const char* name : {"bin", "test-bin", "programs", "others"}) {
      fs::create_directories(path_ / name);
    }
    fs::create_symlink(VINTERP_PROGRAM, path_ / "bin" / "vinterp");
    write("programs/dot_product-10000000.fcode",
          "FCODE 3\nFUNC MAIN CONST INT 3 CONST INT 4 + INT RET");
    write("programs/dot_product-100000000.fcode", "FCODE 3\nFUNC MAIN CONST INT 5 RET");
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

/// The files of an archive in the format of tar, by name.
std::map<std::string, std::string> unpacked(const fs::path& archive) {
  constexpr std::size_t kBlock = 512;
  const std::string all = contents(archive);
  std::map<std::string, std::string> files;
  for (std::size_t at = 0; at + kBlock < all.size() && all[at] != '\0';) {
    const std::string name = all.c_str() + at;
    const std::size_t bytes = std::stoul(all.substr(at + 124, 11), nullptr, 8);
    files[name] = all.substr(at + kBlock, bytes);
    at += kBlock + (bytes + kBlock - 1) / kBlock * kBlock;
  }
  return files;
}

/// What came of a report.
struct Outcome {
  int status;
  std::map<std::string, std::string> files;

  std::string file(const std::string& name) const {
    const auto found = files.find("results/" + name);
    INFO(name);
    REQUIRE(found != files.end());
    return found->second;
  }
};

/// Limits that are only reached by what hangs, however slow this machine is.
const std::vector<std::string> kPatient = {"--patience=20", "--minutes=100"};

Outcome report(const Folder& folder, const std::vector<std::string>& more = kPatient) {
  std::vector<std::string> command = {REHEARSAL_PROGRAM,
                                      "--output=" + (folder.path() / "results").string(),
                                      "--folder=" + folder.path().string(),
                                      "--programs=" + (folder.path() / "others").string(),
                                      "--smallest=8",
                                      "--largest=10",
                                      "--segmented=9"};
  command.insert(command.end(), more.begin(), more.end());
  const auto ended = gpu_report::run_process(command, 1000, folder.path() / "rehearsal.log");
  INFO(contents(folder.path() / "rehearsal.log"));
  REQUIRE(ended.how == gpu_report::Ended::How::Exited);
  return {ended.number, unpacked(folder.path() / "results.tar")};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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

TEST_CASE("all steps have time") {
  const Folder folder;
  for (const char* name : {"cuda-device-test", "property-test"}) folder.write_test(name, "exit 0");
  gpu_report::ReportOptions options;
  options.folder = folder.path();
  double seconds = 0;
  for (const gpu_report::Step& step : gpu_report::steps(options)) {
    // The tools of compute-sanitizer come last and take what is left.
    if (!has(step.title, "compute-sanitizer")) seconds += step.limit;
  }
  CHECK(seconds <= 0.95 * options.minutes * 60);
}

TEST_CASE("a report is complete") {
  const Folder folder;
  folder.write_test("cuda-device-test", "exit 77");
  folder.write_test("property-test", "test \"$1\" = '[small]' || test \"$1\" = '[failures]'");
  const Outcome outcome = report(folder);
  CHECK(outcome.status == 0);
  const std::string page = outcome.file("index.html");
  INFO(outcome.file("steps.csv"));
  CHECK(has(page, "<td>Test cuda-device-test</td><td>skipped: no device</td>"));
  CHECK(has(page, "<td>Test property-test [small]</td><td>passed</td>"));
  CHECK_FALSE(has(page, "nan"));

  const std::string flat = outcome.file("flat.csv");
  for (const gpu_report::Case& one : gpu_report::flat_cases()) {
    INFO(one.name);
    const std::size_t at = flat.find("\"" + one.name + "\",\"1024\"");
    REQUIRE(at != std::string::npos);
    const std::string row = flat.substr(at, flat.find('\n', at) - at);
    // The vendor's columns are there where there is a baseline.
    CHECK(has(row, "%") == (one.baseline != gpu_report::Baseline::None));
  }
  const std::string fused = outcome.file("fused.csv");
  for (const gpu_report::Case& one : gpu_report::fused_cases()) {
    INFO(one.name << '\n' << fused);
    const std::size_t at = fused.find("\"" + one.name + "\",\"1024\"");
    REQUIRE(at != std::string::npos);
    CHECK(has(fused.substr(at, fused.find('\n', at) - at), "%"));
  }
  const std::string segmented = outcome.file("segmented.csv");
  INFO(segmented);
  for (const char* spread : {"uniform", "power law", "one giant"}) {
    CHECK(has(segmented, std::string("\"fused sum\",\"") + spread + "\",\"256\""));
  }
  CHECK_FALSE(has(segmented, "kernel"));  // the reason why one is not run as such
  CHECK(has(outcome.file("crossing.csv"), "\"RANK_UP INT\",\"1024\""));

  // The programs of the paper come first, with its times; the user's own last.
  const std::string programs = outcome.file("programs.csv");
  INFO(programs);
  const std::size_t paper = programs.find("\"dot product, 10000000\"");
  const std::size_t larger = programs.find("\"dot product, 100000000\"");
  const std::size_t failing =
      programs.find("\"a-failing-one\",\"exit status 3\",\"exit status 3\"");
  const std::size_t own = programs.find("\"public\"");
  REQUIRE(own != std::string::npos);
  CHECK(paper < larger);
  CHECK(larger < failing);
  CHECK(failing < own);
  CHECK(has(programs.substr(paper, larger - paper), "\"yes\",\"0.0270\",\"0.0030\""));

  std::size_t plots = 0;
  for (std::size_t at = page.find("<svg"); at != std::string::npos;
       at = page.find("<svg", at + 1)) {
    ++plots;
  }
  CHECK(plots == 1 + 5 + 1 + 3 + 4);
}

TEST_CASE("a step that hangs and one that crashes leave a complete report") {
  const Folder folder;
  folder.write_test("cuda-device-test", "echo about to hang; sleep 1000");
  folder.write_test("property-test", "echo about to crash; kill -SEGV $$");
  const Outcome outcome = report(folder, {"--patience=0.2"});
  CHECK(outcome.status == 1);
  const std::string page = outcome.file("index.html");
  INFO(outcome.file("steps.csv"));
  CHECK(has(page, "<td>Test cuda-device-test</td><td>stopped after 9 s</td>"));
  CHECK(has(page, "<pre>about to hang\n</pre>"));
  CHECK(has(page, "<td>Test property-test [small]</td><td>killed by signal 11</td>"));
  CHECK(has(page, "<pre>about to crash\n</pre>"));
  for (const char* name : {"device", "flat", "fused", "segmented", "crossing", "programs"}) {
    outcome.file(std::string(name) + ".log");
  }
}

TEST_CASE("measurements that hang or crash, too") {
  const Folder folder;
  const bool hangs = GENERATE(true, false);
  setenv("NESL_REHEARSAL", hangs ? "hang" : "crash", 1);
  const Outcome outcome =
      report(folder, hangs ? std::vector<std::string>{"--patience=0.02"} : kPatient);
  unsetenv("NESL_REHEARSAL");
  CHECK(outcome.status == 1);
  const std::string steps = outcome.file("steps.csv");
  INFO(steps);
  CHECK(has(steps,
            hangs ? "\"Operations\",\"stopped after" : "\"Operations\",\"killed by signal 11\""));
  CHECK(has(steps, "\"Programs\""));
  CHECK(has(outcome.file("index.html"), "</html>"));
}

TEST_CASE("what a step has started ends with it") {
  const Folder folder;
  fs::remove(folder.path() / "bin" / "vinterp");
  const fs::path told = folder.path() / "process";
  folder.write("bin/vinterp", "#!/bin/sh\necho $$ > " + told.string() + "\nexec sleep 1000\n");
  fs::permissions(folder.path() / "bin" / "vinterp", fs::perms::owner_all);
  setenv("NESL_REHEARSAL", "crash", 1);  // of steps that are not of interest here
  const Outcome outcome = report(folder, {"--patience=0.1", "--minutes=100"});
  unsetenv("NESL_REHEARSAL");
  CHECK(has(outcome.file("steps.csv"), "\"Programs\",\"stopped after 9 s\""));
  std::string process = contents(told);
  REQUIRE_FALSE(process.empty());
  process.pop_back();
  bool gone = false;
  for (int wait = 0; wait < 1000 && !gone; ++wait) {
    gone = contents("/proc/" + process + "/cmdline").empty();
    if (!gone) ::usleep(10000);
  }
  CHECK(gone);
}

TEST_CASE("what there is no time for is said") {
  const Folder folder;
  folder.write_test("cuda-device-test", "sleep 1000");
  const Outcome outcome = report(folder, {"--minutes=0.05"});
  CHECK(outcome.status == 1);
  CHECK(has(outcome.file("steps.csv"), "\"Programs\",\"no time left\""));
}
