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

// A program that is directly followed by a block of text, its messages, is checked against it;
// programs followed by a console session fail only when they run.
TEST_CASE("the examples of the index print what it says", "[errors]") {
  const std::string index = read_file(std::filesystem::path(PROJECT_ROOT) / "docs/errors.md");
  const std::string begin_mark = "\n```vcode\n", middle_mark = "```\n\n```", text_mark = "text\n";
  int examples = 0;
  for (std::size_t at = index.find(begin_mark); at != std::string::npos;
       at = index.find(begin_mark, at + 1)) {
    const std::size_t begin = at + begin_mark.size();
    const std::size_t end = index.find(middle_mark, begin);
    REQUIRE(end != std::string::npos);
    const std::size_t text_begin = end + middle_mark.size() + text_mark.size();
    if (index.compare(end + middle_mark.size(), text_mark.size(), text_mark) != 0) continue;
    const std::size_t text_end = index.find("```\n", text_begin);
    const Outcome outcome = verify_text(index.substr(begin, end - begin), {.warn_guarded = true});
    CHECK(outcome.messages() == index.substr(text_begin, text_end - text_begin));
    ++examples;
  }
  CHECK(examples == 26);
}

}  // namespace
}  // namespace vcode::testing
