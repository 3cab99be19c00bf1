// Loops that change elements of their sequences: in kernels, which write them in place, they give
// what the calls give, failures included.
#include <initializer_list>
#include <string>
#include <vector>

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

class TableLoops : public BothLevels {
 public:
  /// How many writes do the kernels for an expression have?
  std::size_t writes(const std::string& text) {
    return occurrences(optimized_.compiled(text), "WRITE v");
  }
};

TEST_CASE("loops write elements of their sequences", "[tables]") {
  for (
      const FunctionExample& one : std::initializer_list<FunctionExample>{
          {{"filled(v, i) = if i == #v then v else filled(rep(v, i * i, i), i + 1)"},
           {"filled(dist(0, 5), 0)", "filled(index(40), 3)", "filled([7], 0)",
            "{filled(dist(1, n), 0) : n in [1:4]}"}},
          // What was written before is read.
          {{"sums(v, i) = if i == #v then v else sums(rep(v, rem(v[i - 1] + v[i - 2], 1000), i), "
            "i + 1)"},
           {"sums(rep(dist(0, 50), 1, 1), 2)", "sums([3, 4], 2)", "sums(dist(1, 4), 1)"}},
          // A number of a sequence as the result, and conditions.
          {{"cells(w, c, i) = if i == #w then w else cells((if i >= c then rep(w, w[i] + w[i - c], "
            "i) else w), c, i + 1)",
            "ways(w, coins, k) = if k == #coins then w[#w - 1] else ways(cells(w, coins[k], 0), "
            "coins, k + 1)"},
           {"ways(rep(dist(0, 101), 1, 0), [1, 5, 10, 25, 50], 0)"}},
          // Two elements at once, of which one may be the other.
          {{"swapped(v, i, j) = if i >= j then v else swapped(rep(rep(v, v[j], i), v[i], j), i + "
            "1, j - 1)",
            "pass(v, i) = if i == #v - 1 then v else if v[i] > v[i + 1] then pass(rep(rep(v, v[i + "
            "1], i), v[i], i + 1), i + 1) else pass(v, i + 1)",
            "sorted(v, k) = if k == 0 then v else sorted(pass(v, 0), k - 1)"},
           {"swapped([1, 2, 3, 4, 5], 0, 4)", "swapped([1, 2], 0, 1)", "sorted([5, 1, 4, 2, 3], 5)",
            "sorted({rem(i * 37, 101) : i in index(100)}, 100)"}},
          // Several elements at once, by pairs that are written down, and short sequences of
          // numbers.
          {{"turned(v, i, j) = if i >= j then v else turned(v <- [(i, v[j]), (j, v[i])], i + 1, j "
            "- "
            "1)",
            "marked(v, i) = if i == #v then v else marked(v <- [(i, i), (0, v[i] + 1), (i, 7)], i "
            "+ "
            "1)",
            "steps(v, i) = let d = [1, 3, 2, i] in if i >= #v then v else steps(rep(v, sum(d) + "
            "max_val(d) * d[rem(i, 4)], i), i + d[rem(i, 3)])"},
           {"turned([1, 2, 3, 4, 5], 0, 4)", "turned([1, 2], 0, 2)", "marked(dist(9, 4), 1)",
            "steps(dist(0, 12), 0)"}},
          // Loops inside read what the outer one writes.
          {{"root(p, x) = if p[x] == x then x else root(p, p[x])",
            "joined(p, es, k) = if k == #es then p else let (a, b) = es[k]; ra = root(p, a); rb = "
            "root(p, b) in joined((if ra == rb then p else rep(p, ra, rb)), es, k + 1)"},
           {"joined(index(8), [(0, 1), (2, 3), (1, 3), (5, 6), (0, 2)], 0)",
            "joined(index(3), [(0, 7)], 0)"}},
          // Loops inside write: one after the other, in conditions, in each other, before and
          // behind what the outer one reads and writes, with more results, and with a last write
          // that ends.
          {{"up(h, i) = if i == 0 then h else let p = (i - 1) / 2 in if h[p] <= h[i] then h else "
            "up(h <- [(p, h[i]), (i, h[p])], p)",
            "pushed(h, vs, k) = if k == #vs then h else pushed(up(rep(h, vs[k], k), k), vs, k + 1)",
            "down(h, n, i) = let l = 2 * i + 1 in if l >= n then h else let c = (if l + 1 < n then "
            "(if h[l + 1] < h[l] then l + 1 else l) else l) in if h[c] >= h[i] then h else down(h "
            "<- [(i, h[c]), (c, h[i])], n, c)",
            "popped(h, n) = if n == 0 then h else popped(down(h <- [(0, h[n]), (n, h[0])], n, 0), "
            "n - 1)",
            "shift(v, x, j) = if j == 0 then rep(v, x, 0) else if v[j - 1] > x then shift(rep(v, "
            "v[j - 1], j), x, j - 1) else rep(v, x, j)",
            "inserts(v, i) = if i == #v then v else inserts(shift(v, v[i], i), i + 1)",
            "sorted2(v) = inserts(popped(pushed(dist(0, #v), v, 0), #v - 1), 1)"},
           {"pushed(dist(0, 6), [5, 3, 8, 1, 9, 2], 0)", "popped([1, 2, 3, 4, 5, 6], 5)",
            "inserts([5, 3, 8, 1, 9, 2], 1)", "inserts([7], 1)",
            "sorted2({rem(i * 37, 101) : i in index(100)})"}},
          {{"root(p, x) = if p[x] == x then x else root(p, p[x])",
            "halved(p, x) = if p[x] == x then p else halved(rep(p, p[p[x]], x), p[x])",
            "joined(p, n, es, k) = if k == #es then (p, n) else let (a, b) = es[k]; ra = root(p, "
            "a); "
            "rb = root(p, b); q = halved(halved(p, a), b) in if ra == rb then joined(q, n, es, k + "
            "1) else joined(rep(q, ra, rb), n - 1, es, k + 1)"},
           {"joined(index(8), 8, [(0, 1), (2, 3), (1, 3), (5, 6), (0, 2)], 0)"}},
          {{"pops(a, st, r, n, i) = if n == 0 then (r, n) else if a[st[n - 1]] < a[i] then pops(a, "
            "st, rep(r, i, st[n - 1]), n - 1, i) else (r, n)",
            "higher(a, st, r, n, i) = if i == #a then r else let (q, m) = pops(a, st, r, n, i) in "
            "higher(a, rep(st, i, m), q, m + 1, i + 1)"},
           {"higher([2, 1, 5, 3, 4], dist(0, 5), dist(-1, 5), 0, 0)"}},
          // What is read as it was before comes before the loop that writes, wherever it stands.
          {{"low(i) = if rem(i, 2) == 1 then 1 else 2 * low(i / 2)",
            "added(c, i) = if i >= #c then c else added(rep(c, c[i] + 1, i), i + low(i))",
            "below(c, i, s) = if i == 0 then s else below(c, i - low(i), s + c[i])",
            "inversions(c, v, i, s) = if i == #v then (s, c) else inversions(added(c, v[i] + 1), "
            "v, "
            "i + 1, s + i - below(c, v[i] + 1, 0))"},
           {"inversions(dist(0, 9), [3, 1, 7, 0, 6, 2], 0, 0)"}},
          // Sequences of several vectors, of FLOATs, BOOLs and characters, and two of them.
          {{"pairs(ps, i) = if i == #ps then ps else let (a, x) = ps[i] in pairs(rep(ps, (a + 1, x "
            "* 0.5), i), i + 1)",
            "crossed(s, p, j) = if j >= #s then s else crossed(rep(s, F, j), p, j + p)",
            "sieve(s, i) = if i * i >= #s then s else sieve((if s[i] then crossed(s, i, i * i) "
            "else "
            "s), i + 1)",
            "upper(s, i) = if i == #s then s else upper((if s[i] == `a then rep(s, `A, i) else s), "
            "i "
            "+ 1)",
            "moved(v, w, i) = if i == #v then (v, w) else moved(rep(v, w[i], i), rep(w, v[i], i), "
            "i "
            "+ 1)"},
           {"pairs([(1, 2.0), (3, 5.0)], 0)", "sieve(dist(T, 30), 2)", "upper(\"banana\", 0)",
            "upper(\"\", 0)", "moved([1, 2, 3], [4, 5, 6], 0)", "moved([1, 2, 3], [4, 5], 0)"}},
          // The same sequence twice is two that differ from then on.
          {{"apart(v, w, i) = if i == #v then (v, w) else apart(rep(v, w[i] + 1, i), w, i + 1)",
            "twice(v) = apart(v, v, 0)"},
           {"twice([1, 2, 3])", "let v = [5, 6] in (v, twice(v), v)"}},
          // What is read behind a write in the same round, and writes of which the last one counts.
          {{"later(v, i, s) = if i == #v then (v, s) else let u = rep(v, i * 10, i); x = rep(u, "
            "u[rem(i * 3, #v)] + 1, rem(i * 2, #v)) in later(x, i + 1, s + x[i] + u[0])"},
           {"later(dist(1, 7), 0, 0)", "later([4, 4], 0, 1)"}},
          // Ends that are more than a number.
          {{"ends(v, i) = if i > 100 then reverse(v) ++ [i] else if i == #v then {x * 2 : x in v} "
            "else ends(rep(v, v[i] + i, i), i + 1)",
            "summed(v, i) = if i == #v then sum({x * x : x in v}) else summed(rep(v, i - v[i], i), "
            "i + 1)",
            "counted(n, s) = if n == 0 then {i * s : i in [0:5]} else counted(n - 1, s + n)"},
           {"ends([1, 2, 3], 0)", "ends([1], 200)", "ends(dist(1, 3), 7)", "summed([1, 2, 3], 0)",
            "counted(10, 0)"}},
      }) {
    for (const char* setting : kRoundSettings) {
      const tuned::Scope scope(tuned::from_environment() + "," + setting);
      TableLoops both;
      both.check(one);
      CHECK(both.writes(one.calls[0]) > 0);
    }
  }
}

