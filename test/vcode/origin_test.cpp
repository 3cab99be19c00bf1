#include "vcode/origin.hpp"

#include <catch2/catch.hpp>

namespace {

using vcode::Origin;
using vcode::origin_of;

TEST_CASE("a comment holds for its line and those below in the function", "[origin]") {
  const vcode::Source source("p.vcode",
                             "FUNC MAIN\n"
                             "  CONST INT 1   { my file.nesl:3:12 step }\n"
                             "  COPY 1 0\n"
                             "  POP 1 0       { x.nesl:4:1 }\n"
                             "RET\n"
                             "FUNC OTHER\n"
                             "  COPY 1 0      { an ordinary remark }\n"
                             "RET\n");
  CHECK_FALSE(origin_of(source, 1));
  for (const std::uint32_t line : {2U, 3U}) {
    const auto origin = origin_of(source, line);
    REQUIRE(origin);
    CHECK(origin->file == "my file.nesl");
    CHECK(origin->line == 3);
    CHECK(origin->column == 12);
    CHECK(origin->function == "step");
  }
  REQUIRE(origin_of(source, 5));
  CHECK(origin_of(source, 5)->line == 4);
  CHECK(origin_of(source, 5)->function.empty());
  CHECK_FALSE(origin_of(source, 7));
  CHECK_FALSE(origin_of(source, 8));
  CHECK_FALSE(origin_of(source, 100));
}

TEST_CASE("a comment never contains what would end it", "[origin]") {
  CHECK(vcode::origin_comment({"a{b}\n.nesl", 1, 2, "lambda in f"}) ==
        "a_b_\\x0a.nesl:1:2 lambda_in_f");
  CHECK(vcode::origin_comment({"a.nesl", 7, 8, ""}) == "a.nesl:7:8");
  const auto origin = origin_of(vcode::Source("p", "RET { a b.nesl:7:8 }"), 1);
  REQUIRE(origin);
  CHECK(origin->file == "a b.nesl");
}

TEST_CASE("comments that name no place are none", "[origin]") {
  for (const char* line : {"RET { }", "RET { : }", "RET { a:1 }", "RET { a:b:c }", "RET { :1:2 x",
                           "RET { a:99999999999:1 }", "}", " }"}) {
    INFO(line);
    CHECK_FALSE(origin_of(vcode::Source("p", line), 1));
  }
}

}  // namespace
