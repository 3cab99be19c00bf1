// The messages of run-time failures, word for word.
#include <string>

#include <catch2/catch.hpp>

#include "machine_support.hpp"

namespace {

using vinterp::Outcome;
using vinterp_test::Ran;
using vinterp_test::run_program;
using vinterp_test::RunOptions;

std::string message(const std::string& text, const RunOptions& options = {}) {
  const Ran ran = run_program(text, options);
  CHECK(ran.outcome == Outcome::Failed);
  CHECK(ran.stack.empty());
  return ran.messages;
}

TEST_CASE("too few values", "[machine][failure]") {
  CHECK(message("FUNC MAIN\nCONST INT 1\n+ INT\nRET\n") ==
        "test.vcode:3:1: error: `+ INT` needs 2 values, the stack has 1, in `MAIN` [V0501]\n"
        "    3 | + INT\n"
        "      | ^^^^^\n");
  CHECK(message("FUNC MAIN\nCOPY 1 2\nRET\n") ==
        "test.vcode:2:1: error: `COPY 1 2` reaches 3 values down, the stack has 0, in `MAIN` "
        "[V0501]\n"
        "    2 | COPY 1 2\n"
        "      | ^^^^^^^^\n");
  for (const char* instruction : {"POP 4294967295 4294967295", "CPOP 1 0", "POP 0 1", "IF ENDIF",
                                  "PAIR", "UNPAIR", "SRAND INT", "WRITE INT", "FCLOSE"}) {
    INFO(instruction);
    CHECK(message(std::string("FUNC MAIN ") + instruction + " RET").find("V0501") !=
          std::string::npos);
  }
}

TEST_CASE("wrong types", "[machine][failure]") {
  CHECK(message("FUNC MAIN\nCONST INT 1\nUNPAIR\nRET\n") ==
        "test.vcode:3:1: error: `UNPAIR` needs a PAIR as operand 0, found INT, in `MAIN` [V0502]\n"
        "    3 | UNPAIR\n"
        "      | ^^^^^^\n");
  CHECK(message("FUNC MAIN\nCONST INT 1\nIF\nENDIF\nRET\n") ==
        "test.vcode:3:1: error: `IF` needs a BOOL as operand 0, found INT, in `MAIN` [V0502]\n"
        "    3 | IF\n"
        "      | ^^\n");
  CHECK(message("FUNC MAIN\nCONST INT (1 2)\nCONST FLOAT 1.0\n+ INT\nRET\n") ==
        "test.vcode:4:1: error: `+ INT` needs an INT as operand 1, found FLOAT, in `MAIN` [V0502]\n"
        "    4 | + INT\n"
        "      | ^^^^^\n"
        "note: operand 0 is an INT vector of 2 elements\n"
        "note: operand 1 is a FLOAT vector of 1 element\n");
}

TEST_CASE("not a scalar", "[machine][failure]") {
  CHECK(message("FUNC MAIN\nCONST BOOL (T F)\nIF\nENDIF\nRET\n") ==
        "test.vcode:3:1: error: `IF` needs a BOOL of length 1, found length 2, in `MAIN` [V0508]\n"
        "    3 | IF\n"
        "      | ^^\n");
  CHECK(message("FUNC MAIN\nCONST INT ()\nSRAND INT\nRET\n").find("V0508") != std::string::npos);
}

TEST_CASE("lengths", "[machine][failure]") {
  CHECK(message("FUNC MAIN\nCONST INT (1 2)\nCONST INT 1\n+ INT\nRET\n") ==
        "test.vcode:4:1: error: lengths do not fit in `+ INT`: the length of operand 1 is 1, the "
        "length of operand 0 is 2, in `MAIN` [V0503]\n"
        "    4 | + INT\n"
        "      | ^^^^^\n"
        "note: operand 0 is an INT vector of 2 elements\n"
        "note: operand 1 is an INT vector of 1 element\n");
}

TEST_CASE("a vector that is too long for an INT to count", "[machine][failure]") {
  const std::string text =
      "FUNC MAIN\nCONST INT 1\nCONST INT (2000000000 200000000)\nMAKE_SEGDES\nPOP 1 0\nRET\n";
  CHECK(message(text) ==
        "test.vcode:4:1: error: a vector of 2200000000 elements: its length does not fit a 32-bit "
        "INT, in `MAIN` [V0510]\n"
        "    4 | MAKE_SEGDES\n"
        "      | ^^^^^^^^^^^\n"
        "help: run with --int=64\n");
  CHECK(run_program(text, {.widths = {8, 8}}).outcome == Outcome::Returned);
}

TEST_CASE("the way to the failure", "[machine][failure]") {
  const std::string text = message(
      "FUNC MAIN\nCONST INT 3\nCALL DOWN\nRET\n"
      "FUNC DOWN\nCOPY 1 0\nCONST INT 0\n> INT\nIF\nCONST INT 1\n- INT\nCALL DOWN\n"
      "ELSE\nCALL DIVIDE\nENDIF\nCPOP 1 0\nRET\n"
      "FUNC DIVIDE\nCONST INT 1\nCPOP 1 1\n/ INT\nRET\n");
  CHECK(text.find("in `DIVIDE` [V0505]\n") != std::string::npos);
  CHECK(text.find("note: called from `DOWN`, line 14\n"
                  "note: called from `DOWN`, line 12, 3 times\n"
                  "note: called from `MAIN`, line 3\n") != std::string::npos);
}

TEST_CASE("calls nested too deeply", "[machine][failure]") {
  RunOptions options;
  options.machine.max_depth = 1000;
  CHECK(message("FUNC MAIN\nCALL MAIN\nCONST INT 1\nRET\n", options) ==
        "test.vcode:2:1: error: calls are nested more than 1000 deep, in `MAIN` [V0602]\n"
        "    2 | CALL MAIN\n"
        "      | ^^^^^^^^^\n"
        "note: called from `MAIN`, line 2, 1000 times\n"
        "help: does the recursion end? If it does, raise the limit with --max-depth\n");
  RunOptions small;
  small.memory = 1 << 20;
  CHECK(message("FUNC MAIN\nCALL MAIN\nCONST INT 1\nRET\n", small).find("V0602") !=
        std::string::npos);
}

TEST_CASE("many nested calls that hold much memory", "[machine][failure]") {
  // Each call keeps a vector of 6000 bytes.
  const std::string program =
      "FUNC MAIN\nCALL MORE\nRET\n"
      "FUNC MORE\nCONST INT 0 CONST INT 1 CONST SEGDES 1500 INDEX COPY 1 0 * INT\nCALL MORE\nCONST "
      "INT 1\nRET\n";
  RunOptions options;
  options.machine.max_depth = vinterp::MachineOptions::kDefaultDepth;
  options.memory = 400 << 20;
  const std::string asked = message(program, options);
  CHECK(asked.find("error: calls are nested 10000 deep and hold ") != std::string::npos);
  CHECK(asked.find("does the recursion end? If it does, say how deep it may be with --max-depth") !=
        std::string::npos);
  // Whoever says how many calls there may be gets them.
  options.machine.max_depth = 12'000;
  CHECK(message(program, options).find("nested more than 12000 deep") != std::string::npos);
  options.machine.max_depth = vinterp::MachineOptions::kDefaultDepth;
  options.memory = 30 << 20;
  CHECK(message(program, options).find("does the recursion end?") != std::string::npos);
}

TEST_CASE("out of memory", "[machine][failure]") {
  RunOptions options;
  options.memory = 4 << 20;
  const std::string text = message(
      "FUNC MAIN\nCONST INT 0 CONST INT 1 CONST SEGDES 500000 INDEX\n"
      "COPY 1 0 + INT\nCALL MORE\nRET\n"
      "FUNC MORE\nCOPY 1 0 COPY 1 0 * INT\nCALL MORE\nRET\n",
      options);
  CHECK(text.find("test.vcode:7:19: error: out of memory in `* INT`, in `MORE` [V0601]\n") == 0);
  CHECK(text.find("note: large vector at stack position ") != std::string::npos);
  CHECK(text.find("INT of 500000 elements, ") != std::string::npos);
  CHECK(text.find("note: called from ") != std::string::npos);
  const std::string stack = message(
      "FUNC MAIN\nCONST INT 1\nCOPY 1 0 CALL MORE\nRET\n"
      "FUNC MORE\nCOPY 1 0\nCOPY 2 0\nCOPY 4 0\nCALL MORE\nRET\n",
      options);
  CHECK(stack.find("V0601") != std::string::npos);
}

TEST_CASE("every allocation may fail", "[machine][failure]") {
  const std::string program =
      "FUNC MAIN CONST INT 0 CONST INT 1 CONST SEGDES 5000 INDEX COPY 1 0 + INT "
      "CONST SEGDES 5000 COPY 2 0 PAIR CPOP 2 1 +_SCAN INT RET";
  Outcome outcome = Outcome::Failed;
  for (std::uint64_t n = 1; outcome == Outcome::Failed && n < 100; ++n) {
    RunOptions options;
    options.fail_allocation = n;
    const Ran ran = run_program(program, options);
    outcome = *ran.outcome;
    if (outcome == Outcome::Failed) CHECK(ran.messages.find("V060") != std::string::npos);
  }
  CHECK(outcome == Outcome::Returned);
}

}  // namespace
