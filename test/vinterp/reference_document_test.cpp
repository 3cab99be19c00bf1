// Keeps docs/vcode-reference.md true: its table is the operation table, its examples are run.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <catch2/catch.hpp>

#include "vinterp/list_ops.hpp"
#include "vinterp/machine_support.hpp"

namespace {

constexpr const char* kPath = NESL_SOURCE_DIR "/docs/vcode-reference.md";

std::string read_document() {
  std::ifstream file(kPath);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

// To write the table anew: NESL_UPDATE=1 vinterp_tests "[document]"
TEST_CASE("the table of the VCODE reference is the operation table", "[document]") {
  const std::string begin_mark = "<!-- begin of the generated table -->\n";
  const std::string end_mark = "<!-- end of the generated table -->";
  std::string document = read_document();
  const auto begin = document.find(begin_mark);
  const auto end = document.find(end_mark);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const auto table = begin + begin_mark.size();
  if (std::getenv("NESL_UPDATE") != nullptr) {
    document.replace(table, end - table, vinterp::list_ops_markdown());
    std::ofstream(kPath) << document;
    return;
  }
  CHECK(document.substr(table, end - table) == vinterp::list_ops_markdown());
}

TEST_CASE("the examples of the VCODE reference print what it says", "[document]") {
  const std::string document = read_document();
  const std::string program_mark = "```vcode\n";
  const std::string output_mark = "```output\n";
  int examples = 0;
  for (auto at = document.find(program_mark); at != std::string::npos;
       at = document.find(program_mark, at)) {
    at += program_mark.size();
    const std::string program = document.substr(at, document.find("```", at) - at);
    at = document.find(output_mark, at) + output_mark.size();
    const std::string expected = document.substr(at, document.find("```", at) - at);
    INFO(program);
    const vinterp_test::Ran ran = vinterp_test::run_program(program);
    CHECK(ran.messages.empty());
    CHECK(ran.stack == expected);
    ++examples;
  }
  CHECK(examples >= 6);
}