TEST_CASE("what fails in a loop that writes says what it says without a kernel", "[tables]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    TableLoops both;
    both.define("function over(v, i) = if i > 10 then v else over(rep(v, i, i), i + 1)");
    CHECK(both.check("over([1, 2, 3], 0)").find("outside") != std::string::npos);
    CHECK(both.check("over(dist(0, 11), 0)").starts_with("[0, 1"));
    both.define(
        "function halves(v, i) = if i == #v then v else halves(rep(v, 12 / v[i], i), i + 1)");
    CHECK(both.check("halves([1, 2, 0, 3], 0)").find("division by zero") != std::string::npos);
    both.define(
        "function said(v, i) = if i == #v then error(\"at the end\") else said(rep(v, 1, i), i + "
        "1)");
    CHECK(both.check("said([1, 2], 0)").find("at the end") != std::string::npos);
  }
}

TEST_CASE("what fails in the middle of a round says the same", "[tables]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    TableLoops both;
    both.define(
        "function filled(v, x, i, n) = if n == 0 then v else filled(rep(v, x / v[i], i), x, i + 1, "
        "n - 1)");
    both.define(
        "function rows(v, k) = if k == 9 then v else rows(filled(rep(v, k, 0), 12 - k, 0, k), k + "
        "1)");
    CHECK(both.check("rows(dist(5, 9), 1)").find("division by zero") != std::string::npos);
    CHECK(both.check("rows(dist(1, 6), 8)").find("outside") != std::string::npos);
    CHECK(both.check("rows(dist(1, 9), 8)").starts_with("["));
    CHECK(both.writes("rows(dist(1, 9), 8)") > 2);
    // An end that is more than a number is given by the function itself, from the last state on.
    both.define(
        "function summed(v, k) = if k > 6 then error(\"so far\") else if v[k] > 5 then sum({x * x "
        ": "
        "x in v}) else summed(filled(v, 40 - k, 0, k), k + 1)");
    CHECK(both.check("summed([1, 2, 3, 6, 1, 1], 0)").find("defined") == std::string::npos);
    CHECK(both.check("summed(dist(2, 9), 1)").find("defined") == std::string::npos);
    CHECK(both.check("summed([50, 60, 70], 3)").find("outside") != std::string::npos);
    CHECK(both.check("summed(dist(1, 9), 7)").find("so far") != std::string::npos);
  }
}

