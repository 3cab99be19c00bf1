// Recursion that hands on its sequences with other elements, and finds them as they were behind its
// calls: in kernels, which write elements back, it gives what the calls give, failures included.
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

class Backtracking : public BothLevels {
 public:
  /// How many writes do the kernels for an expression have, if there is one with a stack?
  std::size_t writes(const std::string& text) {
    const std::string compiled = optimized_.compiled(text);
    return occurrences(compiled, "PUSH") == 0 ? 0 : occurrences(compiled, "WRITE v");
  }
};

TEST_CASE("what a call has changed is written back behind it", "[recursion]") {
  for (
      const FunctionExample& one : std::initializer_list<FunctionExample>{
          {{"safe(b, r, c, i) = if i == r then t else if b[i] == c or abs(b[i] - c) == r - i then "
            "f else safe(b, r, c, i + 1)",
            "place(b, r, c) = if r == #b then 1 else if c == #b then 0 else let rest = place(b, r, "
            "c + 1) in if safe(b, r, c, 0) then rest + place(rep(b, c, r), r + 1, 0) else rest"},
           {"place(dist(0, 5), 0, 0)", "{place(dist(0, n), 0, 0) : n in [1:6]}",
            "place([] int, 0, 0)", "place([0, 0, 0], 1, -1)"}},
          // The first of all: calls behind others, whose results say whether they are made.
          {{"safe(b, r, c, i) = if i == r then t else if b[i] == c or abs(b[i] - c) == r - i then "
            "f else safe(b, r, c, i + 1)",
            "found(b, r, c) = if r == #b then b[0] else if c == #b then -1 else if safe(b, r, c, "
            "0) then (let x = found(rep(b, c, r), r + 1, 0) in if x >= 0 then x else found(b, r, c "
            "+ 1)) else found(b, r, c + 1)"},
           {"found(dist(0, 6), 0, 0)", "found(dist(0, 3), 0, 0)", "found(dist(0, 8), 1, 0)"}},
          // Two elements at once, which may be one; BOOLs and FLOATs; writes in conditions.
          {{"orders(a, i, j) = if i == #a then (if a[0] < a[#a - 1] then a[i / 2] else 1) else if "
            "j == #a then 0 else orders(rep(rep(a, a[j], i), a[i], j), i + 1, i + 1) * 3 + "
            "orders(a, i, j + 1)"},
           {"orders([2, 7, 1], 0, 0)", "orders(index(5), 0, 0)", "orders([4], 0, 0)",
            "orders([3, 1], 1, 0)", "orders([3, 1], 0, -1)"}},
          {{"sums(v, used, k, s) = if s == 0 then (if used[0] then 3 else 1) else if k == #v then "
            "0 else if s < 0 then 0 else sums(v, rep(used, t, k), k + 1, s - v[k]) + sums(v, used, "
            "k + 1, s)"},
           {"sums([3, 1, 4, 1, 5, 9, 2, 6], dist(f, 8), 0, 11)", "sums([1], [f], 0, 1)",
            "sums([1, 2], [f], 0, 3)"}},
          {{"halves(w, n) = if n == 0 then w[0] + w[1] else 2.0 * halves((if rem(n, 2) == 0 then "
            "rep(w, w[1] / 2.0, 0) else w), n - 1) - halves(rep(w, w[0] + 1.0, 1), n - 1) + w[0]"},
           {"halves([1.0, 3.0], 6)", "halves([1.0], 3)", "halves([0.5, 0.25, 2.0], 1)"}},
          // Functions that call each other; sums behind the calls read what was there.
          {{"odd(v, n) : ([int], int) -> int",
            "even(v, n) = if n == 0 then v[0] else v[n] + odd(rep(v, n, n - 1), n - 1) + v[n - 1]",
            "odd(v, n) = if n == 0 then v[0] else v[n] * 2 - even(rep(v, v[n - 1] + 1, n - 1), n - "
            "1) + v[n - 1]"},
           {"even([5, 3, 2, 8], 3)", "odd([1, 2], 1)", "even([5], 2)"}},
          // Calls that need nothing of each other, all of which are handed the changed sequence.
          {{"paths(g, w, p) = if p < 0 or p >= #g then 0 else if g[p] > 0 then 0 else if p == #g - "
            "1 "
            "then 1 else let h = rep(g, 1, p) in paths(h, w, p + 1) + paths(h, w, p - 1) + "
            "paths(h, w, p + w) + paths(h, w, p - w)"},
           {"paths(dist(0, 9), 3, 0)", "{paths(dist(0, w * w), w, k) : w in [2, 3]; k in [1, 7]}",
            "paths([0, 1, 0, 0], 2, 0)", "paths([] int, 1, 0)"}},
          {{"orders(v, used, k, s) = if k == #v then s else if s > 50 then orders(v, rep(used, k, "
            "k), k + 1, s - 9) else let now = rep(used, s, k); more = rep(now, k, 0) in orders(v, "
            "now, k + 1, s + v[k]) - orders(v, now, k + 1, s) * orders(v, more, k + 1, used[k])"},
           {"orders([3, 1, 4, 1], dist(0, 4), 0, 11)", "orders([1], [7], 0, 60)",
            "orders([1, 2], [7], 0, 3)"}}}) {
    for (const char* setting : kRoundSettings) {
      const tuned::Scope scope(tuned::from_environment() + "," + setting);
      Backtracking both;
      both.check(one);
      CHECK(both.writes(one.calls[0]) > 1);
    }
  }
}

