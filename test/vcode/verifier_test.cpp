#include "vcode/verifier.hpp"

#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"

namespace vcode::testing {
namespace {

// The effect of the last function of a text, as it is printed.
std::string effect_of(const std::string& functions) {
  const Outcome outcome = verify_text(functions);
  INFO(outcome.messages());
  REQUIRE(outcome.verification);
  return effect_text("f", outcome.verification->effects.back());
}

// The same for a single body; the function is not the entry, so that it may take arguments.
std::string body_effect(const std::string& body) {
  return effect_of("FUNC start RET FUNC f " + body + " RET");
}

void check_accepted(const std::string& text) {
  const Outcome outcome = verify_text(text);
  INFO(text << '\n' << outcome.messages());
  REQUIRE(outcome.verification);
  CHECK_FALSE(outcome.diagnostics.has_errors());
}

void check_accepted_guarded(const std::string& text, std::size_t function) {
  const Outcome outcome = verify_text(text);
  INFO(text << '\n' << outcome.messages());
  REQUIRE(outcome.verification);
  CHECK_FALSE(outcome.diagnostics.has_errors());
  CHECK(outcome.verification->guarded[function]);
}

Diagnostic only_error(const std::string& text, ErrorCode code) {
  const Outcome outcome = verify_text(text);
  INFO(text << '\n' << outcome.messages());
  REQUIRE(outcome.diagnostics.all().size() == 1);
  CHECK(outcome.diagnostics.all()[0].code == code);
  return outcome.diagnostics.all()[0];
}

const std::string kReadFlag = "READ BOOL POP 2 0 ";  // an unknown condition

TEST_CASE("the conformance programs are accepted", "[verifier]") {
  for (const auto& path : conformance_programs()) {
    const Outcome outcome = verify_text(read_file(path));
    if (!outcome.linked) continue;
    INFO(path << '\n' << outcome.messages());
    CHECK_FALSE(outcome.diagnostics.has_errors());
    CHECK(outcome.verification->effects[outcome.linked->entry].complete);
  }
}

TEST_CASE("effects of straight code", "[verifier]") {
  CHECK(body_effect("") == "f ( -- )");
  CHECK(body_effect("+ FLOAT") == "f ( FLOAT FLOAT -- FLOAT )");
  CHECK(body_effect("< INT NOT BOOL") == "f ( INT INT -- BOOL )");
  CHECK(body_effect("CONST SEGDES 3 DIST INT") == "f ( INT -- INT )");
  CHECK(body_effect("PACK FLOAT") == "f ( FLOAT BOOL SEGDES -- FLOAT SEGDES )");
  CHECK(body_effect("DFPERMUTE BOOL") == "f ( BOOL INT BOOL BOOL SEGDES SEGDES -- BOOL )");
  CHECK(body_effect("READ CHAR") == "f ( -- INT INT BOOL )");
  CHECK(body_effect("READ SEGDES") == "f ( -- SEGDES INT BOOL )");
  CHECK(body_effect("SPAWN") == "f ( INT INT INT INT -- INT INT INT INT BOOL )");
  CHECK(body_effect("START_TIMER STOP_TIMER") == "f ( -- FLOAT )");
  CHECK(body_effect("CONST CHAR \"x\" FWRITE CHAR") == "f ( INT -- INT BOOL )");
}

TEST_CASE("stack shufflers work at any type", "[verifier]") {
  CHECK(body_effect("COPY 1 0") == "f ( a -- a a )");
  CHECK(body_effect("CPOP 1 1") == "f ( a b -- b a )");
  CHECK(body_effect("POP 1 1") == "f ( a b -- b )");
  CHECK(body_effect("COPY 2 1") == "f ( a b c -- a b c a b )");
  CHECK(body_effect("CPOP 2 3") == "f ( a b c d e -- c d e a b )");
  CHECK(body_effect("POP 0 2") == "f ( a b -- a b )");
  CHECK(body_effect("LENGTH INT") == "f ( a -- INT )");
  check_accepted(
      "FUNC m CONST INT 1 CALL dup + INT CONST FLOAT 1.0 CALL dup + FLOAT RET "
      "FUNC dup COPY 1 0 RET");
}

TEST_CASE("pairs", "[verifier]") {
  CHECK(body_effect("PAIR") == "f ( a b -- PAIR(a, b) )");
  CHECK(body_effect("UNPAIR") == "f ( PAIR(a, b) -- a b )");
  CHECK(body_effect("UNPAIR + INT") == "f ( PAIR(INT, INT) -- INT )");
  CHECK(body_effect("CONST INT 1 CONST BOOL T PAIR UNPAIR") == "f ( -- INT BOOL )");
  check_accepted("FUNC m CONST INT 1 CONST INT 2 PAIR CALL f RET FUNC f UNPAIR + INT RET");
}

TEST_CASE("conditionals whose branches agree", "[verifier]") {
  CHECK(body_effect("IF CONST INT 1 ELSE CONST INT 2 ENDIF") == "f ( BOOL -- INT )");
  CHECK(body_effect("IF CONST INT 1 + INT ENDIF") == "f ( INT BOOL -- INT )");
  CHECK(body_effect("IF CPOP 1 1 ENDIF POP 1 0") == "f ( a b BOOL -- c )");
  CHECK(body_effect("IF IF I_TO_F ELSE I_TO_F ENDIF ELSE POP 2 0 CONST FLOAT 1.0 ENDIF") ==
        "f ( INT BOOL BOOL -- FLOAT )");
}

TEST_CASE("a branch that ends the run does not count", "[verifier]") {
  CHECK(body_effect("IF CONST INT 1 EXIT ENDIF") == "f ( BOOL -- )");
  CHECK(body_effect("IF CONST INT 1 ELSE EXIT ENDIF") == "f ( BOOL -- INT )");
  CHECK(effect_of("FUNC s RET FUNC die WRITE CHAR EXIT RET FUNC f "
                  "IF CONST CHAR \"x\" CALL die ENDIF RET") == "f ( BOOL -- )");
}

TEST_CASE("functions that never return", "[verifier]") {
  CHECK(body_effect("EXIT") == "f ( -- never returns )");
  CHECK(body_effect("WRITE CHAR EXIT") == "f ( INT -- never returns )");
  CHECK(body_effect("IF EXIT ELSE EXIT ENDIF") == "f ( BOOL -- never returns )");
  CHECK(body_effect("CALL f") == "f ( -- never returns )");
  CHECK(effect_of("FUNC s RET FUNC g CALL f RET FUNC f CALL g RET") == "f ( -- never returns )");
  check_accepted("FUNC m EXIT + INT RET");
}

TEST_CASE("recursion", "[verifier]") {
  CHECK(body_effect("COPY 1 0 CONST INT 2 < INT IF ELSE COPY 1 0 CONST INT 1 - INT CALL f * INT "
                    "ENDIF") == "f ( INT -- INT )");
  // Quicksort's shape: the base case returns its arguments untouched.
  CHECK(body_effect("COPY 1 0 LENGTH INT CONST INT 2 < INT IF ELSE "
                    "COPY 2 0 CPOP 1 1 CONST BOOL (T) CPOP 1 1 PACK INT POP 1 1 CONST SEGDES 1 "
                    "POP 1 0 POP 1 0 CALL f ENDIF") == "f ( SEGDES INT -- SEGDES INT )");
  CHECK(effect_of("FUNC s RET "
                  "FUNC even COPY 1 0 I_TO_B IF CONST INT 1 - INT CALL f ELSE POP 1 0 CONST BOOL T "
                  "ENDIF RET FUNC f COPY 1 0 I_TO_B IF CONST INT 1 - INT CALL even ELSE POP 1 0 "
                  "CONST BOOL F ENDIF RET") == "f ( INT -- BOOL )");
  // A value of any type is carried through the recursion.
  CHECK(body_effect("COPY 1 0 I_TO_B IF CONST INT 1 - INT CALL f ENDIF") == "f ( INT -- INT )");
}

TEST_CASE("recursion without a fixed effect is left to the run", "[verifier]") {
  check_accepted_guarded(
      "FUNC m CONST INT 5 CALL f RET FUNC f COPY 1 0 CONST INT 0 > INT IF COPY 1 0 CONST INT 1 - "
      "INT CALL f ENDIF RET",
      1);
  check_accepted_guarded(
      "FUNC m CONST INT 5 CALL f + INT + FLOAT RET FUNC f COPY 1 0 CONST INT 0 > INT IF CALL f "
      "CONST INT 1 ENDIF RET",
      1);
  // Consumes one more value at each level.
  check_accepted_guarded("FUNC m CONST INT 1 CALL f RET FUNC f POP 1 0 CALL f RET", 1);
}

TEST_CASE("certain underflow in the entry function", "[verifier]") {
  CHECK(only_error("FUNC m CONST INT 1 + INT RET", ErrorCode::CertainUnderflow).message ==
        "`+ INT` needs 2 values on the stack, found 1");
  CHECK(only_error("FUNC m POP 1 0 RET", ErrorCode::CertainUnderflow).message ==
        "`POP 1 0` needs 1 value on the stack, found none");
  only_error("FUNC m CONST INT 1 COPY 1 1 RET", ErrorCode::CertainUnderflow);
  only_error("FUNC m POP 0 1 RET", ErrorCode::CertainUnderflow);
  only_error("FUNC m CPOP 4294967295 4294967295 RET", ErrorCode::CertainUnderflow);
  only_error("FUNC m IF ENDIF RET", ErrorCode::CertainUnderflow);
  only_error("FUNC m CONST INT 1 PAIR RET", ErrorCode::CertainUnderflow);
  only_error("FUNC m UNPAIR RET", ErrorCode::CertainUnderflow);
  only_error("FUNC m FCLOSE RET", ErrorCode::CertainUnderflow);
  CHECK(only_error("FUNC m CONST INT 1 CALL f RET FUNC f + INT RET", ErrorCode::CertainUnderflow)
            .message == "`CALL f` needs 2 values on the stack, found 1");
  check_accepted("FUNC m POP 0 0 COPY 0 0 CPOP 0 0 RET");
}

TEST_CASE("certain type clashes", "[verifier]") {
  const Diagnostic error =
      only_error("FUNC m CONST INT 1\nCONST FLOAT 1.0\n+ INT RET", ErrorCode::CertainTypeClash);
  CHECK(error.message == "`+ INT` needs INT as operand 1, found FLOAT");
  CHECK(error.function == "m");
  CHECK(error.span == Span{3, 1, 5});
  REQUIRE(error.notes.size() == 1);
  CHECK(error.notes[0].text == "the stack here, top last: `INT FLOAT`");
  const auto clash = [](const std::string& body) {
    only_error("FUNC m " + body + " RET", ErrorCode::CertainTypeClash);
  };
  clash("CONST INT 1 IF ENDIF");
  clash("CONST INT 1 UNPAIR");
  clash("CONST INT 1 CONST INT 2 PAIR LENGTH INT");
  clash("CONST SEGDES 1 LENGTH INT");
  clash("CONST INT 1 CONST INT 2 PAIR WRITE INT");
  clash("CONST FLOAT 1.0 WRITE CHAR");
  clash("CONST INT 1 LENGTHS");
  clash("CONST INT 1 CONST INT 1 +_SCAN INT");
  clash("READ FLOAT POP 2 0 NOT INT");
  clash("CONST INT 1 CONST INT 2 PAIR UNPAIR + FLOAT");
  check_accepted("FUNC m CONST FLOAT 1.0 WRITE INT CONST FLOAT 1.0 LENGTH INT RET");
}

TEST_CASE("type clashes at and in callees", "[verifier]") {
  CHECK(only_error("FUNC m CONST FLOAT 1.0 CONST INT 1 CALL f RET FUNC f + INT RET",
                   ErrorCode::CertainTypeClash)
            .message == "`CALL f` needs INT as operand 0, found FLOAT");
  CHECK(only_error("FUNC m CALL f RET FUNC f CONST INT 1 FLOOR RET", ErrorCode::CertainTypeClash)
            .function == "f");
  only_error("FUNC m CONST INT 1 CONST INT 1 PAIR CALL f RET FUNC f UNPAIR + FLOAT RET",
             ErrorCode::CertainTypeClash);
  only_error("FUNC m CALL f + INT RET FUNC f CONST INT 1 CONST FLOAT 2.0 RET",
             ErrorCode::CertainTypeClash);
  // Both arms of the callee need an INT.
  only_error("FUNC m CONST FLOAT 1.0 " + kReadFlag +
                 "CALL f RET FUNC f IF NOT INT ELSE CONST INT 1 + INT ENDIF RET",
             ErrorCode::CertainTypeClash);
}

TEST_CASE("what only one way through a callee needs is no certain failure", "[verifier]") {
  // The arms of g want different types of the same value, so the caller decides.
  check_accepted_guarded(
      "FUNC m CONST FLOAT 1.0 CONST BOOL F CALL g RET FUNC g IF I_TO_F ELSE FLOOR I_TO_F ENDIF RET",
      1);
  // Only one arm of g uses the caller's value.
  check_accepted_guarded("FUNC m CONST BOOL F CALL g RET FUNC g IF CONST INT 1 + INT ENDIF RET", 0);
}

TEST_CASE("branches of different shape", "[verifier]") {
  const Diagnostic error =
      only_error("FUNC m\n" + kReadFlag + "\nIF\nCONST INT 1\nENDIF\nRET", ErrorCode::BranchShape);
  CHECK(error.span == Span{3, 1, 2});
  REQUIRE(error.notes.size() == 3);
  CHECK(error.notes[0].text == "after the branch for T the stack is, top last: `INT`");
  CHECK(error.notes[1].text == "after F, where nothing is done, the stack is, top last: nothing");
  CHECK(error.notes[2].span == Span{5, 1, 5});
  only_error("FUNC m " + kReadFlag + "IF CONST INT 1 ELSE CONST FLOAT 1.0 ENDIF RET",
             ErrorCode::BranchShape);
  only_error("FUNC m " + kReadFlag + "IF CONST INT 1 ELSE CONST INT 1 CONST INT 2 ENDIF RET",
             ErrorCode::BranchShape);
  only_error("FUNC m CONST INT 1 CALL f RET FUNC f I_TO_B IF CONST INT 1 ENDIF RET",
             ErrorCode::BranchShape);
}

TEST_CASE("a constant condition follows the live branch only", "[verifier]") {
  CHECK(body_effect("CONST BOOL T IF CONST INT 1 ELSE CONST FLOAT 2.0 POP 9 0 ENDIF") ==
        "f ( -- INT )");
  CHECK(body_effect("CONST BOOL F IF + FLOAT ENDIF") == "f ( -- )");
  CHECK(body_effect("CONST BOOL F COPY 1 0 CPOP 1 1 IF POP 1 0 ELSE POP 1 0 CONST INT 1 ENDIF") ==
        "f ( -- INT )");
  check_accepted("FUNC m CONST BOOL (T) IF CONST INT 1 ENDIF RET");
  // After different constants have met, the condition is unknown.
  only_error(
      "FUNC m " + kReadFlag + "IF CONST BOOL T ELSE CONST BOOL F ENDIF IF CONST INT 1 ENDIF RET",
      ErrorCode::BranchShape);
  check_accepted("FUNC m " + kReadFlag +
                 "IF CONST BOOL T ELSE CONST BOOL T ENDIF IF CONST INT 1 ENDIF RET");
  // The dead arm's callee is not reached.
  check_accepted("FUNC m CONST BOOL F IF CALL f ENDIF RET FUNC f CONST INT 1 FLOOR RET");
}

TEST_CASE("what a run cannot reach is no error", "[verifier]") {
  check_accepted("FUNC m RET FUNC f CONST INT 1 + FLOAT RET");
  check_accepted("FUNC m EXIT CALL f RET FUNC f CONST INT 1 + FLOAT RET");
  const Outcome outcome = verify_text("FUNC m CALL g RET FUNC f RET FUNC g RET");
  REQUIRE(outcome.verification);
  CHECK(outcome.verification->reachable == std::vector<bool>{true, false, true});
}

TEST_CASE("one fault in a function is reported once", "[verifier]") {
  only_error("FUNC m CONST INT 1 FLOOR + FLOAT + FLOAT POP 9 0 RET", ErrorCode::CertainTypeClash);
  only_error("FUNC m CALL f + FLOAT RET FUNC f CONST INT 1 FLOOR RET", ErrorCode::CertainTypeClash);
  const Outcome outcome = verify_text(
      "FUNC m CALL f CALL g RET FUNC f CONST INT 1 FLOOR RET FUNC g CONST INT 1 FLOOR RET");
  CHECK(outcome.diagnostics.error_count() == 2);
}

TEST_CASE("MAIN may call itself", "[verifier]") {
  check_accepted("FUNC MAIN " + kReadFlag + "IF CALL MAIN ENDIF RET");
  check_accepted_guarded("FUNC MAIN CONST INT 1 " + kReadFlag + "IF CALL MAIN ENDIF RET", 0);
}

TEST_CASE("warnings for what is left to the run are optional", "[verifier]") {
  const std::string text =
      "FUNC m CONST INT 5 CALL f RET FUNC f COPY 1 0 I_TO_B IF COPY 1 0 CALL f ENDIF RET";
  CHECK(verify_text(text).diagnostics.all().empty());
  const Outcome outcome = verify_text(text, {.warn_guarded = true});
  CHECK(outcome.has(ErrorCode::BranchShapeWarning));
  REQUIRE(outcome.verification);
  CHECK(print(*outcome.verification, *outcome.linked) ==
        "m ( ? -- ? )  checked while running\nf ( ? -- ? )  checked while running\n");
}

}  // namespace
}  // namespace vcode::testing
