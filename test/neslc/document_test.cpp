// What the documents show is what the programs print, and their links lead somewhere.
#include "document.hpp"

#include <cctype>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {
namespace {

namespace fs = std::filesystem;

int check(const char* name) {
  return check_document(std::string(PROJECT_ROOT) + "/" + name);
}

TEST_CASE("every block of the README is executed") {
  CHECK(check("README.md") >= 5);
}

TEST_CASE("every block of the tutorial is executed") {
  CHECK(check("docs/tutorial.md") >= 40);
}

TEST_CASE("the examples of the manual of nesl are executed") {
  CHECK(check("docs/nesl.md") >= 9);
}

TEST_CASE("every block about streams is executed") {
  CHECK(check("docs/streams.md") >= 8);
}

TEST_CASE("the examples of the reference of the language are executed") {
  CHECK(check("docs/nesl-language.md") >= 1);
}

/// The names by which headings are linked to: lower case, blanks as hyphens, no punctuation.
std::set<std::string> anchors_of(const std::string& document) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(document)) {
    if (!line.starts_with("#")) continue;
    std::string anchor;
    for (const char c : line.substr(line.find(' ') + 1)) {
      const auto letter = static_cast<unsigned char>(c);
      if (c == ' ') {
        anchor += '-';
      } else if (std::isalnum(letter) != 0 || c == '_' || c == '-') {
        anchor += static_cast<char>(std::tolower(letter));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

std::vector<fs::path> documents() {
  const fs::path root = PROJECT_ROOT;
  std::vector<fs::path> found;
  for (const char* folder : {"", "docs", "nesl-examples/nesl", "nesl-examples/vcode",
                             "nesl-examples/course", "editors", "neslc", "test", "bench/results"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
  }
  return found;
}

TEST_CASE("links of the documents lead somewhere") {
  const std::regex link(R"(\]\(([^)#:\s]*)(#([^)\s]+))?\))");
  int links = 0;
  for (const fs::path& document : documents()) {
    const std::string text = read_file(document);
    for (std::sregex_iterator at(text.begin(), text.end(), link), end; at != end; ++at) {
      INFO(document << ": " << at->str());
      const fs::path target = at->length(1) == 0 ? document : document.parent_path() / at->str(1);
      CHECK(fs::exists(target));
      if (at->length(3) > 0) CHECK(anchors_of(read_file(target)).contains(at->str(3)));
      ++links;
    }
  }
  CHECK(links > 50);
}

}  // namespace
}  // namespace neslc::testing
