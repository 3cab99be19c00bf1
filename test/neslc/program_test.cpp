// Whole programs: the conformance corpus through `nesl run --transcript`, and its compiled programs
// on the reference evaluator of the tests.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "process.hpp"
#include "reference/machine.hpp"
#include "sanitized.hpp"
#include "support.hpp"
#include "vcode/link.hpp"
#include "vcode/parser.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> programs(const char* folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(std::string(PROJECT_ROOT) + folder)) {
    if (entry.path().extension() == ".nesl") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

fs::path companion(fs::path path, const char* extension) {
  return path.replace_extension(extension);
}

/// The libraries that can run programs here.
const std::vector<std::string>& backends() {
  static const std::vector<std::string> found = [] {
    std::vector<std::string> names{"cpu"};
    const std::string gpu = std::string("'") + NESL_PROGRAM + "' -e 1 --backend cuda";
    if (run(gpu).status == 0) names.emplace_back("cuda");
    return names;
  }();
  return found;
}

std::string on_backend(const std::string& arguments, const std::string& backend) {
  return std::string("'") + NESL_PROGRAM + "' " + arguments + " --threads 1 --backend " + backend;
}

void check_corpus(const std::string& options, const std::string& backend) {
  const std::vector<fs::path> paths = programs("/test/nesl-conformance");
  REQUIRE(paths.size() == 90);
  for (const fs::path& path : paths) {
    INFO(path.filename() << " " << options << " " << backend);
    const Output output =
        run(on_backend("run --transcript '" + path.string() + "' " + options, backend));
    CHECK(output.status == 0);
    CHECK(output.out == read_file(companion(path, ".expected")));
    const fs::path printed = companion(path, ".out");
    CHECK(output.err == (fs::exists(printed) ? read_file(printed) : ""));
  }
}

void check_results(const char* folder, std::size_t least, const std::string& options,
                   const std::string& backend) {
  const std::vector<fs::path> paths = programs(folder);
  REQUIRE(paths.size() >= least);
  for (const fs::path& path : paths) {
    // Half of the time of all, for what the other programs do, too.
    const bool is_long = path.stem() == "pictures" || path.stem() == "library_in_parallel";
    if (::testing::kSanitized && is_long && options != "") continue;
    INFO(path.filename() << " " << options << " " << backend);
    const Folder files;  // that programs write
    const Output output =
        run(on_backend("test '" + path.string() + "' " + options, backend), files);
    CHECK(output.status == 0);
    CHECK(output.out == "");
  }
}

void check_all(const std::string& options) {
  for (const std::string& backend : backends()) {
    check_corpus(options, backend);
    check_results("/nesl-examples/nesl", 48, options, backend);
    check_results("/test/neslc/programs", 4, options, backend);
  }
}

TEST_CASE("corpus, examples and programs give the expected results", "[level0]") {
  check_all("");
}

TEST_CASE("corpus, examples and programs at -O1", "[level1]") {
  check_all("-O1");
}

TEST_CASE("corpus, examples and programs at -O2", "[level2]") {
  check_all("-O2");
}

TEST_CASE("corpus, examples and programs at -O3", "[level3]") {
  check_all("-O3");
}

TEST_CASE("compiled programs run alike on the reference evaluator") {
  const Folder folder;
  const std::string compiled = (folder.path() / "program.vcode").string();
  int finished = 0;
  for (const fs::path& path : programs("/test/nesl-conformance")) {
    const std::string name = path.stem().string();
    const bool portable = name.starts_with("alg_") || name.starts_with("nest_") ||
                          name.starts_with("gram_") || name.starts_with("data_");
    if (!portable) continue;
    INFO(name);
    REQUIRE(run(nesl("compile '" + path.string() + "' -o " + compiled)).status == 0);
    vcode::Diagnostics diagnostics;
    auto program =
        vcode::parse(std::make_shared<const vcode::Source>(name, read_file(compiled)), diagnostics);
    REQUIRE(program);
    const auto linked = vcode::link(std::move(*program), diagnostics);
    REQUIRE(linked);
    const reference::Outcome expected = reference::run(*linked, {});
    if (!expected.finished) continue;  // it reads, or runs for long
    ++finished;
    const Output ours = run(std::string("'") + VINTERP_PROGRAM + "' " + compiled);
    CHECK(ours.out == expected.output);
    CHECK(ours.err == expected.error);
    CHECK_FALSE(ours.out.empty());
  }
  CHECK(finished >= 40);
}

}  // namespace
}  // namespace neslc::testing
