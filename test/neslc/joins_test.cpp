// Sequences that are joined and then read element by element give what they give when they are
// made.
#include <initializer_list>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"
#include "random_texts.hpp"
#include "sanitized.hpp"

namespace neslc::testing {
namespace {

/// With sums that tell the elements of a sequence, and their order.
class Joins : public BothLevels {
 public:
  Joins() {
    define("function tell(v) = (#v, sum({x * (1 + rem(i, 101)) : x in v; i in index(#v)}))");
    define("function numbers(n, k) = {rem(i * 7919 + k, 1009) : i in index(n)}");
  }
  /// From now on what each pass of the optimizer leaves is checked.
  void check_passes() { optimized_.evaluator().options.optimizer.check = true; }
};

/// Lengths about those of blocks and tiles, and such that kernels run as such.
const int kBorderLengths[] = {1, 2, 3, 511, 512, 513, 16385, 300'001};

TEST_CASE("neighbours in joined sequences", "[joins]") {
  Joins joins;
  joins.define("function shifted(v) = {x - y : x in v; y in [5] ++ take(v, #v - 1)}");
  joins.define("function back(v) = {x - 2 * y : x in v; y in drop(v, 1) ++ [#v]}");
  joins.define(
      "function turned(v, k) = {x + 3 * a - b : x in v; a in rotate(v, k); b in rotate(v, -2)}");
  joins.define("function row(v) = {a + b : a in [0] ++ v; b in v ++ [0]}");
  joins.define("function padded(v, k) = {a - b : a in dist(7, k) ++ v; b in v ++ dist(9, k)}");
  joins.define("function of_three(v) = {2 * x + y : x in v ++ [1] ++ v; y in [4] ++ v ++ v}");
  joins.define(
      "function halves(v, k) = {x * x - i : x in drop(v, k) ++ take(v, k); i in index(#v)}");
  for (const int n : kBorderLengths) {
    joins.define(fmt::format("v = numbers({}, 3)", n));
    for (const char* call :
         {"shifted(v)", "back(v)", "turned(v, 1)", "turned(v, #v / 2)", "row(v)", "padded(v, 3)",
          "padded(v, 600)", "of_three(v)", "halves(v, #v / 3)", "halves(v, 0)", "halves(v, #v)"}) {
      joins.check(fmt::format("tell({})", call));
    }
  }
}

TEST_CASE("loops over joined sequences", "[joins]") {
  Joins joins;
  joins.define(
      "function heat(u, k) = if k == 0 then u else heat({a + 0.25 * (l - 2.0 * a + r) : a in u; "
      "l in rotate(u, 1); r in rotate(u, -1)}, k - 1)");
  joins.define(
      "function pascal(row, k) = if k == 0 then row else "
      "pascal({rem(a + b, 1009) : a in [0] ++ row; b in row ++ [0]}, k - 1)");
  joins.define(
      "function smoothed(v, k) = if k == 0 then v else smoothed({(a + b) / 2 : a in "
      "[v[0]] ++ take(v, #v - 1); b in drop(v, 1) ++ [v[#v - 1]]}, k - 1)");
  joins.check(
      "let n = 300 + rand(1) in tell({round(1000.0 * x) : x in "
      "heat({float(x) : x in numbers(n, 1)}, 900)})");
  joins.check("tell(pascal([1], 900 + rand(1)))");
  joins.check("tell(smoothed(numbers(700 + rand(1), 2), 500))");
}

TEST_CASE("joined texts", "[joins]") {
  Joins joins;
  joins.define("function codes(s) = tell({char_code(c) : c in s})");
  for (const int n : kBorderLengths) {
    joins.define(fmt::format("s = {{code_char(97 + rem(i, 26)) : i in index({})}}", n));
    joins.check("codes({if a == b then `= else a : a in s; b in \" \" ++ take(s, #s - 1)})");
    joins.check("tell({max(char_code(a), char_code(b)) : a in s ++ \"xyz\"; b in \"xyz\" ++ s})");
  }
}

TEST_CASE("what fails in joined sequences says so", "[joins]") {
  Joins joins;
  joins.define("function divided(v) = {100 / x : x in [3] ++ take(v, #v - 1)}");
  joins.define("function longer(v) = {a + b : a in v; b in [1] ++ v}");
  joins.define("function cut(v, k) = {a + b : a in v; b in take(v, k) ++ drop(v, k)}");
  for (const int n : {3, 300'001}) {
    joins.define(fmt::format("v = {{rem(i, {}) : i in [1:{}]}}", n - 1, n + 1));
    for (const char* call : {"divided(v)", "longer(v)", "cut(v, #v + 1)", "cut(v, -1)"}) {
      joins.check(fmt::format("tell({})", call));
    }
  }
}

/// Sequences as long as v, made of parts of v and w.
class RandomJoin : RandomTexts {
 public:
  explicit RandomJoin(unsigned seed) : RandomTexts(seed) {}

  std::string sequence(int depth) {
    if (depth == 0) return one_of({"v", "w"});
    const std::string inner = sequence(depth - 1);
    switch (below(6)) {
      case 0:
        return fmt::format("rotate({}, {})", inner, one_of({"1", "k", "-1", "#v - 1", "0"}));
      case 1:
        return fmt::format("([{}] ++ take({}, #v - 1))", one_of({"4", "k", "v[0]", "#w"}), inner);
      case 2:
        return fmt::format("(drop({}, k) ++ take({}, k))", inner, sequence(depth - 1));
      case 3:
        return fmt::format("(dist({}, k) ++ drop({}, k))", one_of({"6", "k"}), inner);
      case 4:
        return fmt::format("(take({}, #v - k) ++ numbers(k, 2))", inner);
      default:
        return fmt::format("{{x {} y : x in {}; y in {}}}", one_of({"+", "-", "*"}), inner,
                           sequence(below(depth)));
    }
  }
};

TEST_CASE("random joins are what they are made of", "[joins]") {
  const int count = ::testing::some_of(60, "NESL_JOINS");
  Joins joins;
  for (int seed = 1; seed <= count; ++seed) {
    RandomJoin random(static_cast<unsigned>(seed));
    const std::string body = random.sequence(3);
    INFO(seed << ": " << body);
    joins.define(fmt::format("function joined(v, w, k) = tell({{rem(x, 1009) : x in {}}})", body));
    for (const int n : {5, 40'000}) {
      for (const int k : {0, 1, n / 2, n}) {
        joins.check(
            fmt::format("let n = {} + rand(1) in joined(numbers(n, 1), numbers(n, 5), {})", n, k));
      }
    }
  }
}

TEST_CASE("a join that is also made is read where its parts lie", "[joins]") {
  // Its parts have lengths that the kernel itself would compute. A program that nesl-random found.
  Joins joins;
  joins.define("datatype cell(a, int) :: (a in any)");
  const std::string outcome = joins.check(
      "{v : (k, v) in int_collect({(mod(i, 3), x) : x in ({(f, `a) : v17 in (let s = (let v14 = "
      "bottop(([] cell(char))) in if #v14 == 0 then ([] cell(char)) else v14[mod(0, #v14)]) in "
      "if #s == 0 then s else (let (r, l) = rest_tail(s) in [l] ++ r))}); i in index(1)})}[0]");
  CHECK(outcome.find("length") != std::string::npos);
}

TEST_CASE("the length of a part is not made of a sum in the same kernel", "[joins]") {
  // A size of a kernel cannot be. A program that nesl-random found.
  Joins joins;
  joins.define("v = [3, 1, 4, 1, 5, 9, 2, 6]");
  joins.check_passes();
  joins.check(
      "let k = (let s = [] int in sum({sum({max(x - y, 0) : x in s}) : y in s})) in "
      "{(let w = rotate(v, k) in if #w == 0 then 0 else w[mod(0, #w)]) : p in [1, 2, 3]}");
}

}  // namespace
}  // namespace neslc::testing