TEST_CASE("what a round makes of a sequence is handed on as it was then", "[tables]") {
  for (const char* setting : kRoundSettings) {
    const tuned::Scope scope(tuned::from_environment() + "," + setting);
    TableLoops both;
    both.define("function g(v, n) = if n == 0 then v[0] else 2 * g(v, n - 1) - v[0]");
    both.define("function last(v, n) = if n == 0 then v[0] + v[1] else last(v, n - 1)");
    // To another recursion, …
    both.define(
        "function changed(v, n) = if n == 0 then 0 else 3 * changed(v, n - 1) - g(rep(v, n, 0), "
        "2)");
    both.define("function listed(n) = if n == 0 then 0 else 3 * listed(n - 1) - g([n, n * 2], 3)");
    CHECK(both.check("changed([7, 8], 4)") == "-58");
    CHECK(both.check("listed(5)") == both.check("{listed(n) : n in [5]}[0]"));
    // … and to a loop inside of the round.
    both.define(
        "function rounds(v, n, s) = if n == 0 then (v, s) else "
        "rounds(rep(v, s, 1), n - 1, s + last(rep(v, n, 0), n) + last([n, s], 2))");
    CHECK(both.check("rounds([7, 8], 5, 1)").find("defined") == std::string::npos);
    CHECK(both.writes("rounds([7, 8], 5, 1)") > 0);
    // … of which nothing is asked for, or only with the result of the next round.
    both.define("function marks(v, n) = if n < 1 then v[0] else marks(rep(v, 77, 1), n - 2)");
    both.define(
        "function unasked(v, n) = if n < 1 then v[1] else let i = marks(rep(v, n, 2), n) in "
        "unasked(rep(v, n + v[2], 1), n / 2)");
    both.define(
        "function behind(v, n) = if n < 1 then v[1] else let i = marks(rep(v, n, 2), n) in "
        "behind(rep(v, n + v[2], 0), n / 2) + i");
    CHECK(both.check("unasked([5, 6, 7], 9)") == "8");
    CHECK(both.check("behind([5, 6, 7], 9)") == "47");
  }
}

