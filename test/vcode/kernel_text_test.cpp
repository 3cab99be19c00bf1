// FCODE 3 as text: parsing, printing, and what is refused.
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "support.hpp"
#include "vcode/kernel_verifier.hpp"
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

/// Do quotients of numbers of all kinds have the bits of the products?
template <class F>
bool multiplies_exactly(double divisor, double factor) {
  using Limits = std::numeric_limits<F>;
  for (const F x : {F(1), F(-3), F(0.1), F(-0.0), Limits::max(), Limits::lowest(), Limits::min(),
                    Limits::denorm_min(), 3 * Limits::denorm_min(), -Limits::infinity()}) {
    const F quotient = x / static_cast<F>(divisor);
    const F product = x * static_cast<F>(factor);
    if (quotient != product || std::signbit(quotient) != std::signbit(product)) return false;
  }
  return true;
}

TEST_CASE("powers of two have reciprocals by which to multiply instead") {
  const auto reciprocal = [](double divisor) -> std::optional<double> {
    ThunkNode node;
    node.type = Type::Float;
    node.float_value = divisor;
    const std::optional<ThunkNode> factor = exact_reciprocal(node);
    if (!factor) return std::nullopt;
    return factor->float_value;
  };
  for (int exponent = -130; exponent <= 130; ++exponent) {
    CAPTURE(exponent);
    const double power = std::ldexp(1.0, exponent);
    const std::optional<double> factor = reciprocal(power);
    REQUIRE(factor.has_value() == (std::abs(exponent) <= 126));
    if (!factor) continue;
    CHECK(reciprocal(-power) == -*factor);
    CHECK(multiplies_exactly<double>(power, *factor));
    CHECK(multiplies_exactly<float>(power, *factor));
  }
  for (const double other : {0.0, 3.0, 0.1, 1.0 / 0.0, std::nan("")}) CHECK(!reciprocal(other));
  CHECK(!exact_reciprocal(ThunkNode{}));  // an INT
}

/// A file with one kernel over a, b : VEC INT n, x : VEC FLOAT n, d : SEG s n.
std::string with_bindings(const std::string& outputs, const std::string& bindings) {
  return "FCODE 3\nKERNEL k\n"
         "IN a : VEC INT n, b : VEC INT n, x : VEC FLOAT n, d : SEG s n\nOUT " +
         outputs + "\nDO\n" + bindings + "\nEND\nFUNC MAIN RET\n";
}

Outcome bindings(const std::string& outputs, const std::string& text) {
  return parse_text(with_bindings(outputs, text));
}

ErrorCode only_error(const Outcome& outcome) {
  INFO(outcome.messages());
  REQUIRE(outcome.diagnostics.all().size() == 1);
  return outcome.diagnostics.all()[0].code;
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
  CHECK(count >= 3);
}

TEST_CASE("both forms of LET become shared nodes and are printed as one", "[kernel]") {
  const char* const kBound =
      "y, z = MAP n ( i => LET t = (* INT a[i] a[i]) (+ INT t 1), (- INT t b[i]) )";
  const Outcome outcome = bindings("y : VEC INT n, z : VEC INT n", kBound);
  REQUIRE(outcome.program);
  const Thunk& thunk = outcome.program->kernels[0].bindings[0].elements;
  CHECK(thunk.nodes[thunk.results[0]].args[0] == thunk.nodes[thunk.results[1]].args[0]);
  check_round_trip(*outcome.program);
  CHECK(print(*outcome.program)
            .find("( i => LET t0 = (* INT a[i] a[i]) (+ INT t0 1), (- INT t0 b[i"
                  "]) )") != std::string::npos);

  const Outcome nested =
      bindings("y : VEC INT n", "y = MAP n ( i => (LET t (+ INT a[i] 1) (LET u t (* INT t u))) )");
  const Outcome flat =
      bindings("y : VEC INT n", "y = MAP n ( i => LET t = (+ INT a[i] 1) (* INT t t) )");
  REQUIRE(nested.program);
  REQUIRE(flat.program);
  CHECK(same_program(*nested.program, *flat.program));
  const Outcome apart =
      bindings("y : VEC INT n", "y = MAP n ( i => (* INT (+ INT a[i] 1) (+ INT a[i] 1)) )");
  REQUIRE(apart.program);
  CHECK_FALSE(same_program(*apart.program, *flat.program));
}