/// Writes the bodies of functions f and g of (n, x, b, w), where b is of INTs and w of BOOLs, which
/// call each other with less than n.
class RandomSearches : RandomTexts {
 public:
  explicit RandomSearches(unsigned seed) : RandomTexts(seed) {}

  std::string body() {
    const std::string first = number(2), rest = value(4);
    return fmt::format("if n < 1 then {} else {}", first, rest);
  }

 private:
  std::string number(int depth) {
    if (bound_ > 0 && below(2) == 0) return fmt::format("i{}", below(bound_));
    if (depth < 1) return one_of({"n", "x", "x - n", "3", "b[2]"});
    const std::string first = number(depth - 1), second = number(depth - 1);
    const int form = below(6);
    if (form == 0) return fmt::format("b[{}]", place(first));
    if (form == 1) return fmt::format("(if w[{}] then {} else {})", place(second), first, second);
    return fmt::format("rem({} {} {}, 100)", first, one_of({"+", "-", "*"}), second);
  }
  /// Nearly always inside.
  std::string place(const std::string& number) {
    return below(60) == 0 ? number : fmt::format("rem(abs({}), 4)", number);
  }
  std::string condition() {
    const std::string first = number(1), second = number(1);
    return first + one_of({" < ", " == ", " >= "}) + second;
  }
  std::string ints(int depth) {
    if (depth < 1 || below(3) == 0) return "b";
    const std::string rest = ints(depth - 1), element = number(1), at = place(number(1));
    const std::string changed = fmt::format("rep({}, {}, {})", rest, element, at);
    return below(3) == 0 ? fmt::format("(if {} then {} else b)", condition(), changed) : changed;
  }
  std::string bools() {
    const std::string at = place(number(1));
    return below(2) == 0 ? "w" : fmt::format("rep(w, {}, {})", condition(), at);
  }
  std::string call() { return call(one_of({"n - 1", "n - 1", "n / 2", "n - 2"})); }
  std::string call(const std::string& next) {
    const std::string function = one_of({"f", "f", "g"});
    const std::string x = number(1), b = ints(2), w = bools();
    return fmt::format("{}_({}, {}, {}, {})", function, next, x, b, w);
  }
  /// Calls that need nothing of each other, with sequences that may be the same for both.
  std::string calls() {
    const std::string b = ints(2), w = bools(), first = call("n / 2"), second = call("n / 3");
    return fmt::format("(let b = {}; w = {} in rem({} - 2 * {}, 1000))", b, w, first, second);
  }
  std::string value(int depth) {
    const int form = below(depth < 1 ? 3 : 8);
    if (form == 0) return call();
    if (form == 1) return number(2);
    if (form == 2) return calls();
    if (form < 5) {
      const std::string test = condition(), first = value(depth - 1), second = value(depth - 2);
      return fmt::format("(if {} then {} else {})", test, first, second);
    }
    if (form == 5) return fmt::format("rem({} - {}, 1000)", value(depth - 2), number(1));
    const std::string value = this->value(depth - 2);
    const int bound = bound_++;
    const std::string rest = this->value(depth - 1);
    --bound_;
    return fmt::format("(let i{0} = {1} in {2})", bound, value, rest);
  }

  int bound_ = 0;
};

/// More of them with NESL_BACKTRACKING=N.
TEST_CASE("random functions that change sequences for their calls", "[recursion]") {
  const int count = ::testing::some_of(60, "NESL_BACKTRACKING");
  std::size_t writes = 0;
  for (int seed = 1; seed <= count; ++seed) {
    RandomSearches random(static_cast<unsigned>(seed));
    const std::string f = random.body(), g = random.body();
    INFO(seed << ": " << f << "\n" << g);
    const tuned::Scope scope(tuned::from_environment() + "," +
                             kRoundSettings[seed % std::size(kRoundSettings)]);
    Backtracking both;
    both.define("function g_(n, x, b, w) : (int, int, [int], [bool]) -> int");
    both.define("function f_(n, x, b, w) = " + f);
    both.define("function g_(n, x, b, w) = " + g);
    for (const char* call :
         {"f_(6, 3, [1, 2, 3, 4], dist(f, 4))", "f_(9, -1, dist(7, 4), [t, f, t, f])",
          "g_(7, 2, index(5), dist(t, 5))",
          "{f_(n, 7 - n, dist(n, 4), dist(f, 4)) : n in [0:7]}"}) {
      CHECK(both.check(call).find("defined") == std::string::npos);
      writes += both.writes(call);
    }
  }
  CHECK(writes > static_cast<std::size_t>(count));
}

}  // namespace
}  // namespace neslc::testing