TEST_CASE("long loops write in place", "[tables]") {
  TableLoops both;
  both.define("function fill(v, i) = if i == #v then v else fill(rep(v, v[i - 1] + i, i), i + 1)");
  both.define("function last_of(v) = v[#v - 1]");
  CHECK(both.optimized("last_of(fill(dist(0, 50001), 1))") == "1250025000");
  // Each call writes an element: to copy the sequence for it would take minutes.
  both.define("function one(v, i, k) = if k == 0 then v else one(rep(v, k, i), i + 1, k - 1)");
  both.define(
      "function calls(v, k) = if k == 0 then v else calls(one(v, rem(k * 7, #v - 3), 3), k - 1)");
  CHECK(both.optimized("sum(calls(dist(0, 1000000), 20000))") == "120000");
}

/// Writes loops f of (v, w, x, k), where v is of INTs, w of FLOATs, and k counts down.
class RandomLoops : RandomTexts {
 public:
  explicit RandomLoops(unsigned seed) : RandomTexts(seed) {}

  std::string body() {
    const std::string end = result(), first = number(2, "v"), second = number(1, "u");
    const std::string u = ints(2, "v"), floats = this->floats(2, "u"), again = ints(1, "u");
    const std::string stops = below(2) == 0 ? " or x > 60" : "";
    return fmt::format(
        "if k < 1{} then {} else let a = {}; u = {} in f_(({}), ({}), rem({}, 50), k - 1)", stops,
        end, first, u, again, floats, second);
  }

  /// Of loops inside each other, which all may write: the innermost one, g_, is called in the
  /// rounds of h_, and both in those of f_.
  std::vector<std::string> nest() {
    const std::string g_end = ints(1, "v"), g_number = number(1, "v"), g_round = round(0);
    const std::string g_next = ints(1, "v"), g_x = small();
    const std::string h_end = floats(1, "v"), h_round = round(1);
    const std::string h_next = ints(1, "v"), h_floats = floats(1, "v"), h_x = small();
    const std::string f_end = result(), f_round = round(2);
    const std::string f_next = ints(1, "v"), f_floats = floats(1, "v"), f_x = small();
    return {
        fmt::format("g_(v, w, x, k) = if k < 1 or x > 60 then ({}, {}) else {} in "
                    "g_({}, w, {}, k - 1)",
                    g_end, g_number, g_round, g_next, g_x),
        fmt::format("h_(v, w, x, k) = if k < 1 then (v, {}, x) else {} in h_({}, {}, {}, k - 1)",
                    h_end, h_round, h_next, h_floats, h_x),
        fmt::format("f_(v, w, x, k) = if k < 1 then {} else {} in f_({}, {}, {}, k - 1)", f_end,
                    f_round, f_next, f_floats, f_x)};
  }

 private:
  /// Definitions of v, w and x anew, some of them by the first `loops` loops.
  std::string round(int loops) {
    std::string text = "let ";
    const int steps = 1 + below(3);
    for (int k = 0; k < steps; ++k) {
      if (k > 0) text += "; ";
      const int kind = below(loops == 0 ? 2 : 5);
      if (kind < 2) {
        text += kind == 0 ? "x = " + small() : "v = " + ints(2, "v");
        continue;
      }
      const bool first = loops == 1 || below(2) == 0;
      const std::string names = first ? "(v, x)" : "(v, w, x)", changed = ints(1, "v");
      const std::string floats = first ? "w" : this->floats(1, "v"), x = number(1, "v");
      const std::string rounds = number(1, "v");
      std::string call = fmt::format("{}({}, {}, {}, rem(abs({}), 4))", first ? "g_" : "h_",
                                     changed, floats, x, rounds);
      if (below(3) == 0) {
        const std::string left = number(1, "v"), right = number(1, "v");
        call = fmt::format("(if {} < {} then {} else {})", left, right, call, names);
      }
      text += names + " = " + call;
    }
    return text;
  }
  std::string small() { return fmt::format("rem({}, 50)", number(2, "v")); }