TEST_CASE("all bindings, literals and directives survive printing", "[kernel]") {
  const Outcome outcome = parse_text(
      "FCODE 3 WIDTH INT 64 WIDTH FLOAT 32\n"
      "KERNEL one IN a : VEC INT n , d : SEG s n OUT y : VEC FLOAT 1\n"
      "DO SIZE m = (+ INT n s) ASSERT 3 ( i => (< INT i m) ) \"text (with) [marks], {}\"\n"
      "  u = RAND d ( i => (+ INT a[i] (SEGNO d i)) )\n"
      "  r , q = REDUCE d ( i => u[i] , T ) MAX INT , XOR BOOL\n"
      "  y = ONCE (SELECT FLOAT F -2.5e-300 (IF (= INT r[0] -9000000000) 1.0e400 0.1))\n"
      "END\n"
      "KERNEL two IN a : VEC INT n, i : SEG s n OUT y : VEC INT n, u : SEG s t, k : VEC INT z,\n"
      "  kd : SEG s z\n"
      "DO y = SCATTER i ( j => a[j] ) ( j => (SEGOFF i j) ) WHEN ( j => T ) INTO i ( j => (NSEG i) "
      ")\n"
      "  u = SEGMENTS s ( j => (SEGLEN i j) ) k , kd = SPLIT 1 i ( j => 0 ) ( j => 0 )\n"
      "SPEC CONST INT 1 IF EXIT ELSE EXIT ENDIF END\n"
      "FUNC KERNEL RUN two CALL RUN RET FUNC RUN RET\n");
  INFO(outcome.messages());
  REQUIRE(outcome.program);
  CHECK(outcome.program->fcode->int_width == 64);
  CHECK(outcome.program->fcode->float_width == 32);
  check_round_trip(*outcome.program);
}

TEST_CASE("long thunks are broken into lines, deep ones too", "[kernel]") {
  constexpr int kDepth = 50'000;
  std::string deep;
  for (int k = 0; k < kDepth; ++k) deep += "(+ INT 1 ";
  deep += "a[i]" + std::string(kDepth, ')');
  const Outcome outcome = bindings("y : VEC INT n", "y = MAP n ( i => " + deep + " )");
  REQUIRE(outcome.program);
  const std::string text = print(*outcome.program);
  CHECK(text.size() < 8'000'000);
  const Outcome again = parse_text(text);
  REQUIRE(again.program);
  CHECK(same_program(*outcome.program, *again.program));
}

TEST_CASE("the words of FCODE are reserved inside kernels only", "[kernel]") {
  CHECK(parse_text("FUNC MAIN CALL RUN RET FUNC RUN CALL KERNEL RET FUNC KERNEL RET").program);
  const Outcome run = parse_text("FUNC MAIN RUN k RET");
  CHECK_FALSE(run.program);
  CHECK(run.messages().find("its files begin with `FCODE 3`") != std::string::npos);
  CHECK_FALSE(parse_text("KERNEL k IN OUT DO END FUNC MAIN RET").program);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( MAP => 1 )")) == ErrorCode::Syntax);
  // Outside kernels brackets are passed over, as in VCODE.
  CHECK(parse_text("FCODE 3 FUNC MAIN [ , : ] RET").program);
}

