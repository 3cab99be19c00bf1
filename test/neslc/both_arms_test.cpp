// Conditionals both arms of which are computed for all elements, because the program is optimized:
// the same values and failures as where each arm has its own elements. More random ones with
// NESL_ARMS=N.
#include <random>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"
#include "contains.hpp"
#include "occurrences.hpp"
#include "sanitized.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;
using ::testing::occurrences;

class Levels : public BothLevels {
 public:
  Levels() { optimized_.evaluator().options.kernels = vinterp::KernelUse::Always; }
  std::string program(const std::string& text) { return optimized_.compiled(text); }
  /// Is nothing packed for the arms?
  bool whole(const std::string& text) {
    const std::string program = optimized_.compiled(text);
    return !contains(program, "PACK") && !contains(program, "FILTER");
  }
};

TEST_CASE("arms with checks and functions are computed for all elements", "[arms]") {
  Levels levels;
  levels.define("function tail(x) = let k = 1.0 / (1.0 + 0.25 * x) in k * (0.5 + k * exp(x))");
  levels.define("function shape(x) = if x < 0.0 then tail(-x) else 1.0 - tail(x)");
  const char* shapes = "{round(1000.0 * shape(x)) : x in [-4.0, 0.0, 2.0, -0.5]}";
  levels.check(shapes);
  CHECK(levels.whole(shapes));
  // What both arms call is called once.
  const char* many = "{round(1000.0 * shape(float(i) - 3.5)) : i in index(rand(1) + 9)}";
  levels.check(many);
  CHECK(occurrences(levels.program(many), "(EXP") == 1);
  levels.define("function twice(x) = if x > 0.0 then shape(x) + tail(x) * x else shape(2.0 * x)");
  levels.check("{round(1000.0 * twice(x)) : x in [-2.5, 0.0, 3.0, 7.25]}");
  // The arm that is not taken would fail.
  const char* quotients = "{if x == 0 then -1 else 12 / x : x in [3, 0, -5, 0]}";
  CHECK(levels.check(quotients) == "[4, -1, -2, -1]");
  CHECK(levels.whole(quotients));
  CHECK(levels.check("{if x == 0 then -1 else rem(12, x) : x in [5, 0, -7]}") == "[2, -1, 5]");
  CHECK(levels.check("{if x > 0.0 then sqrt(x) else 0.0 : x in [4.0, -4.0]}") == "[2.0, 0.0]");
  CHECK(levels.check("{if x > 0 then (if x > 5 then 100 / (x - 5) else 1 / (x - 6)) else 0"
                     " : x in [0, 7, 5, 10]}") == "[0, 50, -1, 20]");
  levels.check("{if x > 0 then 1 / x else 0 : x in [] int}");
}

TEST_CASE("arms may be variables of the top level", "[arms]") {
  Levels levels;
  levels.define("far = 1.0e9");
  levels.define("(low, high) = (sum([1, 2]), 1000)");
  levels.define("table = [7, 8, 9]");
  const std::string conditionals[] = {
      "{if x < 0.0 then far else sqrt(x) : x in [4.0, -4.0]}",
      "{if x < 0.0 then far else if x > pi then sqrt(x) else -far : x in [4.0, -4.0, 2.0]}",
      "{if x == 0 then low else if x > 2 then high / x else table[x] : x in [0, 5, 2, 1]}",
      "{if x == 0 then max_int else rem(high, x) : x in [0, 7]}",
      "{let (a, b) = if x == 0 then (low, high) else (12 / x, low) in a + b : x in [0, 5]}"};
  for (const std::string& conditional : conditionals) {
    CAPTURE(conditional);
    levels.check(conditional);
    CHECK(levels.whole(conditional));
  }
  CHECK(levels.check(conditionals[0]) == "[2.0, 1.0E9]");
  levels.check("{if x then far else sqrt(-far) : x in [true, false]}");
}

