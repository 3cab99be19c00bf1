// What is the same for all instances of an apply-to-each is computed once for them, and not at all
// where there are none.
#include <string>

#include <catch2/catch.hpp>

#include "both_levels.hpp"

namespace neslc::testing {
namespace {

TEST_CASE("the same values as by instance", "[invariants]") {
  BothLevels both;
  both.define("function norm(v) = if #v > 3 then norm(drop(v, 1)) else sum(v)");
  both.define("function all_rows(m) = {{x + norm(r) : x in r} : r in m}");
  CHECK(both.check("let v = [1, 2, 3, 4] in {x - norm(v) : x in v}") == "[-8, -7, -6, -5]");
  CHECK(both.check("all_rows([[1, 2, 3, 4], [] int, [5], [7, 8]])") ==
        "[[10, 11, 12, 13], [], [10], [22, 23]]");
  // Sequences, tuples, and sequences of sequences.
  both.define("function halves(v) = if #v > 4 then halves(drop(v, 2)) else (v, [v, [#v]], 0.5)");
  CHECK(both.check("{let (a, b, c) = halves(r) in (x + a[0], #b[0], c) "
                   ": x in [1, 2]; r in [[3, 4], [5]]}") == "[(4, 2, 0.5), (7, 1, 0.5)]");
  CHECK(both.check("{{let (a, b, c) = halves(r) in (x + a[0], #b[0], c) : x in r} "
                   ": r in [[3, 4], [] int, [5]]}") ==
        "[[(6, 2, 0.5), (7, 2, 0.5)], [], [(10, 1, 0.5)]]");
  // In the arms of conditionals, of which some instances take none.
  CHECK(both.check("{{if x > 4 then x + norm(r) else sum({y * y : y in r}) : x in r} "
                   ": r in [[3, 4], [5, 1], [] int, [9]]}") == "[[25, 25], [11, 26], [], [18]]");
  // Of what is in between: the same for the inner instances only, or for all.
  CHECK(both.check("let w = [1, 2] in {{{x + norm(s) + norm(w) : x in s} : s in r} : r in "
                   "[[[1], [2, 3]], [[4]]]}") == "[[[5], [10, 11]], [[11]]]");
}

TEST_CASE("nothing is computed where there is no instance", "[invariants]") {
  BothLevels both;
  both.define("function checked(v) = if #v > 3 then checked(drop(v, 1)) else v[2] / v[1]");
  CHECK(both.check("{{x + checked(r) : x in drop(r, 1)} : r in [[7, 2, 8], [0], [1, 0, 1, 4]]}") ==
        "[[6, 12], [], [4, 5, 8]]");
  CHECK(both.check("let v = [0] in {x + checked(v) : x in drop(v, 1)}") == "[]");
  CHECK(both.check("let v = [0] in {if x > 0 then x + checked(v) else x : x in v}") == "[0]");
  // Only a lack of instances ends this recursion.
  both.define("function tree(v) = 1 + sum({tree(drop(v, 1)) : x in drop(v, 1)})");
  CHECK(both.check("tree([1, 2, 3, 4])") == "16");
  both.define("function sums(v) = {x + sum(sums(drop(v, 1))) : x in drop(v, 1)}");
  CHECK(both.check("sums([1, 2, 3])") == "[5, 6]");
}

TEST_CASE("elements are checked where there are instances", "[invariants]") {
  BothLevels both;
  const std::string outside = "this index is outside the sequence";
  const std::string outer = "let v = [1, 2] in {{v[i] + j : j in [0:n]} : i in ";
  CHECK(both.check(outer + "[0, 7, 1]; n in [2, 0, 1]}") == "[[1, 2], [], [2]]");
  CHECK(both.check(outer + "[0, 7, 1]; n in [2, 1, 1]}") == outside);
  CHECK(both.check(outer + "[0, -1, 5]; n in [2, 1, 0]}") == outside);
  const std::string same = "let v = [] int in {v[3] : j in ";
  CHECK(both.check(same + "[0:0]}") == "[]");
  CHECK(both.check(same + "[0:1]}") == outside);
  const std::string arm = "let v = [5]; k = 3 in {if j > 0 then v[k] else j : j in ";
  CHECK(both.check(arm + "[0:1]}") == "[0]");
  CHECK(both.check(arm + "[0:2]}") == outside);
  // Of rows, some of which are too short, or empty.
  const std::string column = "; k = 1 in {{d[i][k] + j : j in [0:1 - i]} : i in [0:2]}";
  CHECK(both.check("let d = [[1, 2], [] int]" + column) == "[[2], []]");
  CHECK(both.check("let d = [[1], [2, 3]]" + column) == outside);
  CHECK(both.check("let d = [] [int]; k = 0 in {{d[i][k] : j in [0:0]} : i in [0:2]}") ==
        "[[], []]");
  // Indices that are elements, and that fail themselves.
  CHECK(both.check("let v = [2, 0, 1] in {{v[v[i]] + v[v[v[i]]] * j : j in [0:3]} : i in [0:3]}") ==
        "[[1, 1, 1], [2, 3, 4], [0, 2, 4]]");
  const std::string divided = "let v = [1, 2] in {{v[i / n] + j : j in [0:n]} : i in [0, 3]; n in ";
  CHECK(both.check(divided + "[0, 2]}") == "[[], [2, 3]]");
  CHECK(both.check(divided + "[0, 1]}") == outside);
  // Functions that fail, large enough to be called.
  both.define(
      "function part(i) = let a = 100 / i; b = a * a - i; c = b + a * i; d = c - b * a; "
      "e = d + c * b; g = e - d + c - b; h = rem(g + e * d, 7) in rem(h * h + g, 2) + 1");
  CHECK(both.check("let v = [5, 6, 7, 8] in {{v[part(i)] + j : j in [0:n]} : i in [0, 3]; n in "
                   "[0, 2]}") == "[[], [6, 7]]");
  // In loops between.
  CHECK(both.check("{{{r[i] + s[i + 1 - 1] + x : x in s | s[0] > 3} : s in [[1, 2], [4, 5]]; i in "
                   "[0, 1]} : r in [[7, 8], [9, 10]]}") == "[[[], [17, 18]], [[], [19, 20]]]");
}

TEST_CASE("elements that are the same in an inner loop are fetched for the outer one",
          "[invariants]") {
  Evaluations evaluations(3);
  const std::string pairs = evaluations.compiled(
      "let n = 3 + rand(1); v = {rem(i * 7, 5) : i in [0:n]} "
      "in {sum({(v[i] - v[j]) * (v[i] - v[j]) : j in [0:n]}) : i in [0:n]}");
  INFO(pairs);
  // One kernel goes through all pairs, and nothing but one sum does.
  const auto reduction = pairs.find(" = REDUCE ");
  REQUIRE(reduction != std::string::npos);
  CHECK(pairs.find(" = REDUCE ", reduction + 1) == std::string::npos);
  CHECK(pairs.find("[(SEGNO ") != std::string::npos);
  CHECK(pairs.find("[(SEGOFF ") != std::string::npos);
}

TEST_CASE("what has effects has them for each instance", "[invariants]") {
  BothLevels both;
  both.define("function draws(n, k) = if k == 0 then rand(n) else draws(n, k - 1)");
  CHECK(both.check("let n = 1000000 in #{a in {draws(n, 2) + 0 * x : x in index(50)} | a < 0}") ==
        "0");
  CHECK(both.check("let n = 1000000; a = {draws(n, 2) + 0 * x : x in index(50)} "
                   "in #remove_duplicates(a) > 40") == "T");
  // Also in functions that are handed to others, as values of their own, or with an argument.
  const char* const counted = " in #remove_duplicates(a) > 40";
  both.define("function called(g, v, k) = if k == 0 then g(v[0]) else called(g, v, k - 1)");
  for (const char* const function : {"(y => rand(y))", "rand", "let g = (y => rand(y)) in g",
                                     "closure(((z, y) => rand(y)), 1)"}) {
    const std::string values = "let n = 1000000; h = " + std::string(function) +
                               "; a = {called(h, [n], 2) + 0 * x : x in index(50)}";
    CHECK(both.check(values + counted) == "T");
    const std::string handed = "let n = 1000000; a = {called(" + std::string(function) +
                               ", [n], 2) + 0 * x : x in index(50)}";
    CHECK(both.check(handed + counted) == "T");
  }
  // As a variable of the top level, which a function uses that has its name.
  both.define("function draw(y) = rand(y)");
  both.define("drawn = draw");
  both.define("function draw(y) = if y < 0 then drawn(y) else rand(y)");
  CHECK(both.check("let n = 1000000; a = {called(drawn, [n], 2) + 0 * x : x in index(50)}" +
                   std::string(counted)) == "T");
  CHECK(both.check("let n = 1000000; a = {called(draw, [n], 2) + 0 * x : x in index(50)}" +
                   std::string(counted)) == "T");
}

}  // namespace
}  // namespace neslc::testing
