// RUN: kernels of the library and their SPECs, operands, failures, and what observers see.
#include <string>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "machine/profile.hpp"
#include "machine/statistics.hpp"
#include "vcode/error_codes.hpp"
#include "vinterp/machine_support.hpp"
#include "vinterp/observed_program.hpp"

namespace {

using testing::contains;
using vinterp_test::Ran;
using vinterp_test::run_program;
using vinterp_test::RunOptions;

const std::string kNegate =
    "FCODE 3\n"
    "KERNEL negate\n"
    "IN a : VEC INT n OUT y : VEC INT n\n"
    "DO y = MAP n ( i => (- INT 0 a[i]) )\n"
    "SPEC CONST INT 0 COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT CPOP 1 1 - INT\n"
    "END\n";

const std::string kCheck =
    "FCODE 3\n"
    "KERNEL positive\n"
    "IN a : VEC INT n OUT y : VEC INT n\n"
    "DO ASSERT n ( i => (> INT a[i] 0) ) \"not positive\"\n"
    "  y = MAP n ( i => a[i] )\n"
    "END\n";

Ran without_kernels(const std::string& text) {
  RunOptions options;
  options.machine.kernels = vinterp::KernelUse::Never;
  return run_program(text, options);
}

TEST_CASE("a kernel and its SPEC leave the same", "[kernel]") {
  const std::string program = kNegate +
                              "FUNC MAIN CONST BOOL T CONST INT (1 -2 3) CALL f RET\n"
                              "FUNC f RUN negate COPY 1 0 RUN negate RET\n";
  for (const Ran& ran : {run_program(program), without_kernels(program)}) {
    CHECK(ran.messages.empty());
    CHECK(ran.stack == "( T )\n( -1 2 -3 )\n( 1 -2 3 )\n");
  }
}

TEST_CASE("values that somebody else holds are not taken over", "[kernel]") {
  const Ran ran = run_program(kNegate +
                              "FUNC MAIN CONST INT 1 CONST INT 40 MAKE_SEGDES DIST INT\n"
                              "COPY 1 0 RUN negate LENGTH INT COPY 1 1 CONST INT 40 MAKE_SEGDES\n"
                              "+_REDUCE INT CPOP 1 1 CPOP 1 2 POP 1 0 RET\n");
  CHECK(ran.messages.empty());
  CHECK(ran.stack == "( 40 )\n( 40 )\n");
}

TEST_CASE("RUN checks its operands", "[kernel]") {
  const Ran few = run_program(kNegate + "FUNC MAIN RUN negate RET\n");
  CHECK(few.outcome == vinterp::Outcome::Failed);
  CHECK(contains(few.messages, "`RUN negate` needs 1 values, the stack has 0"));
  const Ran wrong = run_program(kNegate + "FUNC MAIN CONST FLOAT 1.0\nRUN negate RET\n");
  CHECK(wrong.outcome == vinterp::Outcome::Failed);
  CHECK(contains(wrong.messages, "`RUN negate` needs a INT as operand 0, found FLOAT"));
  CHECK(contains(wrong.messages, "test.vcode:8:1"));
}

TEST_CASE("lengths that a kernel names twice must agree", "[kernel]") {
  const Ran ran = run_program(
      "FCODE 3\nKERNEL add IN a : VEC INT n, b : VEC INT n OUT y : VEC INT n\n"
      "DO y = MAP n ( i => (+ INT a[i] b[i]) ) END\n"
      "FUNC MAIN CONST INT (1 2) CONST INT (1 2 3) RUN add RET\n");
  CHECK(ran.outcome == vinterp::Outcome::Failed);
  CHECK(contains(ran.messages, "[V0503]"));
}

TEST_CASE("where lengths do not fit the SPEC does what its operations do", "[kernel]") {
  const std::string cut =
      "FCODE 3\n"
      "KERNEL add\n"
      "IN a : VEC INT n, b : VEC INT n OUT y : VEC INT n\n"
      "DO y = MAP n ( i => (+ INT a[i] b[i]) )\n"
      "SPEC + INT\n"
      "END\n"
      "FUNC MAIN CONST INT (1 2) CONST INT (10 20 30) RUN add RET\n";
  const Ran ran = run_program(cut);
  CHECK(ran.messages.empty());
  CHECK(ran.stack == "( 11 22 )\n");
  const Ran failing = run_program(
      "FCODE 3\n"
      "KERNEL sum\n"
      "IN a : VEC INT 3, d : SEG s 3 OUT y : VEC INT s\n"
      "DO y = REDUCE d ( i => a[i] ) + INT\n"
      "SPEC +_REDUCE INT\n"
      "END\n"
      "FUNC MAIN CONST INT (1 2 3) CONST SEGDES (1 1) RUN sum RET\n");
  CHECK(contains(failing.messages, "lengths do not fit in `+_REDUCE INT`"));
}

TEST_CASE("an assertion stops the program with its message", "[kernel]") {
  const Ran fine = run_program(kCheck + "FUNC MAIN CONST INT (1 2) RUN positive RET\n");
  CHECK(fine.stack == "( 1 2 )\n");
  const Ran ran = run_program(kCheck + "FUNC MAIN CONST INT (1 0 2)\nRUN positive RET\n");
  CHECK(ran.outcome == vinterp::Outcome::Failed);
  CHECK(contains(ran.messages, "not positive"));
  CHECK(contains(ran.messages, "[V0512]"));
  CHECK(contains(ran.messages, "in the kernel `positive`, defined in line 2"));
  CHECK(contains(ran.messages, "test.vcode:8:1"));
}

TEST_CASE("an assertion with EXIT ends the program as its SPEC does", "[kernel]") {
  const std::string program =
      "FCODE 3\n"
      "KERNEL check IN ok : VEC BOOL n OUT\n"
      "DO ASSERT n ( i => ok[i] ) \"not positive\" EXIT\n"
      "SPEC IF ELSE CONST CHAR \"not positive\" WRITE CHAR EXIT ENDIF\n"
      "END\n"
      "FUNC MAIN CONST BOOL F RUN check RET\n";
  for (const auto kernels : {vinterp::KernelUse::Always, vinterp::KernelUse::Never}) {
    RunOptions options;
    options.machine.kernels = kernels;
    const Ran ran = run_program(program, options);
    CHECK(ran.outcome == vinterp::Outcome::Exited);
    CHECK(ran.written == "not positive");
    CHECK(ran.messages.empty());
  }
}

TEST_CASE("a kernel without SPEC needs the library", "[kernel]") {
  const Ran ran = without_kernels(kCheck + "FUNC MAIN CONST INT 1 RUN positive RET\n");
  CHECK(ran.outcome == vinterp::Outcome::Failed);
  CHECK(contains(ran.messages, "[V0703]"));
}

TEST_CASE("columns that are gathered by one index may be of any form and length", "[kernel]") {
  const std::string gather =
      "FCODE 3\nKERNEL columns\n"
      "IN p : VEC INT n, a : VEC INT m, b : VEC INT m, c : VEC INT m, d : VEC INT k\n"
      "OUT w : VEC INT n, x : VEC INT n, y : VEC INT n, z : VEC INT n\n"
      "DO w = MAP n ( i => a[p[i]] ) x = MAP n ( i => b[p[i]] )\n"
      "  y = MAP n ( i => c[p[i]] ) z = MAP n ( i => d[p[i]] )\nEND\n";
  // a and c lie in memory, b is one number everywhere, d is longer.
  const auto program = [&](const std::string& last) {
    return gather +
           "FUNC SQUARES MAKE_SEGDES CONST INT 0 CONST INT 1 CPOP 1 2 INDEX COPY 1 0 * INT RET\n"
           "FUNC MAIN CONST INT (0 99 7 " +
           last +
           ") CONST INT 100 CALL SQUARES\n"
           "CONST INT 5 CONST INT 100 MAKE_SEGDES DIST INT CONST INT 100 CALL SQUARES\n"
           "CONST INT 1000 CALL SQUARES RUN columns RET\n";
  };
  const Ran ran = run_program(program("3"));
  CHECK(ran.messages.empty());
  const std::string squares = "( 0 9801 49 9 )\n";
  CHECK(ran.stack == squares + "( 5 5 5 5 )\n" + squares + squares);
  CHECK(contains(run_program(program("100")).messages, "100"));
}

TEST_CASE("a failure inside a SPEC names the way to it", "[kernel]") {
  const Ran ran = without_kernels(
      "FCODE 3\nKERNEL half IN a : VEC INT n, b : VEC INT n OUT y : VEC INT n\n"
      "DO y = MAP n ( i => (/ INT a[i] b[i]) ) SPEC / INT END\n"
      "FUNC MAIN CONST INT 1 CONST INT 0\nRUN half RET\n");
  CHECK(ran.outcome == vinterp::Outcome::Failed);
  CHECK(contains(ran.messages, "in `KERNEL half`"));
  CHECK(contains(ran.messages, "called from `MAIN`, line 5"));
}

TEST_CASE("kernel runs are counted, SPECs by their instructions", "[kernel]") {
  const std::string program = kNegate + "FUNC MAIN CONST INT (1 2) RUN negate RUN negate RET\n";
  const auto report = [&](vinterp::KernelUse kernels) {
    vinterp::Statistics statistics(vinterp_test::linked(program));
    RunOptions options;
    options.machine.kernels = kernels;
    options.observers = {&statistics};
    CHECK(run_program(program, options).stack == "( 1 2 )\n");
    return statistics.report({}, {}, 1.0);
  };
  const std::string with = report(vinterp::KernelUse::Always);
  CHECK(contains(with, "vector operations         0\n"));
  CHECK(contains(with, "kernel runs               2\n  passes                  2\n"));
  CHECK(contains(with, "launches                  2\n"));
  const std::string without = report(vinterp::KernelUse::Never);
  CHECK(contains(without, "vector operations         8\n"));
  CHECK(contains(without, "kernel runs               0\n"));
}

/// What a report says of kernel runs, with kernels that have to pay.
std::string runs_that_pay(const std::string& program, const std::string& stack) {
  vinterp::Statistics statistics(vinterp_test::linked(program));
  RunOptions options;
  options.machine.kernels = vinterp::KernelUse::WhenItPays;
  options.observers = {&statistics};
  CHECK(run_program(program, options).stack == stack);
  const std::string report = statistics.report({}, {}, 1.0);
  const std::size_t at = report.find("kernel runs");
  return report.substr(at, report.find('\n', at) - at);
}

TEST_CASE("a kernel begins as its SPEC", "[kernel]") {
  const auto program = [](const std::string& length, int runs) {
    std::string text = kNegate + "FUNC MAIN CONST INT 1 CONST INT " + length;
    text += " MAKE_SEGDES DIST INT\n";
    for (int k = 0; k < runs; ++k) text += "RUN negate\n";
    return text + "CONST INT " + length + " MAKE_SEGDES +_REDUCE INT RET\n";
  };
  CHECK(runs_that_pay(program("120000", 8), "( 120000 )\n") == "kernel runs               0");
  CHECK(runs_that_pay(program("120000", 20), "( 120000 )\n") == "kernel runs               3");
  CHECK(runs_that_pay(program("280000", 2), "( 280000 )\n") == "kernel runs               2");
}

TEST_CASE("a kernel pays the sooner the more operations it replaces", "[kernel]") {
  const auto program = [](int operations, int runs) {
    std::string value = "a[i]", spec;
    for (int k = 0; k < operations; ++k) {
      value = "(- INT 1 " + value + ")";
      spec += " CONST INT 1 COPY 1 1 LENGTH INT MAKE_SEGDES DIST INT CPOP 1 1 - INT";
    }
    std::string text =
        "FCODE 3\nKERNEL turn\nIN a : VEC INT n OUT y : VEC INT n\nDO y = MAP n ( i => " + value +
        " )\nSPEC" + spec + "\nEND\nFUNC MAIN CONST INT 1 CONST INT 10000 MAKE_SEGDES DIST INT\n";
    for (int k = 0; k < runs; ++k) text += "RUN turn\n";
    return text + "CONST INT 10000 MAKE_SEGDES +_REDUCE INT RET\n";
  };
  CHECK(runs_that_pay(program(2, 20), "( 10000 )\n") == "kernel runs               0");
  CHECK(runs_that_pay(program(20, 20), "( 10000 )\n") == "kernel runs               10");
}

TEST_CASE("lengths that a kernel computes count from the start", "[kernel]") {
  const std::string count =
      "FCODE 3\n"
      "KERNEL count\n"
      "IN a : VEC INT 1 OUT y : VEC INT 1\n"
      "DO SIZE n = a[0]\n"
      "  y = REDUCE n ( i => 1 ) + INT\n"
      "SPEC COPY 1 0 CONST INT 1 CPOP 1 1 MAKE_SEGDES DIST INT CPOP 1 1 MAKE_SEGDES +_REDUCE INT\n"
      "END\n";
  const auto program = [&](const std::string& length) {
    return count + "FUNC MAIN CONST INT " + length + " RUN count RET\n";
  };
  CHECK(runs_that_pay(program("1000"), "( 1000 )\n") == "kernel runs               0");
  CHECK(runs_that_pay(program("300000"), "( 300000 )\n") == "kernel runs               1");
}

TEST_CASE("lengths that a kernel computes of elements count, those that it cannot read do not wait",
          "[kernel]") {
  const auto program = [](const std::string& length, const std::string& at) {
    return "FCODE 3\nKERNEL count\nIN a : VEC INT 3, at : VEC INT 1 OUT y : VEC INT 1\n"
           "DO SIZE m = (+ INT (- INT a[2] a[0]) a[at[0]]) SIZE n = " +
           length +
           "\n  y = REDUCE n ( i => 1 ) + INT\nSPEC POP 2 0 CONST INT 7 END\n"
           "FUNC MAIN CONST INT (3 2 300001) CONST INT " +
           at + " RUN count RET\n";
  };
  CHECK(runs_that_pay(program("(- INT m 299000)", "1"), "( 7 )\n") ==
        "kernel runs               0");
  CHECK(runs_that_pay(program("m", "1"), "( 300000 )\n") == "kernel runs               1");
  CHECK(runs_that_pay(program("(% m 7)", "1"), "( 1 )\n") == "kernel runs               1");
}

TEST_CASE("lengths that a kernel makes of nothing but constants count, too", "[kernel]") {
  const auto count = [](const std::string& length, const std::string& in_spec) {
    return "FCODE 3\nKERNEL count\nIN OUT y : VEC INT 1\nDO SIZE n = " + length +
           "\n  y = REDUCE n ( i => 1 ) + INT\nSPEC CONST INT 1 " + in_spec +
           " MAKE_SEGDES DIST INT COPY 1 0 LENGTH INT MAKE_SEGDES +_REDUCE INT\nEND\n"
           "FUNC MAIN RUN count RET\n";
  };
  CHECK(runs_that_pay(count("(* INT 400 750)", "CONST INT 400 CONST INT 750 * INT"),
                      "( 300000 )\n") == "kernel runs               1");
  CHECK(runs_that_pay(count("(FLOOR (* FLOAT 400.0 750.0))",
                            "CONST FLOAT 400.0 CONST FLOAT 750.0 * FLOAT FLOOR"),
                      "( 300000 )\n") == "kernel runs               1");
}

TEST_CASE("all pairs of a vector's elements count from the start", "[kernel]") {
  const std::string square =
      "SPEC LENGTH INT COPY 1 0 * INT CONST INT 1 COPY 1 1 MAKE_SEGDES DIST INT CPOP 1 1 "
      "MAKE_SEGDES +_REDUCE INT END\n";
  const std::string segments =
      "SPEC LENGTH INT COPY 1 0 COPY 1 0 MAKE_SEGDES DIST INT MAKE_SEGDES CONST INT 1 COPY 1 2 "
      "COPY 1 0 * INT MAKE_SEGDES DIST INT CPOP 1 1 +_REDUCE INT COPY 1 0 LENGTH INT MAKE_SEGDES "
      "+_REDUCE INT CPOP 1 1 POP 1 0 END\n";
  const auto head = [](const std::string& bindings) {
    return "FCODE 3\nKERNEL pairs IN a : VEC INT n OUT y : VEC INT 1\nDO " + bindings;
  };
  // What SEGMENTS will have in all is not known before it has run: such a kernel pays at once.
  for (const auto& [kernel, runs_of_few] : {
           std::pair(head("SIZE t = (* INT n n) y = REDUCE t ( i => 1 ) + INT\n") + square, "0"),
           std::pair(
               head("SIZE m = n SIZE t = (* INT m m) y = REDUCE t ( i => 1 ) + INT\n") + square,
               "0"),
           std::pair(head("d = SEGMENTS n ( j => n ) r = REDUCE d ( i => 1 ) + INT "
                          "y = REDUCE n ( j => r[j] ) + INT\n") +
                         segments,
                     "1"),
       }) {
    const auto program = [&, &kernel = kernel](const std::string& length) {
      return kernel + "FUNC MAIN CONST INT 1 CONST INT " + length +
             " MAKE_SEGDES DIST INT RUN pairs RET\n";
    };
    CAPTURE(kernel);
    CHECK(runs_that_pay(program("300"), "( 90000 )\n") ==
          std::string("kernel runs               ") + runs_of_few);
    CHECK(runs_that_pay(program("600"), "( 360000 )\n") == "kernel runs               1");
  }
}

TEST_CASE("random numbers go on where the SPEC ended", "[kernel]") {
  const std::string program =
      "FCODE 3\n"
      "KERNEL draw\n"
      "IN a : VEC INT n OUT y : VEC INT n\n"
      "DO y = RAND n ( i => a[i] )\n"
      "SPEC RAND\n"
      "END\n"
      "FUNC MAIN CONST INT 1000 CONST INT 240000 MAKE_SEGDES DIST INT COPY 1 0 RUN draw\n"
      "COPY 1 1 RUN draw COPY 1 2 RUN draw COPY 1 3 RUN draw COPY 1 4 RUN draw\n"
      "CONST INT 240000 MAKE_SEGDES +_SCAN INT POP 1 0 RET\n";
  RunOptions options;
  std::string results[3];
  for (const auto kernels :
       {vinterp::KernelUse::Never, vinterp::KernelUse::WhenItPays, vinterp::KernelUse::Always}) {
    options.machine.kernels = kernels;
    results[static_cast<int>(kernels)] = run_program(program, options).stack;
  }
  CHECK(results[0].size() > 100000);
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

}  // namespace
