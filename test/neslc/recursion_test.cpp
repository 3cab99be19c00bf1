// Functions of scalars that call themselves, or each other, anywhere: in kernels with stacks they
// give what the recursion gives, failures and runaway recursion included.
#include <initializer_list>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"
#include "occurrences.hpp"
#include "random_texts.hpp"
#include "sanitized.hpp"
#include "tuned.hpp"

namespace neslc::testing {
namespace {

using ::testing::occurrences;

class Recursions : public BothLevels {
 public:
  /// How many of the kernels for an expression have stacks?
  std::size_t stacks(const std::string& text) {
    return occurrences(optimized_.compiled(text), "PUSH");
  }
  /// How many of them have rounds?
  std::size_t rounds(const std::string& text) {
    return occurrences(optimized_.compiled(text), "ITERATE");
  }
  void set_max_depth(std::size_t depth) {
    for (Evaluations* each : {&plain_, &optimized_}) each->evaluator().options.max_depth = depth;
  }
};

/// A tree of calls, the second of which depends on a condition.
constexpr const char* kLeaves =
    "function leaves(n) = if n < 2 then 1 else leaves(n - 1) + "
    "(if rem(n, 3) == 1 then 0 else leaves(n - 2))";

TEST_CASE("functions that call themselves anywhere are in kernels", "[recursion]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    Recursions both;
    both.define(kLeaves);
    CHECK(both.check("leaves(25)") == "6561");
    CHECK(both.check("{leaves(n) : n in index(9)}") == "[1, 1, 2, 3, 3, 6, 9, 9, 18]");
    CHECK(both.stacks("leaves(25)") == 1);
    CHECK(both.stacks("{leaves(n) : n in index(9)}") == 1);

    // The last of two calls needs the other one.
    both.define(
        "function ackermann(m, n) = if m == 0 then n + 1 else if n == 0 then ackermann(m - 1, 1) "
        "else ackermann(m - 1, ackermann(m, n - 1))");
    CHECK(both.check("ackermann(2, 20)") == "43");
    CHECK(both.check("{ackermann(k, 3) : k in index(4)}") == "[4, 5, 9, 61]");
    CHECK(both.stacks("ackermann(2, 20)") > 0);

    both.define(
        "function attempt(free, all, c, d, e) = if free == 0 then 0 else "
        "let bit = free and (0 - free); columns = c or bit; down = lshift(d or bit, 1); "
        "up = rshift(e or bit, 1); left = all and (-1 - (columns or down or up)) in "
        "(if columns == all then 1 else attempt(left, all, columns, down, up)) + "
        "attempt(free - bit, all, c, d, e)");
    both.define("function queens(n) = let all = lshift(1, n) - 1 in attempt(all, all, 0, 0, 0)");
    CHECK(both.check("queens(6)") == "4");
    CHECK(both.check("{queens(n) : n in [1:8]}") == "[1, 0, 0, 2, 10, 4, 40]");
    CHECK(both.stacks("queens(6)") == 1);

    // What FLOATs, differences and powers are collected in depends on the order.
    both.define("function sum_of(x) = if x < 1.0 then x else x * 0.1 + sum_of(x / 3.0)");
    CHECK(both.check("sum_of(7.0)").starts_with("1.7"));
    CHECK(both.stacks("sum_of(7.0)") > 0);
    both.define("function alternating(n) = if n == 0 then 0 else n - alternating(n - 1)");
    CHECK(both.check("alternating(100)") == "50");
    CHECK(both.stacks("alternating(100)") > 0);
    both.define(
        "function power(x, k) = if k == 0 then 1 else let half = power(x, k / 2) in "
        "if rem(k, 2) == 1 then x * half * half else half * half");
    CHECK(both.check("power(3, 13)") == "1594323");
    CHECK(both.stacks("power(3, 13)") > 0);

    // Results of several types; tuples, characters, truth values.
    both.define(
        "function counts(n, c) = if n == 0 then (1, 0.5, c) else if evenp(n) then "
        "let (a, x, d) = counts(n / 2, code_char(char_code(c) + 1)); "
        "(b, y, e) = if n > 3 then counts(n - 1, c) else (n, 0.25, c) in (a + b, x * y, if d == c "
        "then e else d) else counts(n - 1, c)");
    CHECK(both.check("counts(21, `a)") == both.check("{counts(n, `a) : n in [21]}[0]"));
    CHECK(both.stacks("counts(21, `a)") > 0);
    both.define(
        "function wins(n, k) = if n == 0 then f else not(wins(n - 1, 3 - k)) or "
        "(if n < k then f else wins(n - k, k))");
    CHECK(both.check("{wins(n, 2) : n in index(7)}") == "[F, T, F, T, F, T, F]");
    CHECK(both.stacks("wins(6, 2)") > 0);
  }
}

TEST_CASE("calls that need nothing of each other stay calls over vectors", "[recursion]") {
  Recursions both;
  both.define("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2)");
  CHECK(both.check("{fib(n) : n in index(9)}") == "[0, 1, 1, 2, 3, 5, 8, 13, 21]");
  CHECK(both.stacks("{fib(n) : n in index(9)}") == 0);
  // So do, for many instances, calls one after another.
  both.define("function alternating(n) = if n == 0 then 0 else n - alternating(n - 1)");
  CHECK(both.check("{alternating(n) : n in index(6)}") == "[0, 1, 1, 2, 2, 3]");
  CHECK(both.stacks("{alternating(n) : n in index(6)}") == 0);
}

TEST_CASE("a call that comes last, behind another one, makes a tree of calls", "[recursion]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    Recursions both;
    // A node is a number and where its children are, which follow each other.
    both.define(
        "tree = [(0, 1, 3), (0, 4, 2), (5, 0, 0), (0, 6, 1), (7, 0, 0), (1, 0, 0), (9, 0, 0)]");
    both.define(
        "function walk(x, v, last, (so_far, seen)) = if v == last then (so_far, seen) else "
        "let (value, child, n) = tree[v]; found = if n == 0 then (so_far + x / (value - 3), seen) "
        "else walk(x, child, child + n, (so_far * 2, seen + 1)) in walk(x, v + 1, last, found)");
    CHECK(both.check("walk(100, 0, 1, (0, 0))") == "(66, 3)");
    const char* const many = "{walk(x, 0, 1, (x, 0)) : x in [100, 7, 0, 31]}";
    CHECK(both.check(many).starts_with("[("));
    CHECK(both.stacks(many) == 1);
    CHECK(both.check("{walk(7, v, 7, (1, 0)) : v in index(8)}").starts_with("[("));
  }
}

