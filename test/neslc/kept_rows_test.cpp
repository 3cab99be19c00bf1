// Rows that a filter keeps have the same elements whether they are copied or read where they lie.
#include <fmt/format.h>

#include "both_levels.hpp"

namespace neslc::testing {
namespace {

class Rows : public BothLevels {
 public:
  Rows() {
    define("function tell(v) = (#v, sum({x * (1 + rem(i, 101)) : x in v; i in index(#v)}))");
    define("function lengths(rows) = {#r : r in rows}");
    define("function told(rows) = (tell(lengths(rows)), tell(flatten(rows)))");
    define(
        "function table(n, m) = "
        "{{rem(i * 31 + j * 7, 1009) : j in index(rem(i * 7919, m + 1))} : i in index(n)}");
  }
};

// A few rows, short ones in blocks and tiles, and long ones.
const char* const kTables[] = {"table(0, 3)",   "table(1, 5)",      "table(9, 4)",
                               "table(300, 0)", "table(40000, 12)", "table(300, 1500)"};

TEST_CASE("rows that are kept, as a whole and in parts", "[rows]") {
  Rows rows;
  rows.define("function every(rows, k) = {r in rows; i in index(#rows) | rem(i, k) /= 0}");
  rows.define("function long(rows, k) = {r in rows | #r > k}");
  rows.define("function starts(rows, k) = {r[0] : r in long(rows, k)}");
  rows.define("function rests(rows, k) = {drop(r, k) : r in long(rows, k)}");
  rows.define("function ends(rows, k) = {r[#r - 1] + sum(take(r, 1)) : r in long(rows, k)}");
  rows.define("function sums(rows, k) = {sum(r) + #r : r in every(rows, k)}");
  rows.define("function twice(rows, k) = {{x * x + k : x in r} : r in every(long(rows, 1), k)}");
  rows.define("function both(rows, k) = {a in rows; b in rows | #a > k}");
  rows.define("function left(rows, k) = flatten(every(rows, k))");
  for (const char* const table : kTables) {
    for (const int k : {0, 1, 3, 1000}) {
      rows.define(fmt::format("v = {}", table));
      rows.define(fmt::format("k = {}", k));
      rows.check("told(every(v, k + 1))");
      rows.check("told(long(v, k))");
      rows.check("tell(starts(v, k))");
      rows.check("told(rests(v, k))");
      rows.check("tell(ends(v, k))");
      rows.check("tell(sums(v, k + 2))");
      rows.check("told(twice(v, k + 1))");
      rows.check("told(both(v, k))");
      rows.check("tell(left(v, k + 1))");
    }
  }
}

TEST_CASE("rows of rows that are kept, and rows for each of many", "[rows]") {
  Rows rows;
  rows.define("function groups(n) = {table(rem(i * 5, 7), i) : i in index(n)}");
  rows.define("function large(groups, k) = {g in groups | #g > k}");
  rows.define("function firsts(groups, k) = {{take(r, 1) : r in g} : g in large(groups, k)}");
  rows.define("function chosen(v, n) = {{r in v | #r > k} : k in index(n)}");
  rows.define("function heads(v, n) = {{r[0] : r in kept} : kept in chosen(v, n)}");
  for (const int n : {1, 40, 900}) {
    for (const int k : {0, 2, 6}) {
      rows.check(fmt::format("told(flatten(large(groups({}), {})))", n, k));
      rows.check(fmt::format("told(flatten(firsts(groups({}), {})))", n, k));
    }
    rows.check(fmt::format("told(flatten(chosen(table({}, 9), 5)))", n));
    rows.check(fmt::format("told(heads(table({}, 9), 5))", n));
  }
}

TEST_CASE("a loop that keeps all rows but one, and what it cannot fetch", "[rows]") {
  Rows rows;
  rows.define(
      "function reduced(rows, k) = if k == 0 or #rows == 0 then flatten(rows) else "
      "let at = max_index({r[0] : r in rows}); one = rows[at]; "
      "others = {r in rows; i in index(#rows) | i /= at} in "
      "reduced({{rem(x * 3 + y, 1009) : x in drop(r, 1); y in drop(one, 1)} : r in others}, "
      "k - 1)");
  rows.define("function square(n) = {{rem(i * 31 + j * j, 1009) : j in index(n)} : i in index(n)}");
  for (const int n : {1, 2, 7, 60, 200}) {
    for (const int k : {1, 2, n}) {
      rows.check(fmt::format("tell(reduced(square({} + rand(1)), {}))", n, k));
    }
  }
  rows.define("function places(v, k) = tell({r[#r - k] : r in {r in v | #r > 1}})");
  CHECK(rows.check("places(table(9, 4), 1)").starts_with("("));
  for (const char* const k : {"0", "3", "-1"}) {
    const std::string outside = rows.check(fmt::format("places(table(9, 4), {})", k));
    CHECK(outside.find("outside the sequence") != std::string::npos);
  }
}

}  // namespace
}  // namespace neslc::testing
