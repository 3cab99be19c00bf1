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
}

}  // namespace
}  // namespace neslc::testing
