// Loops whose sequences become longer and shorter: in kernels, in vectors with room for them, they
// give what the calls give, failures included.
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

class ListLoops : public BothLevels {
 public:
  /// How often does a kernel for an expression go on in more room?
  std::size_t rooms(const std::string& text) {
    return occurrences(optimized_.compiled(text), "_ROOM");
  }
  /// Does it ask how long a sequence is, and run a loop without a kernel where that is long?
  bool is_for_short_ones(const std::string& text) {
    const std::string compiled = optimized_.compiled(text);
    return occurrences(compiled, " 10000") > occurrences(compiled, " 100000");
  }
};

TEST_CASE("loops make sequences longer and shorter", "[lists]") {
  for (
      const FunctionExample& one : std::initializer_list<FunctionExample>{
          // What is appended in each round, or in some.
          {{"multiples(n, k, i, out) = if i == n then out else multiples(n, k, i + 1, (if rem(i, "
            "k) == 0 then out ++ [i] else out))"},
           {"multiples(20, 3, 0, [] int)", "multiples(9000, 2, 0, [7, 8])",
            "multiples(0, 1, 0, [] int)", "multiples(5, 0, 0, [1])"}},
          {{"path(n, p) = if n == 1 then p ++ [1] else path((if rem(n, 2) == 0 then n / 2 else 3 "
            "* n + 1), p ++ [n])"},
           {"path(27, [] int)", "path(1, [] int)", "#path(27, index(2000))"}},
          {{"pairs(i, out) = if i == 0 then out else pairs(i - 1, out ++ [(i, float(i) / 4.0), (0 "
            "- i, 0.5)])"},
           {"pairs(3, [] (int, float))",
            "sum({x * float(i) : (i, x) in pairs(1500, [(1, 2.0)])})"}},
          // A stack: of positions, in a loop inside; of a calculator.
          {{"popped(st, a, x) = if #st == 0 then st else if a[st[#st - 1]] > x then st else "
            "popped(take(st, #st - 1), a, x)",
            "greater(a, i, st, r) = if i == #a then r else let s = popped(st, a, a[i]); x = (if #s "
            "== 0 then -1 else s[#s - 1]) in greater(a, i + 1, s ++ [i], r ++ [x])"},
           {"greater([3, 1, 4, 1, 5, 9, 2, 6], 0, [] int, [] int)",
            "sum(greater({rem(i * 7919, 10007) : i in index(4000)}, 0, [] int, [] int))",
            "#greater({0 - i : i in index(3000)}, 0, [] int, [] int)",
            "greater([] int, 0, [] int, [1])"}},
          {{"value(code, i, st) = if i == #code then st[#st - 1] else let c = code[i] in if c >= 0 "
            "then value(code, i + 1, st ++ [c]) else let a = st[#st - 2]; b = st[#st - 1] in "
            "value(code, i + 1, take(st, #st - 2) ++ [if c == -1 then a + b else rem(a * b, "
            "1000)])"},
           {"value([2, 3, -1, 4, -2], 0, [] int)", "value([2, -1], 0, [] int)",
            "value([] int, 0, [] int)",
            "value({2 : i in index(3000)} ++ {-1 - rem(i, 2) : i in index(2999)}, 0, [] int)"}},
          // Both ends: queues, a breadth-first search and the hull of points from left to right.
          {{"last(q) = if #q == 1 then q[0] else last(drop(q, 2) ++ [q[0]])"},
           {"last(index(3000))", "last([4])", "last([] int)"}},
          {{"nearby(j, e, to, dst, d, q) = if j == e then (q, dst) else let u = to[j] in if dst[u] "
            ">= 0 then nearby(j + 1, e, to, dst, d, q) else nearby(j + 1, e, to, rep(dst, d, u), "
            "d, q "
            "++ [u])",
            "bfs(off, to, dst, q) = if #q == 0 then dst else let v = q[0]; (r, d) = nearby(off[v], "
            "off[v + 1], to, dst, dst[v] + 1, drop(q, 1)) in bfs(off, to, d, r)",
            "distances(n, d) = bfs({i * d : i in index(n + 1)}, {rem(i * 7919 + i / 3, n) : i in "
            "index(n * d)}, rep(dist(-1, n), 0, 0), [0])"},
           {"distances(20, 2)", "sum(distances(2500, 4))"}},
          {{"cross((ax, ay), (bx, by), (cx, cy)) = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)",
            "trim(h, p) = if #h < 2 then h else if cross(h[#h - 2], h[#h - 1], p) > 0 then h else "
            "trim(take(h, #h - 1), p)",
            "chain(ps, i, h) = if i == #ps then h else chain(ps, i + 1, trim(h, ps[i]) ++ "
            "[ps[i]])"},
           {"chain({(i, rem(i * 31, 17)) : i in index(50)}, 0, [] (int, int))",
            "#chain({(i, i * i) : i in index(1300)}, 0, [] (int, int))"}},
          // Depth first, with elements of a list that the loop also changes otherwise.
          {{"pushed(j, e, to, seen, st) = if j == e then st else pushed(j + 1, e, to, seen, if "
            "seen[to[j]] then st else st ++ [to[j]])",
            "dfs(off, to, seen, st, order) = if #st == 0 then order else let v = st[#st - 1]; s = "
            "take(st, #st - 1) in if seen[v] then dfs(off, to, seen, s, order) else let now = "
            "rep(seen, t, v) in dfs(off, to, now, pushed(off[v], off[v + 1], to, now, s), order ++ "
            "[v])",
            "order(n, d) = dfs({i * d : i in index(n + 1)}, {rem(i * 7919 + i / 3, n) : i in "
            "index(n * d)}, dist(f, n), [0], [] int)"},
           {"order(20, 3)", "sum(order(1000, 5))", "order(20, -1)"}},
          {{"changed(n, i, s, v) = if i == n then (s, v) else let a = s ++ [i]; b = rep(a, a[#a / "
            "2] + 1, #a / 2); w = rep(v, #b, rem(i, #v)) in changed(n, i + 1, (if #b > 20 then "
            "take(b, 5) else b), w)"},
           {"changed(100, 0, [1, 2], dist(0, 9))", "changed(3, 0, [] int, [0])",
            "changed(2, 0, [1], [] int)"}},
          // In the end only, by a loop inside, or by the round itself.
          {{"more(v, k) = if k == 0 then v else more(v ++ [k, v[0]], k - 1)",
            "ended(v, n) = if n == 0 then #more(v, 5) else ended(rep(v, n, 0), n - 1)",
            "given(v, n) = if n == 0 then more(v, 700) else given(v ++ [n], n - 1)",
            "last(v, n) = if n == 0 then v ++ [1, 2] else last(rep(v, n, 0), n - 1)"},
           {"given([1, 2], 3)", "ended([1, 2, 3], 4)", "ended([] int, 0)", "last([5, 6], 3)",
            "given([7], 900)"}},
          // Begun anew.
          {{"runs(a, i, cur, best) = if i == #a then (max(best, #cur), cur) else if #cur == 0 then "
            "runs(a, i + 1, cur ++ [a[i]], best) else if cur[#cur - 1] <= a[i] then runs(a, i + 1, "
            "cur ++ [a[i]], best) else runs(a, i + 1, [a[i]], max(best, #cur))",
            "zeros(a, i, cur, best) = if i == #a then (best, cur) else let x = a[i] in if x == 0 "
            "then zeros(a, i + 1, [] int, max(best, #cur)) else zeros(a, i + 1, cur ++ [x, x + 1], "
            "best)",
            "fives(a, i, cur, s) = if i == #a then (s, cur) else fives(a, i + 1, (if rem(a[i], 5) "
            "== 0 then [] int else cur ++ [a[i]]), s + #cur)"},
           {"runs([3, 4, 1, 2, 2, 8, 0], 0, [] int, 0)", "runs(index(2500), 0, [] int, 0)",
            "zeros([1, 2, 0, 3, 4, 5, 0, 6], 0, [9], 0)",
            "fives({rem(i * i, 7) : i in index(57)}, 0, [] int, 0)"}},
          // Numbers as results; an end that the function itself gives; other messages.
          {{"primes(ps, n, m) = let k = has(ps, 0, n) in if n > m then #ps else primes((if k then "
            "ps else ps ++ [n]), n + 1, m)",
            "squares(s, k) = if #s > k then {x * x : x in s} else squares(s ++ [#s], k)",
            "stop(s) = if #s > 1200 then error(\"long\") else stop(s ++ [#s])"},
           {"squares([5], 3)", "sum(squares([] int, 1100))", "stop([] int)"}}}) {
    for (const char* setting : kRoundSettings) {
      const tuned::Scope scope(tuned::from_environment() + "," + setting);
      ListLoops both;
      both.define(
          "function has(ps, k, n) = if k >= #ps then f else if ps[k] * ps[k] > n then f else if "
          "rem(n, ps[k]) == 0 then t else has(ps, k + 1, n)");
      both.check(one);
      CHECK(both.rooms(one.calls[0]) > 0);
    }
  }
}