TEST_CASE("names", "[kernel]") {
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => c[i] )")) == ErrorCode::KernelName);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( a => 1 )")) == ErrorCode::KernelName);
  CHECK(only_error(bindings("y : VEC INT n", "y, y = MAP n ( i => 1, 2 )")) ==
        ErrorCode::KernelName);
  CHECK(only_error(bindings("y : VEC INT n", "a = MAP n ( i => 1 )")) == ErrorCode::KernelName);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => LET i = 1 i )")) ==
        ErrorCode::KernelName);
  CHECK(only_error(bindings("y : VEC INT n, z : VEC INT n",
                            "y = MAP n ( i => z[i] )\nz = MAP n ( i => 1 )")) ==
        ErrorCode::KernelName);
  CHECK(only_error(bindings("y : VEC INT n", "z = MAP n ( i => 1 )")) == ErrorCode::KernelResult);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP s ( i => 1 )")) == ErrorCode::KernelSpace);
  CHECK(only_error(bindings("y : VEC INT q", "y = MAP q ( i => 1 )")) == ErrorCode::KernelSpace);
}

TEST_CASE("types", "[kernel]") {
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => x[i] )")) == ErrorCode::KernelType);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => (IF 1 2 3) )")) ==
        ErrorCode::KernelType);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => (IF T 2 3.0) )")) ==
        ErrorCode::KernelType);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => a[x[i]] )")) ==
        ErrorCode::KernelType);
  CHECK(only_error(bindings("y : VEC INT s", "y = REDUCE d ( i => a[i] ) + FLOAT")) ==
        ErrorCode::KernelType);
  CHECK(only_error(bindings("", "ASSERT n ( i => a[i] ) \"\"")) == ErrorCode::KernelType);
  CHECK(only_error(bindings("y : VEC INT n", "y = MAP n ( i => (+ BOOL T T) )")) ==
        ErrorCode::Syntax);
  CHECK(only_error(bindings("y : VEC INT 1", "y = REDUCE n ( i => a[i] ) + INT, + INT")) ==
        ErrorCode::KernelResult);
  CHECK(only_error(bindings("y : VEC INT n", "y = FILTER n ( i => 1 ) ( i => T )")) ==
        ErrorCode::KernelResult);
}

TEST_CASE("what one kernel may read of itself", "[kernel]") {
  const std::string sum = "t = REDUCE d ( i => a[i] ) + INT\n";
  CHECK(bindings("y : VEC INT s", sum + "y = MAP s ( k => t[k] )").program);
  CHECK(bindings("y : VEC INT 1", "t = REDUCE n ( i => a[i] ) + INT y = ONCE t[0]").program);
  CHECK(only_error(bindings("y : VEC INT n", sum + "y = MAP n ( i => t[(SEGNO d i)] )")) ==
        ErrorCode::KernelSubscript);
  CHECK(only_error(bindings("y : VEC INT n",
                            "t, e = FILTER n ( i => 1 ) ( i => T )\ny = MAP n ( i => t[i] )")) ==
        ErrorCode::KernelSubscript);
  CHECK(only_error(bindings("y : VEC INT s", "m = MAP n ( i => 1 )\ny = MAP s ( i => m[i] )")) ==
        ErrorCode::KernelSubscript);
  CHECK(only_error(bindings("y : VEC INT n",
                            "t, e = FILTER d ( i => 1 ) ( i => T )\ny = MAP n ( i => (SEGNO e i) "
                            ")")) == ErrorCode::KernelSubscript);
  CHECK(only_error(
            bindings("y : VEC INT 1",
                     "t, e = FILTER d ( i => 1 ) ( i => T )\ny = REDUCE e ( i => 1 ) + INT")) ==
        ErrorCode::KernelSpace);
}

