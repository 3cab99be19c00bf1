// Grids and rings, and the ways in which programs say who is beside whom: the optimizer proves that
// places lie inside, and finds rows in them. Lengths come from outside, and short and long vectors
// go different ways.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "both_levels.hpp"
#include "sanitized.hpp"

namespace neslc::testing {
namespace {

const char* const kGrids[] = {
    // The next and the last place by remainders, by conditionals, and kept at the border.
    "function around(n) = {(rem(i + n - 1, n), rem(i + 1, n)) : i in index(n)}",
    "function chosen(n) = {((if i == 0 then n - 1 else i - 1), if i == n - 1 then 0 else i + 1) "
    ": i in index(n)}",
    "function kept(n) = {(max(i - 1, 0), min(i + 1, n - 1)) : i in index(n)}",
    "function back(i, n) = if i < 0 then i + n else if i >= n then i - n else i",
    "function grid(n) = {{rem(i * i + 3 * i * j + 7 * j, 23) : j in index(n)} : i in index(n)}",
    // A cell and its neighbours, with different sizes and forms.
    "function ring(g) = let n = #g; m = #g[0] in {{let u = rem(i + n - 1, n); d = rem(i + 1, n); "
    "l = rem(j + m - 1, m); r = rem(j + 1, m) in g[u][l] + 2 * g[i][r] + 3 * g[d][j] + g[i][j] "
    ": j in index(m)} : i in index(n)}",
    "function known(g, n) = {{let u = rem(i + n - 1, n); d = rem(i + 1, n); l = rem(j + n - 1, n); "
    "r = rem(j + 1, n) in g[u][l] + 2 * g[i][r] + 3 * g[d][j] + g[i][j] "
    ": j in index(n)} : i in index(n)}",
    "function by_rows(g) = let n = #g; m = #g[0] in {{let above = g[rem(i + n - 1, n)]; row = "
    "g[i]; "
    "below = g[rem(i + 1, n)] in above[rem(j + m - 1, m)] + 2 * row[rem(j + 1, m)] + 3 * below[j] "
    "+ row[j] : j in index(m)} : i in index(n)}",
    "function chosen_ring(g, n) = {{let u = if i == 0 then n - 1 else i - 1; d = if i == n - 1 "
    "then 0 else i + 1; l = if j == 0 then n - 1 else j - 1; r = if j == n - 1 then 0 else j + 1 "
    "in g[u][l] + 2 * g[i][r] + 3 * g[d][j] + g[i][j] : j in index(n)} : i in index(n)}",
    "function border(g) = let n = #g; m = #g[0] in {{g[max(i - 1, 0)][max(j - 1, 0)] + "
    "2 * g[i][min(j + 1, m - 1)] + 3 * g[min(i + 1, n - 1)][j] + g[i][j] "
    ": j in index(m)} : i in index(n)}",
    "function offsets(g, n) = {{sum({k * g[back(i + a, n)][back(j + b, n)] "
    ": (a, b) in [(-1, -1), (0, 1), (1, 0), (0, 0)]; k in [1, 2, 3, 1]}) "
    ": j in index(n)} : i in index(n)}",
    "function at(g, i, j, n) = if i < 0 or i >= n or j < 0 or j >= n then 0 else g[i * n + j]",
    "function flat(g, n) = flatten({{at(g, i - 1, j - 1, n) + 2 * at(g, i, j + 1, n) + "
    "3 * at(g, i + 1, j, n) + 4 * at(g, i + 1, j + 1, n) + g[i * n + j] "
    ": j in index(n)} : i in index(n)})",
    "function divided(g, n) = {let i = c / n; j = rem(c, n) in g[rem(i + n - 1, n) * n + j] + "
    "2 * g[i * n + rem(j + 1, n)] : c in index(n * n)}",
    // Several steps, so that what is known of lengths goes through recursion.
    "function reduced(g) = {{rem(x, 1000) : x in r} : r in g}",
    "function rings(g, k) = if k == 0 then g else rings(reduced(ring(g)), k - 1)",
    "function knowns(g, n, k) = if k == 0 then g else knowns(reduced(known(g, n)), n, k - 1)",
    "function rows(g, k) = if k == 0 then g else rows(reduced(by_rows(g)), k - 1)",
    "function chosens(g, n, k) = if k == 0 then g else chosens(reduced(chosen_ring(g, n)), n, "
    "k - 1)",
    "function borders(g, k) = if k == 0 then g else borders(reduced(border(g)), k - 1)",
    "function offs(g, n, k) = if k == 0 then g else offs(reduced(offsets(g, n)), n, k - 1)",
    "function flats(g, n, k) = if k == 0 then g else flats({rem(x, 1000) : x in flat(g, n)}, n, "
    "k - 1)",
    "function divideds(g, n, k) = if k == 0 then g else divideds({rem(x, 1000) "
    ": x in divided(g, n)}, n, k - 1)",
    "function digest(v) = (#v, sum(v), sum({rem((i + 1) * x, 10007) : x in v; i in index(#v)}))",
    "nothing = rand(1)",
};

TEST_CASE("neighbours in grids of sizes from outside") {
  BothLevels both;
  for (const char* form : kGrids) both.define(form);
  const auto digest = [&](int n, const std::string& grid) {
    return both.check("let n = " + std::to_string(n) + " + nothing; g = grid(n) in digest(" + grid +
                      ")");
  };
  for (const int n : ::testing::some_sizes({1, 2, 3, 7, 24, 40, 130, 210})) {
    const std::string around = digest(n, "flatten(rings(g, 3))");
    CHECK(around.find("outside") == std::string::npos);
    CHECK(digest(n, "flatten(knowns(g, n, 3))") == around);
    CHECK(digest(n, "flatten(rows(g, 3))") == around);
    CHECK(digest(n, "flatten(chosens(g, n, 3))") == around);
    CHECK(digest(n, "flatten(offs(g, n, 3))") == around);
    digest(n, "flatten(borders(g, 3))");
    digest(n, "flats(flatten(g), n, 3)");
    digest(n, "divideds(flatten(g), n, 3)");
  }
  CHECK(digest(2, "flats(flatten(g), n, 1)") == "(4, 135, 254)");
  CHECK(digest(3, "flatten(borders(g, 1))") == "(9, 614, 3193)");
}

TEST_CASE("neighbours in sequences of lengths from outside") {
  BothLevels both;
  for (const char* form : kGrids) both.define(form);
  both.define(
      "function ringed(v) = let n = #v in {v[l] - 2 * v[r] + v[i] : (l, r) in around(n); "
      "i in index(n)}");
  both.define(
      "function ring1(v, k) = if k == 0 then v else ring1({rem(v[rem(i + 1, #v)] + "
      "3 * v[rem(i + #v - 1, #v)] + v[i], 1000) : i in index(#v)}, k - 1)");
  both.define(
      "function kept1(v, k) = if k == 0 then v else kept1({v[max(i - 1, 0)] * 0.5 + "
      "v[min(i + 1, #v - 1)] : i in index(#v)}, k - 1)");
  for (const int n : {0, 1, 2, 5, 600, 5000}) {
    const std::string v =
        "let v = {rem(i * i, 37) : i in index(" + std::to_string(n) + " + nothing)} in ";
    both.check(v + "digest(ringed(v))");
    both.check(v + "digest(ring1(v, 4))");
    both.check(v + "let w = kept1({float(x) : x in v}, 4) in (#w, sum(w), w ++ [0.0] == [] float)");
    both.check(v + "digest({v[l] + 2 * v[r] : (l, r) in chosen(#v)})");
    both.check(v + "digest({v[l] + 2 * v[r] : (l, r) in kept(#v)})");
  }
  CHECK(both.check("let v = [1, 2, 4, 8] in ring1(v, 1)") == "[27, 9, 18, 21]");
}

TEST_CASE("places that leave a grid by one are found") {
  BothLevels both;
  for (const char* form : kGrids) both.define(form);
  const std::string outside = "this index is outside the sequence";
  for (const std::string n : {"1", "3", "40", "200"}) {
    const std::string grid = "let n = " + n + " + nothing; g = grid(n); v = flatten(g) in ";
    CHECK(both.check(grid + "{{g[i][rem(j + 1, n + 1)] : j in index(n)} : i in index(n)}") ==
          outside);
    CHECK(both.check(grid + "{{let r = g[i] in r[rem(j + 1, n + 1)] : j in index(n)} "
                            ": i in index(n)}") == outside);
    CHECK(both.check(grid + "{{let r = g[rem(i + 1, n + 1)] in r[j] : j in index(n)} "
                            ": i in index(n)}") == outside);
    CHECK(both.check(grid + "{{g[rem(i + n, n + 1)][j] : j in index(n)} : i in index(n)}") ==
          outside);
    CHECK(both.check(grid + "{v[rem(c + 1, n * n + 1)] : c in index(n * n)}") == outside);
    CHECK(both.check(grid + "{{v[(i + 1) * n + j] : j in index(n)} : i in index(n)}") == outside);
    CHECK(both.check(grid + "{{g[i][min(j + 1, n)] : j in index(n)} : i in index(n)}") == outside);
    CHECK(both.check(grid + "{{g[i][max(j - 1, -1)] : j in index(n)} : i in index(n)}") == outside);
    CHECK(both.check(grid + "{{g[i][if j == n - 1 then n else j + 1] : j in index(n)} "
                            ": i in index(n)}") == outside);
  }
  // Relations between lengths that some callers keep and others do not.
  both.define(
      "function cells(g, n, k) = if k == 0 then g else cells(flatten({{g[i * n + j] + 1 "
      ": j in index(n)} : i in index(n)}), n, k - 1)");
  CHECK(both.check("let n = 3 + nothing in cells(index(n * n), n, 2)") ==
        "[2, 3, 4, 5, 6, 7, 8, 9, 10]");
  CHECK(both.check("let n = 3 + nothing in (cells(index(n * n), n, 2)[1], "
                   "cells(index(n * n - 1), n, 2)[1])") == outside);
  CHECK(both.check("let n = 3 + nothing in cells(index(n * n + 1), n, 2)") ==
        "[2, 3, 4, 5, 6, 7, 8, 9, 10]");
  CHECK(both.check("{{rem(j + 4, n) : j in index(3)} : n in [1, 2, 5]}") ==
        "[[0, 0, 0], [0, 1, 0], [4, 0, 1]]");
  CHECK(both.check("{rem(i + 1, n) : i in [0, 1, 2]; n in [1, 0, 3]}").find("divi") !=
        std::string::npos);
}

}  // namespace
}  // namespace neslc::testing