TEST_CASE("lists are not longer than they have to be", "[lists]") {
  ListLoops both;
  both.define("function turned(q, k) = if k == 0 then q else turned(drop(q, 1) ++ [q[0]], k - 1)");
  CHECK(both.optimized("turned([1, 2, 3], 10000000)") == "[2, 3, 1]");
  both.define(
      "function counted(i, n, out) = if i == n then out else counted(i + 1, n, out ++ [i])");
  CHECK(both.optimized("sum(counted(0, 60000, [] int))") == "1799970000");
}

TEST_CASE("long lists that a recursion hands on are not copied in each of its calls", "[lists]") {
  ListLoops both;
  both.define("function more(s, k) = if k == 0 then s else more(s ++ [k], k - 1)");
  both.define(
      "function handed_on(s, k) = if k == 0 then #s else handed_on(more(s, sum(index(rem(k, 4)))), "
      "k - 1)");
  both.define(
      "function anew(n, k) = if k == 0 then 0 else let v = index(n) in "
      "#more(v, sum({min(x, 1) : x in v})) + anew(n, k - 1)");
  CHECK(both.check("handed_on([1], 9)") == "9");
  CHECK(both.check("anew(900, 3)") == "5397");
  CHECK(both.check("handed_on(index(9996), 9)") == "10004");
  CHECK(both.is_for_short_ones("handed_on([1], 9)"));
  CHECK(!both.is_for_short_ones("anew(900, 3)"));
  CHECK(both.rooms("anew(900, 3)") > 0);
}