TEST_CASE("random numbers", "[kernel]") {
  const Outcome outcome = bindings(
      "y : VEC INT 1", "r = RAND n ( i => (+ INT a[i] 1) )\ny = REDUCE d ( i => r[i] ) + INT\n");
  CHECK_FALSE(outcome.program);  // y has an element for each segment
  const Outcome read = bindings("r : VEC INT n, y : VEC INT s",
                                "r = RAND n ( i => 6 )\ny = REDUCE d ( i => r[i] ) + INT");
  REQUIRE(read.program);
  check_round_trip(*read.program);
  CHECK(print(*read.program).find("  r = RAND n ( i => 6 )\n") != std::string::npos);
  CHECK_FALSE(is_pure(read.program->kernels[0]));
  CHECK(is_pure(bindings("y : VEC INT n", "y = MAP n ( i => 1 )").program->kernels[0]));
  CHECK(only_error(bindings("r : VEC FLOAT n", "r = RAND n ( i => x[i] )")) ==
        ErrorCode::KernelType);
  CHECK(only_error(bindings("r : VEC INT n, q : VEC INT n", "r, q = RAND n ( i => 1, 2 )")) ==
        ErrorCode::KernelResult);
  CHECK(
      only_error(bindings("y : VEC INT n", "r = RAND n ( i => 9 )\ny = MAP n ( i => r[r[i]] )")) ==
      ErrorCode::KernelSubscript);
  CHECK(only_error(bindings("y : VEC INT s", "r = RAND n ( i => 9 )\ny = MAP s ( i => r[i] )")) ==
        ErrorCode::KernelSubscript);
  CHECK(only_error(bindings("RAND : VEC INT n", "RAND = MAP n ( i => 1 )")) == ErrorCode::Syntax);
}

