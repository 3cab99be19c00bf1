// Whether indices that go up or down evenly lie inside shows at their ends: the optimizer checks
// those alone. Where they go is told from outside, to one place before, at and behind the border.
#include <algorithm>
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"

namespace neslc::testing {
namespace {

constexpr const char* kOutside = "this index is outside the sequence";

class Bounds : public BothLevels {
 public:
  Bounds() {
    define("nothing = rand(1)");
    define("function tell(v) = (#v, sum({x * (1 + rem(i, 101)) : x in v; i in index(#v)}))");
    define("function numbers(n) = {rem(i * 7919, 1009) : i in index(n)}");
    define("function grid(n, m) = {{rem(i * 31 + j * 7, 1009) : j in index(m)} : i in index(n)}");
    define("function table(n) = {{i + j : j in index(rem(i * 7, 4))} : i in index(n)}");
  }
  /// The value, if all indices lie inside; else the failure.
  void check(const std::string& text, bool inside) {
    INFO(text);
    CHECK((BothLevels::check(text) != kOutside) == inside);
  }
};

TEST_CASE("indices of a sequence that go up or down", "[bounds]") {
  Bounds bounds;
  bounds.define("function up(v, a, b) = tell({v[i] : i in [a:b]})");
  bounds.define("function beside(v, a, b) = tell({v[i + 1] - v[i - 1] : i in [a:b]})");
  bounds.define("function down(v, a, b) = tell({v[b - i] : i in [a:b]})");
  bounds.define("function counted(v, a, n) = tell({v[i - a] * 2 : i in index(n)})");
  for (const int n : {1, 2, 9, 70'000}) {
    for (const int a : {-1, 0, 1}) {
      for (const int b : {n - 1, n, n + 1}) {
        const std::string given = fmt::format("(numbers({0}), {1} + nothing, {2})", n, a, b);
        if (b < a) continue;
        const bool any = b > a;
        bounds.check("up" + given, !any || (a >= 0 && b <= n));
        bounds.check("beside" + given, !any || (a >= 1 && b < n));
        bounds.check("down" + given, !any || (b - a < n));
        bounds.check(fmt::format("counted(numbers({}), {} + nothing, {})", n, a, b),
                     b <= 0 || (a <= 0 && b - a <= n));
      }
    }
  }
}

TEST_CASE("indices of the rows of a grid", "[bounds]") {
  Bounds bounds;
  bounds.define(
      "function around(g, a, b, c, d) = tell(flatten({{g[i - 1][j] + 2 * g[i][j + 1] + "
      "3 * g[i + 1][j - 1] : j in [c:d]} : i in [a:b]}))");
  bounds.define(
      "function turned(g, a, b, c, d) = tell(flatten({{let r = g[i] in r[d - j] * 3 + r[j] "
      ": j in [c:d]} : i in [a:b]}))");
  for (const int n : {1, 3, 40}) {
    for (const int m : {2, 3, 300}) {
      for (const int more : {-1, 0, 1}) {
        for (const int c : {0, 1, 2}) {
          const int rows = std::max(n - 1 + (more > 0 ? 1 : 0), 1), columns = m - 1 + more;
          if (columns < c) continue;
          const std::string given =
              fmt::format("(grid({}, {}), 1 + nothing, {}, {}, {})", n, m, rows, c, columns);
          const bool any = rows > 1 && columns > c;
          bounds.check("around" + given, !any || (rows < n && c >= 1 && columns < m));
          bounds.check("turned" + given, !any || (rows <= n && columns <= m && columns - c < m));
        }
      }
    }
  }
}

TEST_CASE("indices of rows of different lengths, some of them empty", "[bounds]") {
  Bounds bounds;
  bounds.define(
      "function all_of(rows, k) = tell(flatten({{r[j + k] : j in index(#r)} : r in rows}))");
  bounds.define(
      "function less(rows, k) = tell(flatten({{r[j + k] : j in index(max(#r - 1, 0))} "
      ": r in rows}))");
  bounds.define(
      "function backwards(rows, k) = tell(flatten({{r[#r - 1 - j + k] : j in index(#r)} "
      ": r in rows}))");
  bounds.define(
      "function others(rows, v, k) = tell(flatten({{v[j + k] : j in index(#r)} : r in rows}))");
  for (const int n : {1, 5, 3000}) {
    for (const int k : {-1, 0, 1}) {
      const bool empty = n == 1;
      const std::string given = fmt::format("(table({}), {} + nothing)", n, k);
      bounds.check("all_of" + given, empty || k == 0);
      bounds.check("less" + given, empty || k >= 0);
      bounds.check("backwards" + given, empty || k == 0);
      bounds.check(fmt::format("others(table({}), numbers(3), {} + nothing)", n, k),
                   empty || k == 0);
      bounds.check(fmt::format("others(table({}), numbers(4), {} + nothing)", n, k),
                   empty || k >= 0);
    }
  }
}

TEST_CASE("indices that wrap around are outside", "[bounds]") {
  Bounds bounds;
  for (const char* const start : {"2147483646", "2147483647", "-2147483647", "-2"}) {
    bounds.check(fmt::format("tell({{numbers(9)[i + {} + nothing] : i in [0:5]}})", start), false);
    bounds.check(fmt::format("tell({{numbers(9)[{} + nothing - i] : i in [0:5]}})", start), false);
  }
  bounds.check("tell({numbers(9)[i - 2147483647 + nothing] : i in [2147483647:2147483647]})", true);
}

}  // namespace
}  // namespace neslc::testing
