#include "fcode-opt/expected_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace fcode::testing {
namespace {

namespace fs = std::filesystem;

/// Columns are as wide as their titles, but the first.
constexpr std::size_t kNameWidth = 24;
constexpr std::size_t kNumberWidth = 8;

std::vector<std::string> lines_of(const std::vector<std::string>& titles,
                                  const std::vector<TableRow>& rows) {
  std::vector<std::string> lines(1 + rows.size());
  const auto width = [&](std::size_t column) {
    return std::max(kNumberWidth, titles[column + 1].size()) + 2;
  };
  lines[0] = fmt::format("{:<{}}", titles[0], kNameWidth);
  for (std::size_t k = 0; k + 1 < titles.size(); ++k) {
    lines[0] += fmt::format("{:>{}}", titles[k + 1], width(k));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    lines[i + 1] = fmt::format("{:<{}}", rows[i].name, kNameWidth);
    for (std::size_t k = 0; k < rows[i].numbers.size(); ++k) {
      lines[i + 1] += fmt::format("{:>{}}", rows[i].numbers[k], width(k));
    }
  }
  return lines;
}

}  // namespace

void check_table(const std::string& name, const std::vector<std::string>& titles,
                 const std::vector<TableRow>& rows) {
  const fs::path path = fs::path(PROJECT_ROOT) / "test/fcode-opt" / name;
  const std::vector<std::string> found = lines_of(titles, rows);
  if (std::getenv("NESL_UPDATE") != nullptr) {
    std::ofstream file(path);
    for (const std::string& line : found) file << line << '\n';
    return;
  }
  std::vector<std::string> expected;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) expected.push_back(line);
  INFO(path.string() << "\n" << found[0]);
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    CHECK(found[i] == expected[i]);
  }
  CHECK(found.size() == expected.size());
}

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(PROJECT_ROOT) / "nesl-examples/vcode")) {
    if (entry.path().extension() == ".vcode") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fcode::testing