TEST_CASE("states that become others", "[kernel]") {
  const std::string outputs = "y : VEC INT n, z : VEC FLOAT n";
  const std::string begin = "y, z = ITERATE n ( i => a[i], x[i] )\n";
  const std::string rounds = "\n  ROUNDS 20";
  const auto iterate = [&](const std::string& condition, const std::string& next) {
    return bindings(outputs, begin + "  WHILE " + condition + "\n  DO " + next + rounds);
  };
  const std::string positive = "( j, k => (> INT j 0) )";
  const Outcome read =
      iterate(positive, "( j, k => LET u = (- INT j n) (+ INT u u), (+ FLOAT k 0.5) )");
  INFO(read.messages());
  REQUIRE(read.program);
  check_round_trip(*read.program);
  CHECK(is_pure(read.program->kernels[0]));
  CHECK(print(*read.program)
            .find("  y, z = ITERATE n ( i => a[i], x[i] )\n"
                  "    WHILE ( s0, s1 => (> INT s0 0) )\n") != std::string::npos);
  CHECK(iterate(positive, "( j, k => (/ INT 7 2), k )").program);
  CHECK(iterate(positive, "( j, k => LET t = (= INT n 0) (% j (IF t 1 n)), k )").program);
  CHECK(iterate(positive, "( j, k => (% j (IF (= INT j 0) 1 j)), k )").program);
  CHECK(iterate(positive, "( j, k => (% j (IF (> INT j 0) j 1)), k )").program);
  CHECK(iterate(positive, "( j, k => (% j (SELECT INT (> INT j 3) j -2)), k )").program);
  CHECK(bindings("w : VEC INT n", "y, z = ITERATE d ( i => a[i], x[i] ) WHILE " + positive +
                                      " DO ( j, k => j, k ) ROUNDS 0\nw = MAP n ( i => y[i] )")
            .program);

  CHECK(only_error(iterate("( j => (> INT j 0) )", "( j, k => j, k )")) == ErrorCode::Syntax);
  CHECK(only_error(iterate("( j, j => T )", "( j, k => j, k )")) == ErrorCode::KernelName);
  CHECK(only_error(iterate("( j, a => T )", "( j, k => j, k )")) == ErrorCode::KernelName);
  CHECK(only_error(iterate("( j, k => j )", "( j, k => j, k )")) == ErrorCode::KernelType);
  CHECK(only_error(iterate(positive, "( j, k => j )")) == ErrorCode::KernelResult);
  CHECK(only_error(iterate(positive, "( j, k => k, k )")) == ErrorCode::KernelType);
  CHECK(only_error(iterate(positive, "( j, k => a[j], k )")) == ErrorCode::KernelSubscript);
  const std::string guarded = "(IF (AND BOOL (>= INT j 0) (< INT j n)) ";
  CHECK(iterate(positive, "( j, k => " + guarded + "a[j] 7), k )").program);
  for (const char* part : {"(+ INT 1 a[j]) 7)", "a[(+ INT j 1)] 7)", "7 a[j])"}) {
    CHECK(only_error(iterate(positive, "( j, k => " + guarded + part + ", k )")) ==
          ErrorCode::KernelSubscript);
  }
  CHECK(
      iterate(positive, "( j, k => (IF (AND BOOL (>= INT 2 0) (< INT 2 n)) a[2] 7), k )").program);
  CHECK(only_error(iterate(positive,
                           "( j, k => (IF (AND BOOL (>= INT 2 0) (< INT 2 n)) a[1] 7), "
                           "k )")) == ErrorCode::KernelSubscript);
  for (const char* condition :
       {"(AND BOOL (>= INT j 0) (<= INT j n))", "(AND BOOL (>= INT j 0) (< INT j s))",
        "(AND BOOL (> INT j 0) (< INT j n))", "(OR BOOL (>= INT j 0) (< INT j n))",
        "(AND BOOL (>= INT j -1) (< INT j n))", "T"}) {
    CHECK(only_error(iterate(positive, std::string("( j, k => (IF ") + condition +
                                           " a[j] 7), k )")) == ErrorCode::KernelSubscript);
  }
  CHECK(only_error(iterate(positive, "( j, k => LET e = a[j] (+ INT e " + guarded +
                                         "e 7)), k )")) == ErrorCode::KernelSubscript);
  CHECK(only_error(iterate(positive, "( j, k => (SEGLEN d j), k )")) == ErrorCode::KernelSubscript);
  CHECK(only_error(iterate(positive, "( j, k => (NSEG d), k )")) == ErrorCode::KernelSubscript);
  for (const char* divisor :
       {"j", "0", "(IF (= INT j 0) 0 j)", "(IF (= INT j 1) 1 j)", "(IF (= INT 7 0) 1 s)",
        "(IF (> INT j 0) 1 s)", "(IF (> INT j 0) j 0)", "(IF (> INT j -1) j 1)",
        "(IF (> INT s 0) j 1)", "(+ INT 1 1)"}) {
    CHECK(only_error(iterate(positive, std::string("( j, k => (% 100 ") + divisor + "), k )")) ==
          ErrorCode::KernelSubscript);
  }
  const std::string once = "  WHILE ( j, k => T ) DO ( j, k => j, k )";
  CHECK(only_error(bindings(outputs, begin + once)) == ErrorCode::Syntax);
  CHECK(only_error(bindings(outputs, begin + once + " ROUNDS -1")) == ErrorCode::Syntax);
  CHECK(only_error(bindings(outputs, begin + once + " ROUNDS n")) == ErrorCode::Syntax);
  CHECK(only_error(
            bindings("w : VEC INT s", begin + once + " ROUNDS 1\n" + "w = MAP s ( i => y[i] )")) ==
        ErrorCode::KernelSubscript);
}

