#include "machine/machine.hpp"

#include <csignal>
#include <string>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/core.h>

#include "machine/interrupt.hpp"
#include "machine_support.hpp"

namespace {

using vinterp::Outcome;
using vinterp_test::final_stack;
using vinterp_test::Ran;
using vinterp_test::run_program;
using vinterp_test::RunOptions;

const std::string kSix =
    "CONST INT 0 CONST INT 1 CONST INT 2 CONST INT 3 CONST INT 4 CONST INT 5\n";

std::string digits(const std::string& instructions) {
  std::string result;
  for (const char c : final_stack(kSix + instructions)) {
    if (c >= '0' && c <= '9') result += c;
  }
  return result;
}

TEST_CASE("stack instructions, all rows of the specification", "[machine]") {
  CHECK(digits("COPY 1 0") == "0123455");
  CHECK(digits("COPY 1 5") == "0123450");
  CHECK(digits("COPY 2 3") == "01234512");
  CHECK(digits("COPY 3 1") == "012345234");
  CHECK(digits("COPY 6 0") == "012345012345");
  CHECK(digits("POP 1 0") == "01234");
  CHECK(digits("POP 2 3") == "0345");
  CHECK(digits("POP 1 5") == "12345");
  CHECK(digits("POP 6 0") == "");
  CHECK(digits("CPOP 1 0") == "012345");
  CHECK(digits("CPOP 6 0") == "012345");
  CHECK(digits("CPOP 1 1") == "012354");
  CHECK(digits("CPOP 2 3") == "034512");
  CHECK(digits("CPOP 3 2") == "045123");
  CHECK(digits("CPOP 1 5") == "123450");
  CHECK(digits("POP 0 6 COPY 0 6 CPOP 0 3") == "012345");
}

TEST_CASE("blocks of hundreds of values", "[machine]") {
  std::string body, expected;
  for (int i = 0; i < 400; ++i) body += fmt::format("CONST INT {}\n", i);
  for (const int start : {0, 1, 7, 150, 399}) {
    const int count = 400 - start;
    expected.clear();
    for (int i = count; i < 400; ++i) expected += fmt::format("( {} ) ", i);
    for (int i = 0; i < count; ++i) expected += fmt::format("( {} ) ", i);
    expected.pop_back();
    CHECK(final_stack(body + fmt::format("CPOP {} {}", count, start)) == expected);
  }
}

TEST_CASE("control", "[machine]") {
  CHECK(final_stack("CONST BOOL T IF CONST INT 1 ELSE CONST INT 2 ENDIF") == "( 1 )");
  CHECK(final_stack("CONST BOOL F IF CONST INT 1 ELSE CONST INT 2 ENDIF") == "( 2 )");
  CHECK(final_stack("CONST BOOL F IF CONST INT 1 ENDIF") == "");
  CHECK(run_program("FUNC A CALL B CALL B RET FUNC B CONST INT 7 RET").stack == "( 7 )\n( 7 )\n");
  CHECK(run_program("FUNC A CONST INT 1 EXIT RET").outcome == Outcome::Exited);
}

TEST_CASE("constants of every type", "[machine]") {
  CHECK(final_stack("CONST INT STDOUT CONST SEGDES 5 CONST SEGDES () CONST SEGDES (2 0 3) "
                    "CONST CHAR \"Az\" CONST BOOL () CONST FLOAT 1.5 CONST INT (1 2 3 4 5 6)") ==
        "( 1 ) [ 5 ] [ ] [ 2 0 3 ] ( 65 122 ) ( ) ( 1.50000000000000e+00 ) ( 1 2 3 4 5 6 )");
}

TEST_CASE("integers beyond 32 bits", "[machine]") {
  const std::string body = "CONST INT (1 2147483648)";
  CHECK(final_stack(body, {.widths = {8, 8}}) == "( 1 2147483648 )");
  CHECK(final_stack(body) ==
        "test.vcode:2:14: error: 2147483648 does not fit a 32-bit INT [V0105]\n"
        "    2 | CONST INT (1 2147483648)\n"
        "      |              ^^^^^^^^^^\n"
        "help: run with --int=64\n");
}

TEST_CASE("pairs keep their components intact", "[machine]") {
  CHECK(final_stack("CONST INT (1 2 3) CONST BOOL T PAIR COPY 1 0 UNPAIR POP 2 0 UNPAIR") ==
        "( 1 2 3 ) ( T )");
  CHECK(final_stack("CONST INT 1 CONST FLOAT 2.0 PAIR CONST BOOL T PAIR") == "pair(Pair,Bool) ");
}

TEST_CASE("a million nested pairs come apart without deep recursion", "[machine]") {
  const Ran ran = run_program(
      "FUNC MAIN CONST INT 0 CONST INT 0 CALL NEST POP 1 0 POP 1 0 RET\n"
      "FUNC NEST COPY 1 0 CONST INT 1000000 < INT IF\n"
      "CONST INT 1 + INT CPOP 1 1 CONST BOOL T PAIR CPOP 1 1 CALL NEST ENDIF RET\n");
  CHECK(ran.outcome == Outcome::Returned);
}

TEST_CASE("ten million nested calls", "[machine]") {
  const std::string program =
      "FUNC MAIN CONST INT 10000000 CALL DOWN RET\n"
      "FUNC DOWN COPY 1 0 CONST INT 0 > INT IF CONST INT 1 - INT CALL DOWN ENDIF RET\n";
  CHECK(run_program(program).stack == "( 0 )\n");
}

TEST_CASE("longer elementwise operands", "[machine]") {
  const std::string body = "CONST INT (1 2) CONST INT (3 4 5) + INT";
  CHECK(final_stack(body) == "( 4 6 )");
  RunOptions strict;
  strict.machine.strict = true;
  CHECK(final_stack(body, strict).find("V0503") != std::string::npos);
  CHECK(final_stack("CONST FLOAT (1.0) LENGTH INT") == "( 1 )");
  CHECK(final_stack("CONST FLOAT (1.0) LENGTH INT", strict).find("V0502") != std::string::npos);
}

TEST_CASE("timer and seed", "[machine]") {
  CHECK(final_stack("STOP_TIMER") == "( 0.00000000000000e+00 )");
  CHECK(final_stack("START_TIMER STOP_TIMER STOP_TIMER <= FLOAT") == "( T )");
  CHECK(final_stack("CONST INT 100 SRAND INT") == "( T )");
}

class Recorder final : public vinterp::Observer {
 public:
  void before(const vinterp::Step& step) override {
    log += fmt::format("<{}", step.op->text);
    operands += step.operand_count;
  }
  void after(const vinterp::Step& step, double seconds) override {
    log += fmt::format(":{}:{}>", step.elements, step.stack.size());
    CHECK(seconds >= 0);
  }
  void enter_function(std::uint32_t function, std::uint32_t) override {
    log += fmt::format("[{}", function);
  }
  void leave_function(std::uint32_t function) override { log += fmt::format("{}]", function); }

