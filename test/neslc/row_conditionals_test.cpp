// Conditionals between rows of the same length are computed element by element, and give the values
// and failures of those that compute each arm for the rows that take it.
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"
#include "occurrences.hpp"

namespace neslc::testing {
namespace {

using ::testing::occurrences;

class Rows : public BothLevels {
 public:
  /// How often rows are packed for arms, or what arms give is put together.
  std::size_t moves(const std::string& text) {
    const std::string code = optimized_.compiled(text);
    return occurrences(code, "FILTER") + occurrences(code, "SCATTER") + occurrences(code, "PACK");
  }
};

TEST_CASE("steps of elimination", "[rows]") {
  Rows rows;
  rows.define(
      "function jordan(m, k) = if k == #m then m else let p = m[k] in jordan("
      "{if i == k then {x / p[k] : x in r} else {x - r[k] / p[k] * y : x in r; y in p} "
      ": r in m; i in index(#m)}, k + 1)");
  CHECK(rows.check("jordan([[2.0, 1.0, 3.0], [4.0, 4.0, 10.0]], 0)") ==
        "[[1.0, 0.0, 0.5], [0.0, 1.0, 2.0]]");
  CHECK(rows.check("jordan([[0.0, 1.0], [1.0, 4.0]], 0)") == "division by zero");
  rows.define(
      "function lu(m, k) = if k == #m then m else let p = m[k] in lu("
      "{if i > k then {if j < k then x else if j == k then x / p[k] else x - r[k] / p[k] * y "
      ": x in r; y in p; j in index(#r)} else r : r in m; i in index(#m)}, k + 1)");
  CHECK(rows.check("lu([[2.0, 1.0], [4.0, 5.0]], 0)") == "[[2.0, 1.0], [2.0, 3.0]]");
  CHECK(rows.moves("let m = {{float(i + j * 2 + 1) : i in [0:rand(9)]} : j in [0:rand(9)]} "
                   "in lu(m, 0)") == 0);
}

TEST_CASE("arms of all kinds", "[rows]") {
  Rows rows;
  const std::string each = " : r in [[1, 2, 3], [] int, [4], [5, 6]]; c in [t, t, f, f]}";
  const std::string none = " : r in [] [int]; c in [] bool}";
  for (const std::string conditional : {
           "if c then r else {-x : x in r}",
           "if c then {x * x : x in r} else r",
           "if c then {x + j : x in r; j in index(#r)} else {x * j : j in [0:#r]; x in r}",
           "let k = 10 * #r in if c then let d = k + 1 in {x * d : x in r} else {x / k : x in r}",
           "if c then (if #r > 1 then {x + 1 : x in r} else r) else {x + 2 : x in r}",
           "if not(c) then {if x > 4 then x / (x - 4) else rem(x, 3) : x in r} else r",
           "let s = {x + 1 : x in r} in if c then {x * y : x in r; y in s} else s",
           "if c then {(x, float(x)) : x in r} else {(j, 0.5) : x in r; j in index(#r)}",
           "if c then {x > 1 : x in r} else {even : even in {evenp(x) : x in r}}",
           "if c then {code_char(96 + x) : x in r} else {`z : x in r}",
       }) {
    CAPTURE(conditional);
    CHECK(rows.check("{" + conditional + each).front() == '[');
    CHECK(rows.check("{" + conditional + none) == "[]");
  }
  CHECK(rows.check("{if c then {x * x : x in r} else r" + each) == "[[1, 4, 9], [], [4], [5, 6]]");
  CHECK(rows.moves(
            "{if c then {x * x : x in r} else {x + x : x in r} "
            ": r in {[0:i] : i in [0:rand(9)]}; c in {evenp(rand(2)) : i in [0:rand(9)]}}") == 0);
}

TEST_CASE("rows that stand beside others fail where their arm is taken", "[rows]") {
  Rows rows;
  const auto beside = [&](const std::string& p, const std::string& c) {
    return rows.check("let p = " + p +
                      " in {if c then {x + y : x in r; y in p} else {x - 1 : x in r} "
                      ": r in [[1, 2], [] int, [3]]; c in " +
                      c + "}");
  };
  CHECK(beside("[10, 20]", "[t, f, f]") == "[[11, 22], [], [2]]");
  CHECK(beside("[10, 20]", "[t, t, f]") ==
        "the sequences of this apply-to-each have different lengths");
  CHECK(beside("[10]", "[f, f, t]") == "[[0, 1], [], [13]]");
  CHECK(beside("[] int", "[f, t, f]") == "[[0, 1], [], [2]]");
  CHECK(beside("[] int", "[f, t, t]") ==
        "the sequences of this apply-to-each have different lengths");
  // Rows beside rows.
  const auto pairs = [&](const std::string& flags) {
    return rows.check(
        "{if c then {x * y : y in s; x in r} else r : r in [[1, 2], [3], [4, 5]]; "
        "s in [[7, 8], [9, 9], [] int]; c in " +
        flags + "}");
  };
  CHECK(pairs("[t, f, f]") == "[[7, 16], [3], [4, 5]]");
  CHECK(pairs("[f, t, f]") == "the sequences of this apply-to-each have different lengths");
  CHECK(pairs("[f, f, t]") == "the sequences of this apply-to-each have different lengths");
}

TEST_CASE("what is the same in a row fails where a row that takes the arm has elements", "[rows]") {
  Rows rows;
  const auto quotients = [&](const std::string& divisors, const std::string& flags) {
    return rows.check("{if c then {x / d : x in r} else r : r in [[4, 6], [] int, [8]]; d in " +
                      divisors + "; c in " + flags + "}");
  };
  CHECK(quotients("[2, 0, 0]", "[t, t, f]") == "[[2, 3], [], [8]]");
  CHECK(quotients("[0, 0, 4]", "[f, t, t]") == "[[4, 6], [], [2]]");
  CHECK(quotients("[2, 0, 0]", "[t, t, t]") == "division by zero");
  const auto elements = [&](const std::string& places, const std::string& flags) {
    return rows.check(
        "let v = [5, 6] in {if c then {x + v[i] : x in r} else {x - v[0] : x in r} "
        ": r in [[4, 6], [] int, [8]]; i in " +
        places + "; c in " + flags + "}");
  };
  CHECK(elements("[1, 2, -1]", "[t, t, f]") == "[[10, 12], [], [3]]");
  CHECK(elements("[1, 2, -1]", "[t, t, t]") == "this index is outside the sequence");
  // In front of a row it fails even if the row has none.
  const auto before = [&](const std::string& flags) {
    return rows.check(
        "{if c then let q = 10 / #r in {x + q : x in r} else r "
        ": r in [[4, 6], [] int]; c in " +
        flags + "}");
  };
  CHECK(before("[t, f]") == "[[9, 11], []]");
  CHECK(before("[t, t]") == "division by zero");
}

TEST_CASE("an arm that is another sequence as a whole", "[rows]") {
  Rows rows;
  rows.define(
      "function replaced(m, k, p) = {if i == k then p else {x * 10 : x in r} "
      ": r in m; i in index(#m)}");
  rows.define(
      "function kept(m, k, p) = {if i /= k then {x + y : x in r; y in p} else p "
      ": r in m; i in index(#m)}");
  CHECK(rows.check("replaced([[1, 2], [3, 4]], 1, [7, 8])") == "[[10, 20], [7, 8]]");
  CHECK(rows.check("replaced([[1, 2], [3, 4]], 1, [7, 8, 9])") == "[[10, 20], [7, 8, 9]]");
  CHECK(rows.check("replaced([[1, 2], [3]], 7, [7])") == "[[10, 20], [30]]");
  CHECK(rows.check("replaced([[1, 2], [] int], 1, [] int)") == "[[10, 20], []]");
  CHECK(rows.check("replaced([] [int], 0, [7])") == "[]");
  CHECK(rows.check("kept([[1, 2], [3, 4]], 1, [7, 8])") == "[[8, 10], [7, 8]]");
  CHECK(rows.check("kept([[1, 2], [3]], 1, [7, 8])") == "[[8, 10], [7, 8]]");
  CHECK(rows.check("kept([[1, 2], [3]], 0, [7, 8])") ==
        "the sequences of this apply-to-each have different lengths");
  // One for each instance.
  CHECK(rows.check("{replaced(m, 0, p) : m in [[[1, 2], [3]], [[4]], [] [int]]; "
                   "p in [[5, 5], [6, 6], [7]]}") == "[[[5, 5], [30]], [[6, 6]], []]");
  rows.define(
      "function jordan(m, k) = if k == #m then m else let p = m[k]; row = {x / p[k] : x in p} in "
      "jordan({if i == k then row else let c = r[k] in {x - c * y : x in r; y in row} "
      ": r in m; i in index(#m)}, k + 1)");
  CHECK(rows.check("jordan([[2.0, 1.0, 3.0], [4.0, 4.0, 10.0]], 0)") ==
        "[[1.0, 0.0, 0.5], [0.0, 1.0, 2.0]]");
  for (const char* n : {"1", "9", "200"}) {
    rows.check(
        fmt::format("let n = {} + rand(1) in jordan({{{{if i == j then 3.0 else "
                    "float(rem(i * j, 7)) / 70.0 : j in index(n)}} : i in index(n)}}, 0)",
                    n));
  }
}

TEST_CASE("rows beside numbers that are counted to a limit", "[rows]") {
  Rows rows;
  for (const char* numbers : {"index(n)", "[0:n]"}) {
    rows.define(
        fmt::format("function lower(m, n, k) = {{if i <= k then r else {{x * 10 + j : x in "
                    "r; j in {}}} : r in m; i in index(#m)}}",
                    numbers));
    CHECK(rows.check("lower([[1, 2], [3, 4], [5, 6]], 2, 0)") == "[[1, 2], [30, 41], [50, 61]]");
    CHECK(rows.check("lower([[1, 2], [3, 4], [5]], 2, 0)") ==
          "the sequences of this apply-to-each have different lengths");
    CHECK(rows.check("lower([[1, 2], [3, 4]], 9, 5)") == "[[1, 2], [3, 4]]");
    rows.check("lower([[1, 2], [3, 4]], -3, 0)");
    CHECK(rows.check("lower([[1, 2], [3, 4]], -3, 5)") == "[[1, 2], [3, 4]]");
    rows.check("{lower(m, n, 0) : m in [[[1], [2]], [] [int], [[4, 5], [6, 7]]]; n in [1, -1, 2]}");
  }
  CHECK(rows.check("lower([[1, 2], [3, 4]], -3, 0)") == "this range does not count up");
  CHECK(rows.moves("let m = {[0:i] : i in [0:rand(9)]} in lower(m, rand(9), 3)") == 0);
}

}  // namespace
}  // namespace neslc::testing