TEST_CASE("functions that call each other are in one kernel", "[recursion]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    Recursions both;
    // Of these each call comes last: there is a loop, but no stack.
    both.define("function odd(n) : int -> bool");
    both.define("function even(n) = if n == 0 then t else odd(n - 1)");
    both.define("function odd(n) = if n == 0 then f else even(n - 1)");
    CHECK(both.check("(even(1000), odd(1000))") == "(T, F)");
    CHECK(both.check("{even(n) : n in index(5)}") == "[T, F, T, F, T]");
    CHECK(both.stacks("{even(n) : n in index(5)}") == 0);

    both.define("function female(n) : int -> int");
    both.define("function male(n) = if n == 0 then 0 else n - female(male(n - 1))");
    both.define("function female(n) = if n == 0 then 1 else n - male(female(n - 1))");
    CHECK(both.check("{(male(n), female(n)) : n in index(5)}") ==
          "[(0, 1), (0, 1), (1, 2), (2, 2), (2, 3)]");
    CHECK(both.check("male(12)") == "7");
    CHECK(both.stacks("male(12)") > 0);

    // One that calls a loop, and another one that calls itself.
    both.define("function gcd_of(a, b) = if b == 0 then a else gcd_of(b, rem(a, b))");
    both.define(kLeaves);
    both.define(
        "function mixed(n) = if n < 3 then n else gcd_of(mixed(n - 1) + 6, n) + "
        "(if rem(n, 3) == 0 then mixed(n / 2) else 1) + leaves(rem(n, 7))");
    CHECK(both.check("mixed(30)") == both.check("{mixed(n) : n in [30]}[0]"));
    CHECK(both.stacks("mixed(30)") > 0);
  }
}