TEST_CASE("what an arm fetches does not wait for the checks of others", "[arms]") {
  Levels levels;
  levels.define(
      "function around(l, n, k) = if k == 0 then l else around({let a = if rem(i, n) > 0 then "
      "l[i - 1] else 0; b = if rem(i, n) < n - 1 then l[i + 1] else 0; c = if i >= n then "
      "l[i - n] else 0; d = if i < n * (n - 1) then l[i + n] else 0 in "
      "rem(2 * a + 3 * b + 5 * c + 7 * d, 1009) : i in index(#l)}, n, k - 1)");
  const std::string program =
      levels.program("let n = 5 + rand(1) in around(index(25 + rand(1)), n, 2)");
  CHECK(program.find("VEC BOOL n") == std::string::npos);  // no flags are kept
  for (const char* length : {"n * n", "0", "n", "n * n - 1", "n * n + 1"}) {
    for (const char* n : {"1", "5", "300"}) {
      levels.check(fmt::format("let n = {} + rand(1) in around(index({}), n, 2)", n, length));
    }
  }
}

TEST_CASE("what fails in an arm that is taken is reported", "[arms]") {
  Levels levels;
  CHECK(levels.check("{if x > 1 then 7 / (x - 3) else 0 : x in [1, 3, 2]}") == "division by zero");
  levels.check("{if x > 1 then 7 / (x - 3) else 7 / x : x in [1, 0, 2, 3]}");
  levels.check("{if x > 1.0 then sqrt(x - 3.0) else x : x in [0.0, 2.0]}");
  levels.check("{if x > 1 then (if x > 2 then 0 else 1 / (x - 2)) else 1 : x in [1, 3, 2]}");
  // What is the same for all instances fails where any of them takes the arm.
  levels.define("function half(x) = x / (1 - 1)");
  CHECK(levels.check("{if x > 9 then x + half(8) else x : x in [1, 2]}") == "[1, 2]");
  CHECK(levels.check("{if x > 9 then x + half(8) else x : x in [1, 10]}") == "division by zero");
  CHECK(levels.check("{if x > 9 then x + half(8) else x : x in [] int}") == "[]");
  CHECK(levels.check("let d = rand(1) in {if x > 9 then x / d else x : x in [1, 2]}") == "[1, 2]");
  levels.check("let d = rand(1) in {if x > 9 then x / d else x : x in [1, 20]}");
}

TEST_CASE("functions that call themselves have their own elements", "[arms]") {
  Levels levels;
  levels.define("function power(x, n) = if n == 0 then 1 else x * power(x, n - 1)");
  CHECK(levels.check("{if x > 2 then power(x, 3) else x : x in [1, 2, 3]}") == "[1, 2, 27]");
  CHECK(levels.check("{if x > 2 then sum(index(x)) else x : x in [1, 2, 3]}") == "[1, 2, 3]");
}

