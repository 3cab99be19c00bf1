// Reductions of a few elements for each of many instances, whose number only the run knows.
#include <string>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"

namespace neslc::testing {
namespace {

class Unrolled : public BothLevels {
 public:
  Unrolled() {
    define(
        "function table(h, w) = {{float(rem(7 * i + 3 * j, 11)) / 10.0 : j in [0:w]} : i in "
        "[0:h]}");
    define("weights = {{float(i - j) / 7.0 : j in [0:3]} : i in [0:3]}");
    define("row = [0.1, 0.7, -0.3, 0.2]");
  }
  /// `n` is as large as `size` says, but unknown.
  std::string check_form(const std::string& form, int size) {
    return check(fmt::format(
        "let n = {} + rand(1); m = table(n, n); v = {{i * i : i in [0:n]}} in {}", size, form));
  }
};

TEST_CASE("sums of a few elements for each instance", "[unrolled]") {
  Unrolled unrolled;
  const char* const forms[] = {
      "{sum({k * i : k in [0:3]}) : i in v}",
      "{sum({m[i][k] * row[k] : k in [0:4]}) : i in [0:n - 3]}",
      "{sum({x * y : x in row; y in m[i]}) : i in [4:5]}",
      "{{sum({sum({w * m[i + a][j + b] : w in r; b in index(3)}) : r in weights; a in index(3)})"
      " : j in index(#m[0] - 2)} : i in index(n - 2)}",
      "{{sum({sum({weights[a][b] * m[i + a][j + b] : b in [0:3]}) : a in [0:3]})"
      " : j in [0:n - 2]} : i in [0:n - 2]}",
      "{{sum({sum({m[max(0, min(n - 1, i + a))][max(0, min(n - 1, j + b))] : b in [-1:2]})"
      " : a in [-1:2]}) : j in [0:n]} : i in [0:n]}",
      "{{count({(a != 0 or b != 0) and m[i + a][j + b] > 0.5 : a in [-1:2]; b in [-1:2]})"
      " : j in [1:n - 1]} : i in [1:n - 1]}",
      "{{sum({sum({weights[a][b] : b in [0:#weights[0]]}) + m[i][j] : a in [0:#weights]})"
      " : j in [0:n]} : i in [0:n]}",
      "{max_val({v[i + d] * d : d in [0:5]}) : i in [0:n - 4]}",
      "{min_val({m[i][d] - row[d] : d in [0:4]}) : i in [0:n - 3]}",
      "{max_val({row[d] / float(v[i] + d) : d in [0:4]}) : i in [0:n - 3]}",
      "{any({v[i] == d : d in [0:6]}) : i in [0:n]}",
      "{all({v[i] > d : d in [0:6]}) : i in [0:n]}",
      "{sum({d / x : d in [1:4]}) : x in v}",
      "{sum({sum({x + k + l : l in [0:2]}) : k in [0:2]}) : x in v}",
      "{sum({x * k + l : k in [0:3]; l in [5:8]}) : x in v}",
      "{sum({v[x + k] : k in [-1:2]}) : x in [0:n]}",
      // Rows of different lengths, some of which are empty, and of elements that are not there.
      "let r = {index(rem(i, 4)) : i in [0:n]} in "
      "{{sum({r[i + a][j] * a : a in [0:3]}) : j in index(#r[i])} : i in [0:n - 2]}",
      "let r = {index(9 - rem(i, 2)) : i in [0:n]} in "
      "{{sum({r[i + a][j + a] : a in [0:2]}) : j in [0:#r[i] - 2]} : i in [0:n - 1]}",
      "{{sum({rem(i + a, #s) + j : a in [0:3]}) : j in s} : i in v; s in {index(rem(x, 3)) : x in "
      "v}}",
      "{sum({rem(x, k) : k in [-1:2]}) : x in v}",
      "{sum({v[rem(x + k + n, n)] : k in [-1, 0, 1]}) : x in v}",
      "{max_val({m[i + a][b] : (a, b) in [(-1, 0), (1, 0), (0, 1)]}) : i in [1:n - 1]}",
      "{let d = {x * k : k in [0:4]} in (sum(d), max_val(d), d) : x in v}",
      // Some of rows of equal length.
      "let w = table(n, 4) in {sum({x * y : x in r; y in row}) : r in take(w, n / 2)}",
      "let w = table(n, 4) in {(sum(r), #r, max_val(r)) : r in w | r[1] > 0.3}",
      "let w = table(n, 3) in {{sum({x * x : x in r}) : r in drop(w, k)} : k in [0:min(n, 3)]}",
      "let w = table(n, 4) in {sum({x * y : x in r; y in row}) : r in w -> {rem(x, n) : x in v}}",
      "let w = table(n, 4) in {sum({x : x in r | x > 0.2}) : r in reverse(w) | #r == 4}",
      "{sum({0.0 * float(k - i) : k in [0:2]}) : i in v}",
      "{sum({-0.0 * float(k) : k in [0:2]}) : i in v}",
      "{sum({rand(k + 1) : k in [0:2]}) - sum({rand(1) : k in [0:2]}) * 0 : i in v}",
  };
  for (const char* const form : forms) {
    for (const int size : {0, 1, 2, 5, 40}) unrolled.check_form(form, size);
  }
}

TEST_CASE("FLOATs of short segments are added from left to right", "[unrolled]") {
  Unrolled unrolled;
  unrolled.define("big = [1.0, 1e16, -1e16, 1.0]");
  CHECK(unrolled.check_form("{sum({x * big[k] : k in [0:4]}) : x in dist(1.0, n)}", 2) ==
        "[1.0, 1.0]");
  // What a sum begins with turns -0.0 into 0.0.
  CHECK(unrolled.check_form("{1.0 / sum({-0.0 * x : k in [0:2]}) : x in dist(1.0, n)}", 2) ==
        unrolled.check_form("{1.0 / x : x in dist(0.0, n)}", 2));
}

}  // namespace
}  // namespace neslc::testing
