// Programs of extreme size and shape: verifying them takes work that grows with their size, and no
// deep native recursion.
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "support.hpp"

namespace vcode::testing {
namespace {

std::string repeat(const std::string& text, int count) {
  std::string result;
  result.reserve(text.size() * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

Outcome outcome_of(std::string text) {
  Outcome outcome = verify_text(std::move(text));
  INFO(outcome.messages());
  REQUIRE(outcome.verification);
  CHECK_FALSE(outcome.diagnostics.has_errors());
  return outcome;
}

/// The verifier looks at so few entries of the stack, altogether and for an instruction.
constexpr std::int64_t kWork = std::int64_t{1} << 22;
constexpr std::int64_t kWorkPerInstruction = 64;

/// It also ends soon.
Outcome check_cheap(std::string text) {
  Outcome outcome = outcome_of(std::move(text));
  CHECK(outcome.verification->work > 0);
  CHECK(outcome.verification->work <=
        kWork + kWorkPerInstruction * static_cast<std::int64_t>(outcome.linked->code.size()));
  return outcome;
}

/// So large a program ends soon because the verifier gives up, and leaves it to the run.
void check_given_up(std::string text) {
  constexpr std::int64_t kMostWork = std::int64_t{1} << 23;
  const Outcome outcome = outcome_of(std::move(text));
  CHECK(outcome.verification->guarded[0]);
  CHECK(outcome.verification->work <= kMostWork);
}

TEST_CASE("a million instructions", "[verifier]") {
  check_cheap("FUNC m CONST INT 1 " + repeat("COPY 1 0 + INT\n", 500000) + "RET");
}

TEST_CASE("a hundred thousand nested conditionals", "[verifier]") {
  const Outcome outcome =
      check_cheap("FUNC m CONST INT 1 " + repeat("COPY 1 0 I_TO_B IF COPY 1 0 + INT\n", 100000) +
                  repeat("ELSE CONST INT 5 + INT ENDIF\n", 100000) + "RET");
  CHECK_FALSE(outcome.verification->guarded[0]);
}

TEST_CASE("ten thousand mutually recursive functions", "[verifier]") {
  constexpr int kCount = 10000;
  std::string text = "FUNC m CONST INT 9 CALL f0 RET\n";
  for (int i = 0; i < kCount; ++i) {
    text += fmt::format(
        "FUNC f{} COPY 1 0 I_TO_B IF CONST INT 1 - INT CALL f{} CALL f{} ELSE COPY 1 0 + INT ENDIF "
        "RET\n",
        i, (i * 7919 + 13) % kCount, (i + 1) % kCount);
  }
  const Outcome outcome = check_cheap(text);
  CHECK(effect_text("f", outcome.verification->effects[kCount / 2]) == "f ( INT -- INT )");
}

TEST_CASE("a long chain of calls", "[verifier]") {
  constexpr int kCount = 100000;
  std::string text = "FUNC m CONST INT 9 CALL f0 RET\n";
  for (int i = 0; i < kCount; ++i) text += fmt::format("FUNC f{} CALL f{} RET\n", i, i + 1);
  const Outcome outcome = check_cheap(text + fmt::format("FUNC f{} NOT INT RET", kCount));
  CHECK(effect_text("f", outcome.verification->effects[1]) == "f ( INT -- INT )");
}

TEST_CASE("facts that pass up through deep nesting", "[verifier]") {
  check_cheap("FUNC m RET FUNC f " + repeat("IF EXIT ELSE\n", 50000) +
              repeat("POP 1 0 + INT POP 1 0\n", 50000) + repeat("ENDIF\n", 50000) + "RET");
  check_cheap("FUNC m RET FUNC f " + repeat("IF\n", 50000) +
              repeat("POP 1 0 + INT POP 1 0\n", 50000) + repeat("ELSE EXIT ENDIF\n", 50000) +
              "RET");
}

TEST_CASE("exponentially large pairs", "[verifier]") {
  check_cheap("FUNC m CONST INT 1 " + repeat("COPY 1 0 PAIR ", 1000) + "CALL f RET FUNC f " +
              repeat("COPY 1 0 PAIR ", 1000) + repeat("UNPAIR POP 1 0 ", 1000) + " RET");
}

TEST_CASE("a stack that doubles, or that is shuffled deep down, is left to the run", "[verifier]") {
  std::string text = "FUNC m CONST INT 1 ";
  for (int i = 0; i < 32; ++i) text += fmt::format("COPY {} 0 ", 1u << i);
  check_given_up(text + "RET");
  check_given_up("FUNC m " + repeat("CONST INT 1\n", 20000) + repeat("CPOP 1 19999\n", 20000) +
                 "RET");
}

}  // namespace
}  // namespace vcode::testing