/// Writes loops f of (s, v, x, k), where s is a list of INTs, v a sequence of five, and k counts
/// down.
class RandomLists : RandomTexts {
 public:
  explicit RandomLists(unsigned seed) : RandomTexts(seed) {}

  /// Of loops inside each other: the innermost one, g_, is called in the rounds of h_, and both in
  /// those of f_.
  std::vector<std::string> nest() {
    const std::string g_stop = number(1), g_round = round(0), g_last = list(), g_x = small();
    const std::string h_round = round(1), h_list = list(), h_x = small();
    const std::string f_end = result(), f_round = round(2), f_list = list(), f_x = small();
    return {fmt::format("g_(s, v, x, k) = if k < 1 or {} > 90 then (s, v, x) else {} in "
                        "g_({}, v, {}, k - 1)",
                        g_stop, g_round, g_last, g_x),
            fmt::format("h_(s, v, x, k) = if k < 1 then (s, v, x) else {} in h_({}, v, {}, k - 1)",
                        h_round, h_list, h_x),
            fmt::format("f_(s, v, x, k) = if k < 1 then {} else {} in f_({}, v, {}, k - 1)", f_end,
                        f_round, f_list, f_x)};
  }

 private:
  /// Definitions of s, v and x anew, some of them by the first `loops` loops.
  std::string round(int loops) {
    std::string text = "let ";
    const int steps = 1 + below(3);
    for (int k = 0; k < steps; ++k) {
      if (k > 0) text += "; ";
      const int kind = below(loops == 0 ? 4 : 7);
      if (kind == 0) {
        text += "x = " + small();
      } else if (kind == 1) {
        const std::string element = small();
        text += fmt::format("v = rep(v, {}, {})", element, place("#v"));
      } else if (kind < 4) {
        text += "s = " + list();
      } else {
        const std::string before = list(), x = small(), rounds = number(1);
        std::string call =
            fmt::format("{}({}, v, {}, rem(abs({}), 4))", loops == 1 || below(2) == 0 ? "g_" : "h_",
                        before, x, rounds);
        if (below(3) == 0) {
          const std::string left = number(1);
          call = fmt::format("(if {} < {} then {} else (s, v, x))", left, number(1), call);
        }
        text += "(s, v, x) = " + call;
      }
    }
    return text;
  }

