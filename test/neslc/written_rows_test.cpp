// Sequences written over sequences: those of the same lengths lie where the others did, and are
// written there; all others move what lies behind them.
#include <fmt/format.h>

#include "both_levels.hpp"

namespace neslc::testing {
namespace {

class Rows : public BothLevels {
 public:
  Rows() {
    define("nothing = rand(1)");
    define("function grid(n, m) = {{i * 100 + j : j in index(m)} : i in index(n)}");
    define("function ragged(n) = {{i * 100 + j : j in index(rem(i * 7, 4))} : i in index(n)}");
    define("function tell(v) = (#v, sum({x * (1 + rem(i, 101)) : x in v; i in index(#v)}))");
    define("function told(rows) = (tell({#r : r in rows}), tell(flatten(rows)))");
  }
};

TEST_CASE("rows written over rows of the same length, and of others", "[written]") {
  Rows rows;
  CHECK(rows.check("grid(3, 2) <- [(1, [7, 8])]") == "[[0, 1], [7, 8], [200, 201]]");
  CHECK(rows.check("grid(3, 2) <- [(1, [7])]") == "[[0, 1], [7], [200, 201]]");
  CHECK(rows.check("grid(3, 2) <- [(0, [1, 2, 3]), (2, [] int)]") == "[[1, 2, 3], [100, 101], []]");
  // The last one for a place wins.
  CHECK(rows.check("grid(2, 2) <- [(1, [7, 8]), (0, [1, 2]), (1, [5, 6])]") == "[[1, 2], [5, 6]]");
  CHECK(rows.check("grid(2, 2) <- [(1, [7, 8, 9]), (1, [5, 6])]") == "[[0, 1], [5, 6]]");
  CHECK(rows.check("grid(2, 2) <- [(1, [5, 6]), (1, [7, 8, 9])]") == "[[0, 1], [7, 8, 9]]");
  CHECK(rows.check("grid(2, 2) <- ([] (int, [int]))") == "[[0, 1], [100, 101]]");
  CHECK(rows.check("[\"ab\", \"cd\"] <- [(0, \"xy\")]") == "[\"xy\", \"cd\"]");
  CHECK(rows.check("[([1, 2], 3), ([4], 5)] <- [(1, ([6], 7))]") == "[([1, 2], 3), ([6], 7)]");
  CHECK(rows.check("[[[1], [2, 3]], [[4]]] <- [(0, [[5], [6, 7]])]") == "[[[5], [6, 7]], [[4]]]");
  CHECK(rows.check("[[[1], [2, 3]], [[4]]] <- [(0, [[5, 5], [6]])]") == "[[[5, 5], [6]], [[4]]]");
  CHECK(rows.check("put([[7, 8]], [1], grid(2, 2))") == "[[0, 1], [7, 8]]");
  for (const char* index : {"-1", "3"}) {
    CHECK(rows.check(fmt::format("grid(3, 2) <- [({} + nothing, [7, 8])]", index)) ==
          "this index is outside the sequence");
  }
  // What is overwritten is also used as it was.
  CHECK(rows.check("let g = grid(2, 2); h = g <- [(0, [7, 8])] in (g, h)") ==
        "([[0, 1], [100, 101]], [[7, 8], [100, 101]])");
}

TEST_CASE("rows written in loops and for each of many instances", "[written]") {
  Rows rows;
  rows.define(
      "function swaps(m, k) = if k == 0 then m else let i = rem(k * 7, #m); j = rem(k * 3, #m) in "
      "swaps(m <- [(i, m[j]), (j, m[i])], k - 1)");
  rows.define(
      "function cells(m, k) = if k == 0 then m else let i = rem(k * 7, #m) in "
      "cells((if #m[i] == 0 then m else m <- [(i, m[i] <- [(rem(k, #m[i]), k)])]), k - 1)");
  rows.define(
      "function grown(m, k) = if k == 0 then m else let i = rem(k * 7, #m) in "
      "grown(m <- [(i, m[i] ++ dist(k, rem(k, 2)))], k - 1)");
  for (const int n : {1, 5, 300}) {
    for (const char* const loop : {"swaps", "cells", "grown"}) {
      rows.check(fmt::format("told({}(grid({} + nothing, 40), 30))", loop, n));
      rows.check(fmt::format("told({}(ragged({} + nothing), 30))", loop, n));
    }
    for (const char* const length : {"3", "rem(k, 3)"}) {
      rows.check(
          fmt::format("told(flatten({{grid(n, 3) <- {{(rem(i, n), dist(k, {})) : i in "
                      "index(rem(k, 5))}} : n in [1:{}]; k in [1:{}]}}))",
                      length, n + 1, n + 1));
    }
  }
}

}  // namespace
}  // namespace neslc::testing