  /// `read`: the sequence of INTs that elements are read from.
  std::string number(int depth, const char* read) {
    if (depth < 1) return one_of({"x", "k", "3", "#v", "x - k"});
    const std::string first = number(depth - 1, read), second = number(depth - 1, read);
    switch (below(5)) {
      case 0:
        return fmt::format("{}[{}]", read, place(first));
      case 1:
        return fmt::format("(if {} < {} then {} else {})", first, second, second, first);
      case 2:
        return fmt::format("round(w[{}])", place(second));
      default:
        return fmt::format("rem({} {} {}, 100)", first, one_of({"+", "-", "*"}), second);
    }
  }
  /// Nearly always inside.
  std::string place(const std::string& number) {
    return below(60) == 0 ? number : fmt::format("rem(abs({}), 5)", number);
  }
  std::string ints(int depth, const char* from) {
    if (depth < 1 || below(5) == 0) return from;
    const std::string rest = ints(depth - 1, from), element = number(2, from);
    const std::string at = place(number(1, from)), other = number(1, from);
    if (below(3) == 0) {
      return fmt::format("(if {} < {} then {} else {})", element, other, rest,
                         ints(depth - 1, from));
    }
    if (below(4) == 0) {
      return fmt::format("({} <- [({}, {}), ({}, {})])", rest, at, element, place(number(1, from)),
                         other);
    }
    return fmt::format("rep({}, {}, {})", rest, element, at);
  }
  std::string floats(int depth, const char* read) {
    if (depth < 1 || below(3) == 0) return "w";
    const std::string rest = floats(depth - 1, read), at = place(number(1, read));
    return fmt::format("rep({}, w[{}] * 0.5 + 1.0, {})", rest, place(number(1, "v")), at);
  }
  std::string result() {
    return one_of(
        {"v", "(v, w, x)", "(x, sum(v))", "v[0] + x", "reverse(v)", "(v, {y * 2.0 : y in w})"});
  }
};

/// More of them with NESL_TABLES=N.
TEST_CASE("random loops that write", "[tables]") {
  const int count = ::testing::some_of(100, "NESL_TABLES");
  std::size_t writes = 0;
  for (int seed = 1; seed <= count; ++seed) {
    RandomLoops random(static_cast<unsigned>(seed));
    const std::string body = random.body();
    INFO(seed << ": " << body);
    const tuned::Scope scope(tuned::from_environment() + "," +
                             kRoundSettings[seed % std::size(kRoundSettings)]);
    TableLoops both;
    both.define("function f_(v, w, x, k) = " + body);
    for (const char* call :
         {"f_([1, 2, 3, 4, 5], [0.5, 1.5, 2.5, 3.5, 4.5], 3, 30)",
          "f_(index(6), dist(1.0, 6), 0, 7)", "f_(dist(2, 9), dist(0.0, 5), 9, 40)"}) {
      both.check(call);
      writes += both.writes(call);
    }
  }
  CHECK(writes > static_cast<std::size_t>(count));
}

TEST_CASE("random loops that write inside of others", "[tables]") {
  const int count = ::testing::some_of(100, "NESL_TABLES");
  std::size_t writes = 0;
  for (int seed = 1; seed <= count; ++seed) {
    RandomLoops random(static_cast<unsigned>(seed));
    const tuned::Scope scope(tuned::from_environment() + "," +
                             kRoundSettings[seed % std::size(kRoundSettings)]);
    TableLoops both;
    INFO(seed);
    for (const std::string& function : random.nest()) {
      UNSCOPED_INFO(function);
      both.define("function " + function);
    }
    for (const char* call :
         {"f_([1, 2, 3, 4, 5], [0.5, 1.5, 2.5, 3.5, 4.5], 3, 9)",
          "f_(index(6), dist(1.0, 6), 0, 4)", "f_(dist(2, 9), dist(0.0, 5), 9, 12)"}) {
      CHECK(both.check(call).find("defined") == std::string::npos);
      writes += both.writes(call);
    }
  }
  CHECK(writes > static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace neslc::testing