TEST_CASE("states with stacks", "[kernel]") {
  const auto iterate = [](const std::string& stack) {
    return bindings("y : VEC INT n, z : VEC FLOAT n",
                    "y, z = ITERATE n ( i => a[i], x[i] )\n  WHILE ( j, k => (> INT j 0) )\n"
                    "  DO ( j, k => (- INT j 1), k )\n  " +
                        stack + "\n  ROUNDS 20");
  };
  const std::string push = "PUSH ( j, k => (< FLOAT k 1.0), j, k ) ";
  const std::string pop = "POP ( j, k => (= INT j 3) ) ";
  const Outcome read = iterate(push + pop + "DEPTH 7");
  INFO(read.messages());
  REQUIRE(read.program);
  check_round_trip(*read.program);
  CHECK(iterate("PUSH ( j, k => T, 7 ) POP ( j, k => F ) DEPTH 0").program);
  const Outcome other = iterate(push + pop + "DEPTH 8");
  REQUIRE(other.program);
  CHECK_FALSE(same_program(*read.program, *other.program));

  for (const std::string& missing : {push + "DEPTH 7", pop + "DEPTH 7", push + pop,
                                     push + pop + "DEPTH -1", push + pop + "DEPTH n"}) {
    CHECK(only_error(iterate(missing)) == ErrorCode::Syntax);
  }
  const auto pushed = [&](const std::string& results) {
    return only_error(iterate("PUSH ( j, k => " + results + " ) " + pop + "DEPTH 7"));
  };
  CHECK(pushed("T") == ErrorCode::KernelResult);
  CHECK(pushed("T, j, k, j") == ErrorCode::KernelResult);
  CHECK(pushed("j, j") == ErrorCode::KernelType);
  CHECK(pushed("T, k") == ErrorCode::KernelType);
  CHECK(pushed("T, j, j") == ErrorCode::KernelType);
  CHECK(pushed("T, a[j]") == ErrorCode::KernelSubscript);
  CHECK(only_error(iterate(push + "POP ( j, k => j ) DEPTH 7")) == ErrorCode::KernelType);
  CHECK(only_error(iterate(push + "POP ( j, k => T, T ) DEPTH 7")) == ErrorCode::KernelResult);
}

TEST_CASE("rounds that write into tables", "[kernel]") {
  const auto iterate = [](const std::string& writes, const std::string& results = "y, z, t",
                          const std::string& outputs =
                              "y : VEC INT n, z : VEC FLOAT n, t : VEC INT n") {
    return bindings(outputs,
                    results +
                        " = ITERATE n ( i => a[i], x[i] )\n  WHILE ( j, k => (> INT j 0) )\n"
                        "  DO ( j, k => (- INT j 1), k )\n  " +
                        writes + "\n  ROUNDS 20");
  };
  const std::string read = "(IF (AND BOOL (>= INT j 0) (< INT j n)) a[j] 7)";
  const std::string write = "WRITE a ( j, k => (< FLOAT k 1.0), j, " + read + " ) ";
  const Outcome one = iterate(write);
  INFO(one.messages());
  REQUIRE(one.program);
  check_round_trip(*one.program);
  const Outcome two = iterate(write + write);
  REQUIRE(two.program);
  check_round_trip(*two.program);
  CHECK_FALSE(same_program(*one.program, *two.program));
  // One table for each operand, in the order of the first writes.
  const std::string other = "WRITE x ( j, k => T, 3, k ) ";
  const Outcome both = iterate(write + other + write, "y, z, t, u",
                               "y : VEC INT n, z : VEC FLOAT n, t : VEC INT n, u : VEC FLOAT n");
  REQUIRE(both.program);
  check_round_trip(*both.program);

  CHECK(only_error(iterate("WRITE ( j, k => T, j, j )")) == ErrorCode::Syntax);
  CHECK(only_error(iterate("WRITE unknown ( j, k => T, j, j )")) == ErrorCode::KernelName);
  CHECK(only_error(iterate("WRITE n ( j, k => T, j, j )")) == ErrorCode::KernelName);
  CHECK(only_error(iterate(write, "y, z", "y : VEC INT n, z : VEC FLOAT n")) ==
        ErrorCode::KernelResult);
  const auto written = [&](const std::string& results) {
    return only_error(iterate("WRITE a ( j, k => " + results + " )"));
  };
  CHECK(written("T, j") == ErrorCode::KernelResult);
  CHECK(written("j, j, j") == ErrorCode::KernelType);
  CHECK(written("T, k, j") == ErrorCode::KernelType);
  CHECK(written("T, j, k") == ErrorCode::KernelType);
  CHECK(written("T, j, a[j]") == ErrorCode::KernelSubscript);
  // A table is no operand, and what another binding makes is none.
  CHECK(
      only_error(bindings("y : VEC INT n, t : VEC INT n",
                          "w = MAP n ( i => i )\ny, t = ITERATE n ( i => i )\n"
                          "  WHILE ( j => F ) DO ( j => j ) WRITE w ( j => T, j, j ) ROUNDS 1")) ==
      ErrorCode::KernelSubscript);
}

