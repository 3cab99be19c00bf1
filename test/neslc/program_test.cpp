// Whole programs: the conformance corpus through `nesl run --transcript`, and its compiled
// programs on another interpreter, when the environment variable NESL_PEER names one.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "process.hpp"
#include "support.hpp"

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
    INFO(path.filename() << " " << options << " " << backend);
    const Output output = run(on_backend("test '" + path.string() + "' " + options, backend));
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

TEST_CASE("compiled programs run alike on another interpreter") {
  const char* const peer = std::getenv("NESL_PEER");
  if (peer == nullptr) {
    WARN("skipped: NESL_PEER names no interpreter");
    return;
  }
  for (const fs::path& path : programs("/test/nesl-conformance")) {
    const std::string name = path.stem().string();
    const bool portable = name.starts_with("alg_") || name.starts_with("nest_") ||
                          name.starts_with("gram_") || name.starts_with("data_");
    if (!portable) continue;
    INFO(name);
    const std::string compile = nesl("compile '" + path.string() + "' -o program.vcode");
    const Output theirs = run(compile + " && '" + peer + "' -m 10000000 program.vcode");
    const Output ours = run(compile + " && '" + VINTERP_PROGRAM + "' program.vcode");
    CHECK(theirs.out == ours.out);
    CHECK(!ours.out.empty());
  }
}

TEST_CASE("compilation is fast") {
  const auto seconds = [](const std::string& command) {
    const auto start = std::chrono::steady_clock::now();
    CHECK(run(command).status == 0);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const Folder folder;
  const fs::path small = folder.path() / "small.nesl";
  std::ofstream(small) << "sum({x * x : x in [0:10]});\n";
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += "function f" + std::to_string(i) + "(v) = {x + sum(v) * " + std::to_string(i) +
            " : x in v | x > " + std::to_string(i) + "};\n";
  }
  const fs::path large = folder.path() / "large.nesl";
  std::ofstream(large) << text << "f0([1,2,3]);\n";
  WARN("one line: " << seconds(nesl("run '" + small.string() + "'"))
                    << " s, 500 lines: " << seconds(nesl("run '" + large.string() + "'")) << " s");
}

}  // namespace
}  // namespace neslc::testing
