#include "vcode/printer.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"
#include "vcode/lexer.hpp"
#include "vcode/numbers.hpp"

namespace vcode::testing {
namespace {

void check_round_trip(const Program& program) {
  const std::string text = print(program);
  const Outcome again = parse_text(text);
  INFO(text << again.messages());
  REQUIRE(again.program);
  CHECK(again.diagnostics.all().empty());
  CHECK(same_program(program, *again.program));
  CHECK(print(*again.program) == text);
}

TEST_CASE("printing lays a program out", "[printer]") {
  const Outcome outcome = parse_text(
      "FUNC f I INT O BOOL CONST INT STDOUT IF CONST FLOAT(1. -2.5e100)ELSE IF + INT ENDIF ENDIF "
      "COPY 1 0 CALL g RET FUNC g CONST CHAR \"a b\" CONST SEGDES () CONST BOOL T RET");
  REQUIRE(outcome.program);
  CHECK(print(*outcome.program) ==
        "FUNC f I INT O BOOL\n"
        "  CONST INT STDOUT\n"
        "  IF\n"
        "    CONST FLOAT (1.0 -2.5e+100)\n"
        "  ELSE\n"
        "    IF\n"
        "      + INT\n"
        "    ENDIF\n"
        "  ENDIF\n"
        "  COPY 1 0\n"
        "  CALL g\n"
        "RET\n"
        "\n"
        "FUNC g\n"
        "  CONST CHAR \"a b\"\n"
        "  CONST SEGDES ()\n"
        "  CONST BOOL T\n"
        "RET\n");
  check_round_trip(*outcome.program);
}

TEST_CASE("conformance programs survive printing", "[printer]") {
  for (const auto& path : conformance_programs()) {
    const Outcome outcome = parse_text(read_file(path));
    if (outcome.program) check_round_trip(*outcome.program);
  }
}

TEST_CASE("reals are printed as reals with the same bits", "[printer]") {
  using Limits = std::numeric_limits<double>;
  CHECK(print_real(1.0) == "1.0");
  CHECK(print_real(-0.0) == "-0.0");
  CHECK(print_real(0.1) == "0.1");
  CHECK(print_real(1e22) == "1.0e+22");
  CHECK(print_real(Limits::infinity()) == "1.0e400");
  CHECK(print_real(-Limits::infinity()) == "-1.0e400");
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (std::isnan(value)) continue;
    const std::string text = print_real(value);
    INFO(text);
    CHECK(std::bit_cast<std::uint64_t>(read_real(text)) == std::bit_cast<std::uint64_t>(value));
    Diagnostics diagnostics;
    const Source source("", text);
    CHECK(Lexer(source, diagnostics).next().kind == Token::Kind::Real);
  }
}

TEST_CASE("long vectors are broken into lines", "[printer]") {
  std::string text = "FUNC f CONST INT (";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i * 7919) + " ";
  const Outcome outcome = parse_text(text + ") RET");
  REQUIRE(outcome.program);
  check_round_trip(*outcome.program);
  const std::string printed = print(*outcome.program);
  for (std::size_t begin = 0; begin < printed.size();) {
    const std::size_t end = printed.find('\n', begin);
    CHECK(end - begin <= 100);
    begin = end + 1;
  }
}

TEST_CASE("the text of deep nesting grows linearly", "[printer]") {
  std::string text = "FUNC f ";
  for (int i = 0; i < 50000; ++i) text += "IF ";
  for (int i = 0; i < 50000; ++i) text += "ENDIF ";
  const Outcome outcome = parse_text(text + "RET");
  REQUIRE(outcome.program);
  CHECK(print(*outcome.program).size() < 100 * text.size());
}

TEST_CASE("instructions are printed for traces", "[printer]") {
  const Outcome outcome = link_text(
      "FUNC f CALL g COPY 2 1 READ CHAR CONST INT (1 2 3 4 5 6 7 8 9 10) CONST CHAR \"a\nb\" "
      "CONST FLOAT 0.5 RET FUNC g RET");
  REQUIRE(outcome.linked);
  const auto text = [&](std::size_t i) { return print(outcome.linked->code[i], *outcome.linked); };
  CHECK(text(0) == "CALL g");
  CHECK(text(1) == "COPY 2 1");
  CHECK(text(2) == "READ CHAR");
  CHECK(text(3) == "CONST INT (1 2 3 4 5 6 7 8 ...)");
  CHECK(text(4) == "CONST CHAR \"a\\x0ab\"");
  CHECK(text(5) == "CONST FLOAT 0.5");
  CHECK(text(6) == "RET");
}

// Random sequences of tokens, most of them wrong: parsing must end, and what it accepts must
// survive printing.
TEST_CASE("token soups", "[printer]") {
  std::vector<std::string> words = {
      "FUNC",   "f",    "g",   "RET",   "MAIN",  "INT",    "BOOL",       "FLOAT",
      "SEGDES", "CHAR", "T",   "F",     "I",     "O",      "(",          ")",
      "1",      "-2",   "3.5", "\"s\"", "{c}",   "STDIN",  "FUSED",      "\n",
      ",",      "\"",   "{",   "1 0",   "INT 5", "FUNC f", "RET FUNC g", "99999999999999999999"};
  for (const OpInfo& op : all_ops()) words.emplace_back(op.text);
  std::mt19937 random(7);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = "FUNC f ";
    for (std::uint32_t length = random() % 6; length > 0; --length) {
      text += words[random() % words.size()] + (random() % 8 ? " " : "");
    }
    text += " RET";
    Outcome outcome = verify_text(text);
    CHECK(outcome.program.has_value() == (parse_text(text).diagnostics.error_count() == 0));
    if (!outcome.program) continue;
    ++accepted;
    check_round_trip(*outcome.program);
  }
  CHECK(accepted > 1000);
}

}  // namespace
}  // namespace vcode::testing