TEST_CASE("indices that the condition keeps inside are not checked, others are", "[arms]") {
  Levels levels;
  levels.define(
      "function averages(m) = {{if i == 0 or j == 0 or i == #m - 1 or j == #m[i] - 1 then m[i][j] "
      "else m[i - 1][j] + m[i + 1][j] + m[i][j - 1] + m[i][j + 1] : j in index(#m[i])} "
      ": i in index(#m)}");
  levels.define("function rounds(m, k) = if k == 0 then m else rounds(averages(m), k - 1)");
  levels.define("function grid(n, k) = {{rem(i * k + 7 * j, 11) : j in index(k)} : i in index(n)}");
  for (const char* size : {"5, 7", "1, 4", "4, 1", "1, 1", "2, 2", "0, 3", "3, 0", "40, 300"}) {
    levels.check(fmt::format("rounds(grid({}), 3)", size));
    levels.check(fmt::format("let z = rand(1) in rounds(grid(z + {}), 3)", size));
  }
  CHECK(!contains(levels.program("rounds(grid(6, 9), 3)"), "out of bounds"));
  CHECK(!contains(levels.program("let n = 6 + rand(1) in rounds(grid(n, 9), 3)"), "out of bounds"));
  // Rows of different lengths: that above or below may be too short.
  levels.check("averages([[1, 2], [4, 5, 7], [1, 2, 3, 9]])");
  levels.check("averages([[1, 2, 3, 9], [4, 5], [1, 2, 3, 9], [1, 2, 3, 9]])");
  levels.check("averages([[1, 2, 3], [], [4, 5, 6]])");
  levels.check("averages([] [int])");

  levels.define("v = {i * i - 50 : i in index(1000)}");
  const auto checks = [&](const char* condition, const char* element, const char* positions) {
    const std::string text =
        fmt::format("sum({{if {} then {} else 1 : i in {}}})", condition, element, positions);
    levels.check(text);
    return contains(levels.program(text), "out of bounds");
  };
  CHECK_FALSE(checks("i > 0 and i < 999", "v[i - 1] + v[i + 1]", "index(1000)"));
  CHECK_FALSE(checks("i > 1", "v[i - 2]", "index(#v)"));
  CHECK_FALSE(checks("i >= 0 and i < #v", "v[i]", "{k - 5 : k in index(#v + 9)}"));
  CHECK_FALSE(checks("not(i < 0 or i >= #v)", "v[i]", "v"));
  CHECK_FALSE(checks("i < #v - 3", "v[i + 3]", "index(#v)"));
  CHECK_FALSE(contains(levels.program("sum({v[rem(i, #v)] : i in index(3000)})"), "out of bounds"));
  CHECK(checks("i > 0", "v[i - 2]", "index(#v)"));
  CHECK(checks("i > 0 or i < 999", "v[i - 1]", "index(#v)"));
  CHECK(checks("i < #v", "v[i]", "v"));
  CHECK(checks("i < #v - 3", "v[i + 4]", "index(#v)"));
  CHECK(checks("i /= 1", "v[i - 1]", "index(#v)"));
}

TEST_CASE("elements of sequences are fetched in arms that are not taken, too", "[arms]") {
  Levels levels;
  levels.define("v = {i * i : i in index(1000)}");
  levels.define("none = [] int");
  levels.define("function before(v, i, d) = if i == 0 then d else v[i - 1]");
  const char* shifted = "{before(v, i, -1) : i in index(#v)}";
  levels.check(shifted);
  CHECK(levels.whole(shifted));
  const char* means =
      "let w = {float(x) : x in v} in {if i == 0 or i == #w - 1 then w[i] "
      "else (w[i - 1] + w[i] + w[i + 1]) / 3.0 : i in index(#w)}";
  levels.check(means);
  CHECK(levels.whole(means));
  // Blocks at the ends, and far outside.
  CHECK(levels.check("sum({if i < 3 or i > 4990 then 0 else v[i / 5 - 1] : i in index(5000)})") !=
        "0");
  levels.check("sum({if i < 600 then 1 else v[i - 600] : i in index(1600)})");
  levels.check("sum({if i >= 1000 then 1 else v[i] : i in index(5000)})");
  levels.check("sum({if i < 17 or i >= 1017 then 1 else v[i - 17] : i in index(1034)})");
  // Backwards, and of characters.
  levels.check("sum({if i >= 1000 then 1 else v[999 - i] : i in index(5000)})");
  levels.define("text = {code_char(97 + rem(i * i, 23)) : i in index(3000)}");
  levels.check("{if i < 5 then `x else text[i - 5] : i in index(3005)}");
  levels.check("{if i < 5 then `x else text[3004 - i] : i in index(3005)}");
  levels.check("{if i > 2998 then `x else text[2998 - i] : i in index(3700)}");
  // Of nothing, of one's own, of pairs, and in functions.
  CHECK(levels.check("{if i > 2 then none[i] else i : i in index(3)}") == "[0, 1, 2]");
  CHECK(levels.check("{if #s == 0 then -1 else s[#s - 1] : s in [[1, 2], [] int, [5]]}") ==
        "[2, -1, 5]");
  CHECK(levels.check("{if #s < 2 then (0, `a) else s[1] : s in [[(1, `b), (2, `c)], "
                     "[] (int, char)]}") == "[(2, `c), (0, `a)]");
  levels.check(
      "{{if j == 0 then s[0] else before(s, j, 7) + s[j] : j in index(#s)} "
      ": s in {take(v, i) : i in index(9)}}");
  levels.check("{if #s > 0 then s[0] else 1 : s in [] [int]}");
  levels.check("{if x > 0 then [[1, 2], [3]][1][0] else x : x in [1, 0]}");
}