TEST_CASE("integers of functions of a state fit in 32 bits, too", "[kernel]") {
  const Outcome wide = bindings(
      "y : VEC INT n",
      "y = ITERATE n ( i => a[i] ) WHILE ( j => (> INT j 0) ) DO ( j => 5000000000 ) ROUNDS 2");
  CHECK(only_error(wide) == ErrorCode::KernelWidth);
}

TEST_CASE("several faults of one kernel are reported in one run", "[kernel]") {
  const Outcome outcome = bindings("y : VEC INT n, z : VEC INT n",
                                   "y = MAP n ( i => q[i] )\n"
                                   "u = MAP n ( i => (& INT 1 2) )\n"
                                   "v = MAP n ( i => u[i] )\n"
                                   "z = MAPS n ( i => 1 )");
  INFO(outcome.messages());
  CHECK_FALSE(outcome.program);
  CHECK(outcome.diagnostics.error_count() == 3);
}

TEST_CASE("files of other versions", "[kernel]") {
  const auto refused = [](const std::string& head) {
    const Outcome outcome = parse_text(head + " NEEDS SCATTER KERNEL k STREAM AUTO\nFUNC MAIN RET");
    CHECK(only_error(outcome) == ErrorCode::FcodeVersion);
    return outcome.messages();
  };
  const std::string older = refused("FCODE 2");
  CHECK(older.find("FCODE 2; this program reads FCODE 3") != std::string::npos);
  CHECK(older.find("made by an older fcode-opt or nesl: make it again") != std::string::npos);
  for (const std::string& newer : {refused("FCODE 4"), refused("FCODE 99999999999999999999")}) {
    CHECK(newer.find("; this program reads FCODE 3") != std::string::npos);
    CHECK(newer.find("made by a newer fcode-opt") != std::string::npos);
  }
  const std::string missing = refused("FCODE");
  CHECK(missing.find("the version is missing") != std::string::npos);
  CHECK(missing.find("write `FCODE 3`") != std::string::npos);
}

TEST_CASE("SPECs must do what their kernels do", "[kernel]") {
  const auto spec = [](const std::string& code) {
    return verify_text(
        "FCODE 3 KERNEL k IN a : VEC INT n OUT y : VEC INT n, z : VEC FLOAT n\n"
        "DO y, z = MAP n ( i => a[i], (I_TO_F a[i]) )\nSPEC " +
        code + " END FUNC MAIN CONST INT 1 RUN k POP 1 0 RET");
  };
  CHECK(spec("COPY 1 0 I_TO_F").diagnostics.all().empty());
  CHECK(only_error(spec("COPY 1 0")) == ErrorCode::KernelSpec);
  CHECK(only_error(spec("I_TO_F")) == ErrorCode::KernelSpec);
  CHECK(only_error(spec("POP 2 0 CONST INT 1 CONST FLOAT 1.0")) == ErrorCode::KernelSpec);
  CHECK(only_error(spec("COPY 1 0 LOG")) == ErrorCode::KernelSpec);
  CHECK(only_error(spec("CALL MAIN")) == ErrorCode::KernelSpec);
  CHECK(only_error(spec("IF COPY 1 0")) == ErrorCode::UnbalancedIf);
}

