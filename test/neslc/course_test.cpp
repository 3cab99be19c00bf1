// The exercises of the course: their solutions give the values beside them, and cost what the page
// of the exercise promises.
#include <cmath>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;

struct Exercise {
  fs::path solution;
  std::string work;  // what stands between the parentheses of O( )
  std::string depth;
  double from = 0;
  double to = 0;
};

const fs::path& folder() {
  static const fs::path path = std::string(PROJECT_ROOT) + "/nesl-examples/course";
  return path;
}

/// In the order of the table in README.md.
std::vector<Exercise> exercises() {
  const std::regex row(R"(\| \d+ \| \[.*\]\((\w+)\.md\) \|.*\| O\((.*)\) \| O\((.*)\) \|)");
  const std::regex bounds(
      R"(\*\*Bounds:\*\* work O\((.*)\), depth O\((.*)\), measured from n = (\d+) to n = (\d+)\.)");
  std::vector<Exercise> result;
  for (const std::string& line : lines_of(read_file(folder() / "README.md"))) {
    std::smatch columns;
    if (!std::regex_match(line, columns, row)) continue;
    const std::string page = read_file(folder() / (columns.str(1) + ".md"));
    std::smatch found;
    INFO(columns.str(1));
    REQUIRE(std::regex_search(page, found, bounds));
    CHECK(found.str(1) == columns.str(2));
    CHECK(found.str(2) == columns.str(3));
    CHECK(page.starts_with("# " + std::to_string(result.size() + 1) + ". "));
    result.push_back({folder() / (columns.str(1) + ".nesl"), found.str(1), found.str(2),
                      std::stod(found.str(3)), std::stod(found.str(4))});
  }
  return result;
}

double bound(const std::string& name, double n) {
  if (name == "1") return 1;
  if (name == "log n") return std::log(n);
  if (name == "n") return n;
  if (name == "n log n") return n * std::log(n);
  if (name == "n^2") return n * n;
  if (name == "n^2.81") return std::pow(n, std::log2(7));
  FAIL("no such bound: " << name);
  return 0;
}

struct Measured {
  double work = 0;
  double depth = 0;
};

Measured measure(const Exercise& exercise, double n) {
  const std::string call = "measured(" + std::to_string(static_cast<int>(n)) + ")";
  const Output output = run(nesl("run '" + exercise.solution.string() + "' '" + call + "' --cost"));
  const std::regex line("cost: work (\\d+), depth (\\d+),");
  std::smatch found;
  INFO(output.err);
  REQUIRE(std::regex_search(output.err, found, line));
  return {std::stod(found.str(1)), std::stod(found.str(2))};
}

TEST_CASE("the course has twelve exercises, each with its page and solution") {
  CHECK(exercises().size() == 12);
  std::size_t solutions = 0;
  for (const auto& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() == ".nesl") ++solutions;
  }
  CHECK(solutions == 12);
}

TEST_CASE("solutions of the course give the expected values") {
  for (const Exercise& exercise : exercises()) {
    INFO(exercise.solution.filename());
    const Output output = run(nesl("test '" + exercise.solution.string() + "'"));
    CHECK(output.status == 0);
    CHECK(output.out == "");
    CHECK(output.err == "");
  }
}

// Constant factors of single rounds, and luck, may add half as much again between the two sizes.
TEST_CASE("work and depth of the solutions grow as their pages say") {
  constexpr double kSlack = 1.5;
  for (const Exercise& exercise : exercises()) {
    INFO(exercise.solution.filename());
    const Measured small = measure(exercise, exercise.from);
    const Measured large = measure(exercise, exercise.to);
    const auto growth = [&](const std::string& name) {
      return bound(name, exercise.to) / bound(name, exercise.from);
    };
    CHECK(large.work / small.work <= kSlack * growth(exercise.work));
    CHECK(large.work / small.work >= growth(exercise.work) / kSlack);
    CHECK(large.depth / small.depth <= kSlack * growth(exercise.depth));
  }
}

}  // namespace
}  // namespace neslc::testing
