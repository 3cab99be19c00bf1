#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"
#include "vcode/error_codes.hpp"

namespace vcode::testing {
namespace {

TEST_CASE("every error code has a heading in the index", "[errors]") {
  const std::string index = read_file(std::filesystem::path(PROJECT_ROOT) / "docs/errors.md");
  for (const ErrorInfo& error : all_errors()) {
    INFO(error.id);
    const std::string heading =
        "\n### " + std::string(error.id) + ": " + std::string(error.title) + "\n";
    CHECK(index.find(heading) != std::string::npos);
    CHECK(&info(error.code) == &error);
  }
}

// Blocks of the index that show a program and its messages are run:
//   ```vcode
//   program
//   ```
//   ```text
//   messages
//   ```
TEST_CASE("the examples of the index print what it says", "[errors]") {
  const std::string index = read_file(std::filesystem::path(PROJECT_ROOT) / "docs/errors.md");
  const std::string program_mark = "\n```vcode\n", end_mark = "```\n", text_mark = "```text\n";
  int examples = 0;
  for (std::size_t at = index.find(program_mark); at != std::string::npos;
       at = index.find(program_mark, at + 1)) {
    const std::size_t begin = at + program_mark.size();
    const std::size_t end = index.find(end_mark, begin);
    const std::size_t text_begin = index.find(text_mark, end) + text_mark.size();
    const std::size_t text_end = index.find(end_mark, text_begin);
    const Outcome outcome = verify_text(index.substr(begin, end - begin), {.warn_guarded = true});
    CHECK(outcome.messages() == index.substr(text_begin, text_end - text_begin));
    ++examples;
  }
  CHECK(examples >= 16);
}

}  // namespace
}  // namespace vcode::testing
