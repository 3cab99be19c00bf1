#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"
#include "vcode/printer.hpp"

namespace vcode::testing {
namespace {

void check_round_trip(const Program& program) {
  const std::string text = print(program);
  INFO(text);
  const Outcome again = parse_text(text);
  INFO(again.messages());
  REQUIRE(again.program);
  CHECK(again.diagnostics.all().empty());
  CHECK(same_program(program, *again.program));
  CHECK(print(*again.program) == text);
}

TEST_CASE("FCODE programs survive printing", "[kernel]") {
  int count = 0;
  for (const auto& path : fcode_programs()) {
    const Outcome outcome = verify_text(read_file(path));
    INFO(path << "\n" << outcome.messages());
    REQUIRE(outcome.program);
    CHECK(outcome.diagnostics.all().empty());
    check_round_trip(*outcome.program);
    ++count;
  }
  CHECK(count >= 2);
}

}  // namespace
}  // namespace vcode::testing