  std::string log;
  int operands = 0;
};

TEST_CASE("observers see every step", "[machine]") {
  Recorder recorder;
  RunOptions options;
  options.observers = {&recorder};
  const Ran ran =
      run_program("FUNC A CONST INT (1 2 3) COPY 1 0 CALL B RET FUNC B + INT RET", options);
  CHECK(ran.stack == "( 2 4 6 )\n");
  CHECK(recorder.log == "[0<CONST:0:1><COPY:0:2><CALL[1:0:2><+:3:1><RET1]:0:1><RET0]");
  CHECK(recorder.operands == 2);
}

TEST_CASE("a pending signal ends the run", "[machine]") {
  for (const char* const endless : {"FUNC A CALL A RET", "FUNC A CALL A CONST INT 1 RET"}) {
    vinterp::pending_signal = SIGINT;
    const Ran ran = run_program(endless);
    vinterp::pending_signal = 0;
    CHECK(ran.outcome == Outcome::Interrupted);
  }
}

TEST_CASE("a function that ends with a call of itself needs no stack for it", "[machine]") {
  RunOptions options;
  options.machine.max_depth = 2;
  // Behind the call there is nothing, or the other branch, also of conditionals around it.
  const std::string count = "FUNC A CONST INT 100000 CALL DOWN RET FUNC DOWN COPY 1 0 CONST INT 0 ";
  const std::string next = "CONST INT 1 - INT CALL DOWN ";
  CHECK(run_program(count + "= INT IF ELSE " + next + "ENDIF RET", options).stack == "( 0 )\n");
  CHECK(run_program(count + "> INT IF " + next + "ELSE ENDIF RET", options).stack == "( 0 )\n");
  CHECK(run_program(count + "> INT IF CONST BOOL T IF " + next +
                        "ELSE CONST INT 1 + INT ENDIF ELSE ENDIF RET",
                    options)
            .stack == "( 0 )\n");
  CHECK(run_program(count + "> INT IF " + next + "ELSE ENDIF CONST INT 1 + INT RET", options)
            .outcome == Outcome::Failed);
  // Observers see calls side by side.
  Recorder recorder;
  options.observers = {&recorder};
  run_program(
      "FUNC A CONST INT 1 CALL B RET FUNC B COPY 1 0 CONST INT 0 = INT IF ELSE CONST INT 1 "
      "- INT CALL B ENDIF RET",
      options);
  std::string calls;
  for (const char c : recorder.log) {
    if (c == '[' || c == ']') calls += c;
  }
  CHECK(calls == "[[][]]");
}

TEST_CASE("machines are independent", "[machine]") {
  CHECK(final_stack("CONST INT 1") == "( 1 )");
  CHECK(final_stack("CONST INT 2") == "( 2 )");
}

}  // namespace