TEST_CASE("recursion reads sequences where they lie", "[recursion]") {
  Recursions both;
  both.define("coins = [1, 5, 10, 25, 50]");
  both.define(
      "function ways(a, k) = if a == 0 then 1 else if a < 0 or k == 0 then 0 else "
      "ways(a, k - 1) + (if coins[k - 1] > a then 0 else ways(a - coins[k - 1], k))");
  CHECK(both.check("ways(100, 5)") == "292");
  CHECK(both.stacks("ways(100, 5)") > 0);
  both.define(
      "function most(v, lo, hi) = if hi - lo < 2 then v[lo] else let m = (lo + hi) / 2 in "
      "max(most(v, lo, m), if hi > m then most(v, m, hi) else 0)");
  CHECK(both.check("let v = {rem(i * 7919, 1009) : i in [0:500]} in most(v, 0, #v)") == "1006");
  CHECK(both.check("{most(v, 0, #v) : v in [[3, 1], [5], [2, 9, 4]]}") == "[3, 5, 9]");
  CHECK(both.stacks("let v = {rem(i * 7919, 1009) : i in [0:500]} in most(v, 0, #v)") > 0);
  // Outside of the sequence it says what the recursion says.
  CHECK(both.check("most([3, 1], 0, 4)").find("index") != std::string::npos);
}

/// Functions that hand on parts of their sequences, and calls of them: of a loop, or with a stack.
struct Slices {
  const char* function;
  const char* calls[3];
};

TEST_CASE("functions hand on slices of their sequences without copies", "[recursion]") {
  for (const Slices& one : {
           Slices{"total(v) = if #v == 0 then 0 else v[0] + total(drop(v, 1))",
                  {"total([3, 1, 4])", "total([] int)",
                   "{total(r) : r in [[1, 2], [] int, [5, 6, 7]]}"}},
           {"member(x, v) = if #v == 0 then f else if v[0] == x then t else member(x, drop(v, 1))",
            {"member(4, [3, 1, 4])", "member(7, [3, 1, 4])",
             "{{member(x, r) : x in [0:4]} : r in [[1, 2], [] int, [3, 0, 1]]}"}},
           {"search(x, v) = if #v == 0 then f else let m = #v / 2 in if v[m] == x then t else "
            "if v[m] < x then search(x, drop(v, m + 1)) else search(x, take(v, m))",
            {"search(9, [1, 3, 5, 9, 11])", "search(4, [1, 3, 5, 9, 11])",
             "{search(x, [1, 3, 5, 9, 11]) : x in [0:12]}"}},
           {"same(s) = if #s < 2 then t else if s[0] /= s[#s - 1] then f else "
            "same(subseq(s, 1, #s - 1))",
            {"same(\"abcba\")", "same(\"abca\")", "{same(s) : s in [\"abba\", \"\", \"ab\"]}"}},
           {"inner(p, q) = if #p == 0 then 0.0 else p[0] * q[0] + inner(drop(p, 1), drop(q, 1))",
            {"inner([1.0, 2.0], [3.0, 4.0])", "inner([1.0, 2.0], [3.0])",
             "inner([2.0], [0.5, 7.0])"}},
           {"pairs(v) = if #v == 0 then 0 else let (a, b) = v[0] in a * b - pairs(drop(v, 1))",
            {"pairs(zip([1, 2, 3], [4, 5, 6]))", "pairs([(7, 2)])", "pairs([] (int, int))"}},
           {"greatest(v) = if #v == 1 then v[0] else let m = greatest(drop(v, 1)) in "
            "if v[0] > m then v[0] else m",
            {"greatest([3, 9, 4])", "greatest([] int)", "greatest([-1])"}},
           {"ways(a, v) = if a == 0 then 1 else if a < 0 or #v == 0 then 0 else "
            "ways(a, drop(v, 1)) + (if v[0] > a then 0 else ways(a - v[0], v))",
            {"ways(30, [10, 5, 1])", "ways(4, [10, 5])", "{ways(n, [3, 2, 1]) : n in [0:6]}"}},
           // Calls that are made together otherwise, with copies of their parts.
           {"halved(v) = if #v == 1 then v[0] else let h = #v / 2 in "
            "halved(take(v, h)) + halved(drop(v, h))",
            {"halved([3, 1, 4, 1, 5])", "halved([2])",
             "{halved(r) : r in [[1, 2], [5], [7, 8, 9, 10]]}"}},
           {"subsets(v, s) = if #v == 0 then (if s == 0 then 1 else 0) else "
            "subsets(drop(v, 1), s) + subsets(drop(v, 1), s - v[0])",
            {"subsets([1, 2, 3, 4], 5)", "subsets([] int, 0)",
             "{subsets([1, 2, 3], s) : s in [0:7]}"}},
           {"spans(v) = if #v == 1 then (v[0], v[0]) else let h = #v / 2; (a, b) = "
            "spans(take(v, h)); (c, d) = spans(drop(v, h)) in (min(a, c), max(b, d))",
            {"spans([3, 1, 4, 1, 5])", "spans([7])", "{spans(r) : r in [[2, 1], [9, 8, 7]]}"}},
           // Slices of slices, from the end, with bounds that fail, and of one sequence of two.
           {"inmost(v) = if #v < 3 then #v else v[0] + inmost(drop(take(v, #v - 1), 1))",
            {"inmost([5, 6, 7, 8])", "inmost([5, 6, 7])",
             "{inmost(r) : r in [[1, 2, 3, 4, 5], [9], [2, 2, 2]]}"}},
           {"ends(v) = if #v == 0 then 0 else v[#v - 1] * 2 + ends(take(v, -1))",
            {"ends([1, 2, 3])", "ends([4])", "{ends(r) : r in [[1, 2], [3, 4, 5]]}"}},
           {"leaps(v, k) = if k == 0 then #v else leaps(drop(v, 2), k - 1)",
            {"leaps([1, 2, 3, 4, 5], 2)", "leaps([1, 2, 3], 2)",
             "{leaps([0:n], 1) : n in [2, 5, 3]}"}},
           {"merged(v, w) = if #v == 0 or #w == 0 then 0 else if v[0] < w[0] then "
            "1 + merged(drop(v, 1), w) else 1 + merged(v, drop(w, 1))",
            {"merged([1, 4, 9], [2, 3, 10])", "merged([] int, [1])",
             "{merged(r, [2, 5]) : r in [[1, 3, 7], [6], [0, 1]]}"}},
       }) {
    for (const char* setting : kRoundSettings) {
      const tuned::Scope scope(tuned::from_environment() + "," + setting);
      INFO(one.function);
      Recursions both;
      both.define(std::string("function ") + one.function);
      for (const char* call : one.calls)
        CHECK(both.check(call).find("defined") == std::string::npos);
      CHECK(both.rounds(one.calls[0]) > 0);
    }
  }
  // A long one takes linear time, and no more memory than it has.
  Recursions both;
  both.define(
      "function last_of(v) = if #v == 1 then v[0] else let x = last_of(drop(v, 1)) in "
      "if x < 0 then v[0] else x");
  CHECK(both.optimized("last_of({i * 2 : i in [0:200000]})") == "399998");
}