  std::string list() {
    const std::string one = small(), other = small(), left = number(1), right = number(1);
    const std::string some = fmt::format("min(#s, {})", below(4));
    switch (below(11)) {
      case 0:
        return "s";
      case 1:
        return fmt::format("take(s, #s - {})", below(30) == 0 ? "2" : some);
      case 2:
        return fmt::format("drop(s, {})", some);
      case 3:
        return fmt::format("(if #s == 0 then s else rep(s, {}, {}))", one, place("#s"));
      case 4:
        return fmt::format("(if {} < {} then s ++ [{}] else s)", left, right, one);
      case 5:
        return fmt::format("(if {} < {} then s ++ [{}] else take(s, {}))", left, right, one, some);
      case 6:
        return below(4) == 0
                   ? fmt::format("(if {} < {} then [] int else s ++ [{}])", left, right, one)
                   : fmt::format("take(s, #s - {}) ++ [{}]", some, one);
      case 7:
        return fmt::format("s ++ [{}, {}]", one, other);
      default:
        return fmt::format("s ++ [{}]", one);
    }
  }

  std::string small() { return fmt::format("rem({}, 100)", number(2)); }
  std::string place(const char* length) {
    const std::string at = number(1);
    return below(60) == 0 ? at : fmt::format("rem(abs({}), {})", at, length);
  }
  std::string number(int depth) {
    if (depth < 1) return one_of({"x", "k", "3", "#s", "v[1]"});
    const std::string first = number(depth - 1), second = number(depth - 1);
    switch (below(5)) {
      case 0:
        return fmt::format("(if #s == 0 then {} else s[{}])", second, place("#s"));
      case 1:
        return fmt::format("(if {} < {} then {} else {})", first, second, second, first);
      case 2:
        return fmt::format("v[{}]", place("#v"));
      default:
        return fmt::format("({} {} {})", first, one_of({"+", "-"}), second);
    }
  }
  std::string result() {
    return one_of({"s", "(s, v, x)", "(x, sum(v))", "(x, #s)", "reverse(s)", "(v, s ++ [x])",
                   "{y + x : y in s}", "take(s, #s / 2)"});
  }
};

/// More of them with NESL_LISTS=N.
TEST_CASE("random loops with lists", "[lists]") {
  const int count = ::testing::some_of(60, "NESL_LISTS");
  std::size_t rooms = 0;
  for (int seed = 1; seed <= count; ++seed) {
    RandomLists random(static_cast<unsigned>(seed));
    const tuned::Scope scope(tuned::from_environment() + "," +
                             kRoundSettings[seed % std::size(kRoundSettings)]);
    ListLoops both;
    INFO(seed);
    for (const std::string& function : random.nest()) {
      UNSCOPED_INFO(function);
      both.define("function " + function);
    }
    for (const char* call : {"f_([1, 2, 3], [1, 2, 3, 4, 5], 3, 30)", "f_([] int, index(6), 0, 7)",
                             "f_(index(9), dist(2, 5), 9, 700)"}) {
      CHECK(both.check(call).find("defined") == std::string::npos);
    }
    rooms += both.rooms("f_([1, 2, 3], [1, 2, 3, 4, 5], 3, 30)") > 0 ? 1 : 0;
  }
  CHECK(rooms > static_cast<std::size_t>(count) / 2);
}

}  // namespace
}  // namespace neslc::testing