TEST_CASE("RUN has the types of its kernel", "[kernel]") {
  const std::string kernel =
      "FCODE 3 KERNEL k IN a : VEC INT n, d : SEG s n OUT y : VEC FLOAT n\n"
      "DO y = MAP n ( i => (I_TO_F a[i]) ) END\n";
  const Outcome outcome = verify_text(kernel +
                                      "FUNC MAIN CONST INT 1 CALL f RET "
                                      "FUNC f COPY 1 0 MAKE_SEGDES RUN k RET");
  INFO(outcome.messages());
  REQUIRE(outcome.verification);
  CHECK(outcome.diagnostics.all().empty());
  CHECK(print(*outcome.verification, *outcome.linked) ==
        "MAIN ( -- FLOAT )\n"
        "f ( INT -- FLOAT )\n"
        "KERNEL k ( INT SEGDES -- FLOAT )  without SPEC\n");
  CHECK(only_error(verify_text(kernel + "FUNC MAIN CONST INT 1 CONST INT 1 RUN k RET")) ==
        ErrorCode::CertainTypeClash);
  CHECK(only_error(verify_text(kernel + "FUNC MAIN CONST INT 1 RUN k RET")) ==
        ErrorCode::CertainUnderflow);
  CHECK(only_error(verify_text(kernel + "FUNC MAIN RUN l RET")) == ErrorCode::UndefinedKernel);
}

// Words of FCODE in any order: every text is refused with an error or survives printing.
TEST_CASE("damaged FCODE programs", "[kernel]") {
  std::mt19937_64 random(1);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  std::size_t accepted = 0;
  for (const auto& path : fcode_programs()) {
    const std::string text = read_file(path);
    for (int k = 0; k < 400; ++k) {
      std::string damaged = text;
      for (std::size_t cuts = 1 + below(2); cuts > 0; --cuts) {
        const std::size_t at = below(damaged.size()), length = below(12);
        const std::string piece = damaged.substr(below(damaged.size()), below(12));
        damaged.replace(at, length, random() % 2 == 0 ? piece : std::string());
      }
      const Outcome outcome = verify_text(damaged);
      INFO(damaged << outcome.messages());
      REQUIRE((outcome.program.has_value() || outcome.diagnostics.has_errors()));
      if (!outcome.program) continue;
      ++accepted;
      const Outcome again = parse_text(print(*outcome.program));
      REQUIRE(again.program);
      REQUIRE(same_program(*outcome.program, *again.program));
    }
  }
  CHECK(accepted > 10);
}

TEST_CASE("kernels that a program makes are checked as well", "[kernel]") {
  const Outcome outcome = bindings("y : VEC FLOAT n", "y = MAP n ( i => (+ FLOAT x[i] 1.0) )");
  REQUIRE(outcome.program);
  const Kernel good = outcome.program->kernels[0];
  const auto faulty = [&](auto change) {
    Kernel kernel = good;
    change(kernel);
    Diagnostics diagnostics;
    const bool accepted = verify_kernel(kernel, diagnostics);
    CHECK(accepted != diagnostics.has_errors());
    return !accepted;
  };
  CHECK_FALSE(faulty([](Kernel&) {}));
  CHECK(faulty([](Kernel& k) { k.bindings[0].elements.results[0] = 99; }));
  CHECK(faulty([](Kernel& k) { k.bindings[0].elements.nodes.back().args[0] = 99; }));
  CHECK(faulty([](Kernel& k) { k.bindings[0].elements.nodes.back().type = Type::Int; }));
  CHECK(faulty([](Kernel& k) { k.bindings[0].arrays[0] = 99; }));
  CHECK(faulty([](Kernel& k) { k.bindings[0].space.id = 99; }));
  CHECK(faulty([](Kernel& k) { k.arrays[0].length = 99; }));
  CHECK(faulty([](Kernel& k) { k.arrays[1].name = k.arrays[0].name; }));
  CHECK(faulty([](Kernel& k) { k.arrays[1].name = "MAP"; }));
  CHECK(faulty([](Kernel& k) { k.arrays[1].name = "two words"; }));
  CHECK(faulty([](Kernel& k) {
    for (ThunkNode& node : k.bindings[0].elements.nodes) {
      if (node.kind == ThunkNode::Kind::Constant) node.float_value = 0.0 / 0.0;
    }
  }));
}

}  // namespace
}  // namespace vcode::testing