TEST_CASE("what fails in a recursion says what it says without a kernel", "[recursion]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    Recursions both;
    both.define(
        "function quotients(n) = if n == 0 then 0 else 12 / (n - 3) + 2 * quotients(n - 1)");
    CHECK(both.check("quotients(2)") == "-24");
    CHECK(both.check("quotients(5)").find("division by zero") != std::string::npos);
    both.define(
        "function checked(n) = if n < 0 then error(\"below zero\") else if n < 2 then n else "
        "checked(n - 1) + checked(n - 3)");
    CHECK(both.check("checked(1)") == "1");
    CHECK(both.check("checked(2)").find("below zero") != std::string::npos);
    CHECK(both.check("{checked(n) : n in [1, 0]}") == "[1, 0]");
    // Behind a call whose result is that of the function.
    both.define(
        "function late(n, k) = if n == 0 then k else let r = late(n - 1, k + 1) in "
        "if n > 7 then error(\"late\") else r");
    CHECK(both.check("late(7, 1)") == "8");
    CHECK(both.check("late(9, 1)").find("late") != std::string::npos);
    // What no result needs is not looked at.
    both.define(
        "function guarded(n) = if n < 2 then n else if n == 5 then guarded(n - 1) * 2 else "
        "guarded(n - 1) + 10 / (n - 5)");
    CHECK(both.check("guarded(4)") == both.check("{guarded(n) : n in [4]}[0]"));
  }
}