TEST_CASE("elements of elements are fetched in arms, and no row is copied", "[arms]") {
  Levels levels;
  levels.define("grid = {{i * 7 + j * j : j in index(31)} : i in index(40)}");
  levels.define("ragged = {{i + j : j in index(rem(i * 5, 7))} : i in index(50)}");
  levels.define("cube = {{{i + j * k : k in index(i + j)} : j in index(3)} : i in index(4)}");
  levels.define(
      "function around(m) = {{if i == 0 or j == 0 or i == #m - 1 or j == #m[i] - 1 then "
      "m[i][j] else m[i - 1][j] + m[i + 1][j] + m[i][j - 1] + m[i][j + 1] "
      ": j in index(#m[i])} : i in index(#m)}");
  levels.check("around(grid)");
  CHECK(levels.whole("around(grid)"));
  levels.check("around([] [int])");
  levels.check("around([[1, 2], [3, 4]])");
  levels.check("{around(m) : m in [grid, [] [int], [[1], [2], [3]]]}");
  levels.check(
      "{if j < 0 then -1 else if j >= #ragged[i] then -2 else ragged[i][j] "
      ": i in index(50); j in {rem(k * 3, 8) - 1 : k in index(50)}}");
  levels.check(
      "{{if j > 0 then r[j - 1] + ragged[i][0] else 0 : j in index(#r)} "
      ": r in ragged; i in index(50)}");
  levels.check("{if i > 0 then cube[i][i - 1][0] else cube[3][2][1] : i in index(4)}");
  levels.check("{if i > 0 then {cube[i][j][0] : j in index(3)} else [i] : i in index(4)}");
  // What fails is the first index that is outside.
  levels.check("{if i > 5 then grid[i][i] else 0 : i in index(35)}");
  levels.check("{if i > 35 then grid[i][i] else 0 : i in index(45)}");
  levels.check("{if i > 5 then grid[i + 50][i] else 0 : i in index(9)}");
  levels.check("{if i > 5 then ragged[0][i] else 0 : i in index(9)}");
  levels.check("{if i > 0 then ([] [int])[i][0] else 0 : i in [0, 0]}");
  levels.check("{if i > 0 then ([] [int])[i][0] else 0 : i in [0, 1]}");
  levels.check("{if i > 0 then cube[0][0][0] else 0 : i in [0, 1]}");
}

TEST_CASE("an index that fails in an arm that is taken is reported", "[arms]") {
  Levels levels;
  levels.define("v = [3, 1, 2]");
  CHECK(levels.check("{if x > 9 then v[x] else x : x in [1, 10]}") ==
        "this index is outside the sequence");
  levels.check("{if x > 0 then v[x - 5] else x : x in [0, 4]}");
  levels.check("{if x > 0 then v[x - 5] / 0 else x : x in [0, 4]}");
  levels.check("{if x > 0 then v[x / 0] else x : x in [0, 4]}");
  levels.check("{if x > 0 then (if x > 1 then 0 else v[7]) else x : x in [0, 2]}");
  levels.check("{if x > 0 then (if x > 1 then 0 else v[7]) else x : x in [0, 1]}");
  levels.check("{if #s > 1 then s[2] else 0 : s in [[1], [1, 2]]}");
  levels.check("{if x > 0 then ([] int)[x] else 0 : x in [0, 1]}");
  levels.check("let w = [] int in {if x > 0 then w[x] else 0 : x in [0, 1]}");
}

class ArmGenerator {
 public:
  explicit ArmGenerator(unsigned seed) : random_(seed) {}