TEST_CASE("recursion may be deep, but not endless", "[recursion]") {
  Recursions both;
  both.define("function deep(n) = if n == 0 then 0 else rem(deep(n - 1) * 3 + n, 1000)");
  const int depth = ::testing::kSanitized ? 3000 : 100'000;
  CHECK(both.check(fmt::format("deep({})", depth)) ==
        both.check(fmt::format("{{deep(n) : n in [{}]}}[0]", depth)));
  CHECK(both.stacks("deep(10)") > 0);
  both.set_max_depth(300);
  both.define("function endless(n) = if n == 0 then 0 else 1 - endless(n + 1)");
  CHECK(both.check("endless(1)").find("300 deep") != std::string::npos);
}

/// Writes the bodies of functions f and g of (n, x, z), with a FLOAT z, which call each other with
/// less than n.
class RandomBodies : RandomTexts {
 public:
  explicit RandomBodies(unsigned seed) : RandomTexts(seed) {}

  std::string body() {
    const std::string first = number(2), real = fraction(2), rest = pair(4);
    return fmt::format("if n < 1 then ({}, {}) else {}", first, real, rest);
  }

 private:
  std::string variable(const char* kind, int count) {
    return count > 0 && below(2) == 0 ? fmt::format("{}{}", kind, below(count)) : "";
  }
  std::string number(int depth) {
    const std::string bound = variable("i", bound_);
    if (!bound.empty()) return bound;
    if (depth < 1) return one_of({"n", "x", "x - n", "3", "n * x"});
    const std::string first = number(depth - 1), second = number(depth - 1);
    if (below(8) == 0) return fmt::format("({} / {})", first, one_of({"n", "x", "(n - 2)"}));
    return fmt::format("rem({} {} {}, 100)", first, one_of({"+", "-", "*"}), second);
  }
  std::string fraction(int depth) {
    const std::string bound = variable("r", bound_);
    if (!bound.empty()) return bound;
    if (depth < 1) return one_of({"z", "0.5", "float(n)", "z * 0.25"});
    const std::string first = fraction(depth - 1), second = fraction(depth - 1);
    return fmt::format("({} {} {})", first, one_of({"+", "-", "*"}), second);
  }
  std::string condition() {
    const std::string first = number(1), second = number(1);
    return first + one_of({" < ", " == ", " >= "}) + second;
  }
  std::string call() {
    const std::string function = one_of({"f", "f", "g"});
    const std::string next = one_of({"n - 1", "n - 1", "n / 2", "n - 2"});
    const std::string x = number(1), z = fraction(1);
    return fmt::format("{}_({}, {}, {})", function, next, x, z);
  }
  /// Of a number and a FLOAT.
  std::string pair(int depth) {
    const int form = below(depth < 1 ? 2 : 6);
    if (form == 0) return call();
    if (form == 1) {
      const std::string first = number(2), second = fraction(1);
      return fmt::format("({}, {})", first, second);
    }
    if (form < 4) {
      const std::string test = condition(), first = pair(depth - 1), second = pair(depth - 2);
      return fmt::format("(if {} then {} else {})", test, first, second);
    }
    const std::string value = pair(depth - 2);
    const int bound = bound_++;
    const std::string rest = pair(depth - 1);
    --bound_;
    return fmt::format("(let (i{0}, r{0}) = {1} in {2})", bound, value, rest);
  }

  int bound_ = 0;
};

/// More of them with NESL_RECURSION=N.
TEST_CASE("random functions that call each other", "[recursion]") {
  const int count = ::testing::some_of(60, "NESL_RECURSION");
  std::size_t stacks = 0;
  for (int seed = 1; seed <= count; ++seed) {
    RandomBodies random(static_cast<unsigned>(seed));
    const std::string f = random.body(), g = random.body();
    INFO(seed << ": " << f << "\n" << g);
    const tuned::Scope scope(tuned::from_environment() + "," +
                             kRoundSettings[seed % std::size(kRoundSettings)]);
    Recursions both;
    both.define("function g_(n, x, z) : (int, int, float) -> (int, float)");
    both.define("function f_(n, x, z) = " + f);
    both.define("function g_(n, x, z) = " + g);
    for (const char* call : {"f_(6, 3, 0.5)", "f_(9, -1, 2.0)", "g_(7, 2, 1.0)",
                             "{f_(n, 7 - n, 0.125) : n in [0:7]}"}) {
      both.check(call);
      stacks += both.stacks(call);
    }
  }
  CHECK(stacks > static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace neslc::testing