  std::string function() {
    own_ = false;
    return fmt::format("function g(i, x) = {}", number(3));
  }
  std::string expression() {
    own_ = true;
    const int length = below(8) == 0 ? 0 : below(4) == 0 ? 3000 : 1 + below(40);
    return fmt::format(
        "let n = {} + rand(1) in {{{} : i in {{rem(j * 7919, 41) - 20 : j in index(n)}}; "
        "x in {{float(rem(j, 9) - 4) / 2.0 : j in index(n)}}; own in {{index(rem(j, 4)) : j in "
        "index(n)}}}}",
        length, below(2) == 0 ? number(4) : real(4));
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  std::string flag(int depth) {
    return below(2) == 0
               ? fmt::format("{} {} {}", number(depth), below(2) == 0 ? "==" : "<", number(depth))
               : fmt::format("{} < {}", real(depth), real(depth));
  }
  std::string number(int depth) {
    static constexpr const char* kLeaves[] = {"i", "3", "0", "(i + 1)", "7"};
    if (depth == 0) return kLeaves[below(std::size(kLeaves))];
    const auto part = [&] { return number(depth - 1); };
    switch (below(12)) {
      case 11:
        return fmt::format("(if {} then few[3] else rows[rem(i * i, {})][{}])", flag(depth - 1),
                           4 + below(3), below(3));
      case 8:
        return fmt::format("few[{}]", below(3) == 0 ? part() : "rem(i * i, 50)");
      case 9:
        return fmt::format("(if i < {} then {} else few[i - {}])", below(5), part(), below(5));
      case 10:
        return own_ ? fmt::format("(if #own > {} then own[{}] else {})", below(3), below(3), part())
                    : part();
      case 0:
        return fmt::format("({} + {})", part(), part());
      case 1:
        return fmt::format("({} * {})", part(), part());
      case 2:
        return fmt::format("({} / {})", part(), below(3) == 0 ? part() : "3");
      case 3:
        return fmt::format("rem({}, {})", part(), below(3) == 0 ? part() : "5");
      case 4:
        return fmt::format("max({}, h({}))", part(), part());
      case 5:
        return fmt::format("(let i = {} in (if i == 0 then 1 else {} / i))", part(), part());
      default:
        return fmt::format("(if {} then {} else {})", flag(depth - 1), part(), part());
    }
  }
  std::string real(int depth) {
    static constexpr const char* kLeaves[] = {"x", "1.5", "0.0", "float(i)"};
    if (depth == 0) return kLeaves[below(std::size(kLeaves))];
    const auto part = [&] { return real(depth - 1); };
    switch (below(7)) {
      case 0:
        return fmt::format("({} - {})", part(), part());
      case 1:
        return fmt::format("({} / {})", part(), below(3) == 0 ? part() : "2.0");
      case 2:
        return fmt::format("sqrt({})", below(3) == 0 ? part() : "(x * x)");
      case 3:
        return fmt::format("float({})", number(depth - 1));
      default:
        return fmt::format("(if {} then {} else {})", flag(depth - 1), part(), part());
    }
  }

  std::mt19937 random_;
  bool own_ = false;  // is there a sequence for each element?
};

TEST_CASE("random conditionals give the same at both levels", "[arms]") {
  Levels levels;
  levels.define("few = {rem(i * 31, 17) : i in index(50)}");
  levels.define("rows = {{i * j : j in index(1 + rem(i * 2, 5))} : i in index(6)}");
  levels.define("function h(i) = if i > 4 then 40 / (i - 4) else i * i");
  const auto last = static_cast<unsigned>(::testing::some_of(60, "NESL_ARMS"));
  for (unsigned seed = 1; seed <= last; ++seed) {
    ArmGenerator generator(seed);
    levels.define(generator.function());
    levels.check("{g(i, 0.5) : i in [-3, 0, 1, 7, 100]}");
    levels.check(generator.expression());
  }
}

}  // namespace
}  // namespace neslc::testing
