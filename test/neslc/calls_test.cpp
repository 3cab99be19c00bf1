// Calls of one function that are made together give what they give one after another, and a
// function that reads elements of its own sequence gives what it gives with a copy of it.
#include <initializer_list>
#include <string>
#include <utility>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "both_levels.hpp"
#include "random_texts.hpp"
#include "sanitized.hpp"

namespace neslc::testing {
namespace {

/// The text with the value in place of each `$`.
std::string with_value(const std::string& text, const std::string& value) {
  const std::size_t at = text.find('$');
  if (at == std::string::npos) return text;
  return text.substr(0, at) + value + with_value(text.substr(at + 1), value);
}

/// A function written with `@(...)` for calls of itself, and the same one under another name, each
/// of whose calls stands in an arm of a conditional of its own: there it is made by itself.
class TwoWays : public BothLevels {
 public:
  TwoWays() { define("always = #\"x\" == 1"); }

  void define_both(const std::string& parameters, const std::string& body) {
    define(fmt::format("function joint({}) = {}", parameters, with_calls(body, "joint($)")));
    define(fmt::format("function apart({}) = {}", parameters,
                       with_calls(body, "(if always then let r = apart($) in r else apart($))")));
  }
  /// The value, or the message, which both functions have.
  std::string check_both(const std::string& text) {
    const std::string value = check(with_calls(text, "joint($)"));
    CHECK(value.find("is not defined") == std::string::npos);
    CHECK(value == check(with_calls(text, "apart($)")));
    return value;
  }

 private:
  static std::string with_calls(const std::string& text, const std::string& call) {
    const std::size_t at = text.find('@');
    if (at == std::string::npos) return text;
    std::size_t end = at + 1;
    int depth = 0;
    do {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      ++end;
    } while (depth > 0);
    const std::string arguments = with_calls(text.substr(at + 2, end - at - 3), call);
    return text.substr(0, at) + with_value(call, arguments) + with_calls(text.substr(end), call);
  }
};

TEST_CASE("calls of scalars that need nothing of each other", "[calls]") {
  for (const char* body : {
           "if n < 2 then n else @(n - 1) + @(n - 2)",
           "if n < 2 then n else @(n - 1) + @(n - 2) * @(n - 3) + rem(@(n - 1), 3)",
           "if n < 2 then n else let a = @(n - 1); b = n * 2; c = @(n - 2) in a * b - c",
           // One that needs the result of another, and two that need those of two.
           "if n < 2 then n else let a = @(n - 1); b = @(rem(a, n)) in a + b",
           "if n < 2 then n else @(rem(@(n - 1), n)) + @(rem(@(n - 2), n))",
           "if n < 2 then n else let a = @(n - 1) + 1 in let b = @(n - 2) in a + b + @(n - 3)",
           "if n < 2 then n else if @(n - 1) > @(n - 2) then @(n / 2) else @(n - 3) + @(n / 3)",
           // Inside of an apply-to-each, where some are the same for all instances.
           "if n < 2 then n else sum({@(x) + @(n - 1) : x in [0:rem(n, 3)]}) + @(n - 2) + @(1)",
           "if n < 2 then n else sum({@(x) + @(x - 1) : x in [0:n / 2] | @(x) > @(n / 4)})",
           // Failures: of arguments, in the calls, and behind them.
           "if n < 2 then 6 / n else @(n - 2) + @(n - 1)",
           "if n < 2 then n else @([5, 1, 2, 0][n - 2]) + @(rem(n, 2))",
           "if n < 2 then n else 12 / (@(n - 1) - @(n - 2))",
       }) {
    TwoWays ways;
    INFO(body);
    ways.define_both("n", body);
    for (const char* call : {"@(0)", "@(1)", "@(6)", "{@(n) : n in [0:9]}", "{@(n) : n in [5:5]}",
                             "{{@(n) : n in [0:k]} : k in [0:8]}", "(@(3), @(7))"}) {
      ways.check_both(call);
    }
  }
}

TEST_CASE("results and arguments of all types", "[calls]") {
  for (const auto& [parameters, body, call] : {
           // A pair, floats, characters, texts, sequences of them.
           std::tuple{"n",
                      "if n < 2 then (n, 1.5) else let (a, b) = @(n - 1); (c, d) = "
                      "@(n - 2) in (a + c, b * d)",
                      "@($)"},
           {"n", "if n < 2 then [code_char(97 + n)] else @(n - 1) ++ \"-\" ++ @(n - 2)", "@($)"},
           {"n", "if n < 2 then [[n], [] int] else @(n - 1) ++ [[n, n]] ++ @(n - 2)", "@($)"},
           {"(n, x)", "if n < 2 then x + 0.5 else @(n - 1, x / 2.0) - @(n - 2, x + 1.0)",
            "@($, 3.0)"},
           {"(v, w)",
            "if #v < 2 or #w < 2 then (v, w) else let (a, b) = @(take(v, #v / 2), w); "
            "(c, d) = @(drop(v, #v / 2), take(w, #w - 1)) in (a ++ c, b ++ d)",
            "@([0:$], \"abc\")"},
           {"rows",
            "if #rows < 2 then rows else let h = #rows / 2; a = @(take(rows, h)); b = "
            "@(drop(rows, h)) in b ++ [flatten(a)]",
            "@({{i + j : j in [0:i]} : i in [0:$]})"},
           // Something that is the same for all of them.
           {"(v, k, i)", "if i > 2 then [k] else @(v, k + v[i], i + 1) ++ @(v, k, i + 1)",
            "@([3, $, 5], 1, 0)"},
           {"(v, lo, hi)",
            "if hi - lo < 2 then v[lo] else let m = (lo + hi) / 2 in "
            "max(@(v, lo, m), @(v, m, hi))",
            "@({rem(7 * i, 11) : i in [0:$ + 1]}, 0, $ + 1)"},
           {"(v, lo, hi)",
            "if hi - lo < 2 then v[lo] else let m = (lo + hi) / 2 in "
            "@(v, lo, m) + @(reverse(v), m, hi)",
            "@({rem(7 * i, 11) : i in [0:$ + 1]}, 0, $ + 1)"},
       }) {
    TwoWays ways;
    INFO(body);
    ways.define_both(parameters, body);
    for (const int n : ::testing::some_sizes({0, 1, 2, 3, 4, 5, 6, 7})) {
      ways.check_both(with_value(call, std::to_string(n)));
    }
    const std::string inside = with_value(call, "n");
    ways.check_both("{" + inside + " : n in [0:8]}");
    ways.check_both("{{" + inside + " : n in [0:k]} : k in [0:5]}");
  }
}

TEST_CASE("functions that call each other twice", "[calls]") {
  BothLevels both;
  both.define("function odds(n) : int -> int");
  both.define("function evens(n) = if n < 1 then 1 else odds(n - 1) + 2 * odds(n - 2)");
  both.define("function odds(n) = if n < 1 then 0 else evens(n - 1) + evens(n - 2) + odds(n - 1)");
  CHECK(both.check("evens(5)") == "24");
  CHECK(both.check("{(evens(n), odds(n)) : n in [0:5]}") ==
        "[(1, 0), (0, 2), (2, 3), (7, 5), (11, 14)]");
}

TEST_CASE("calls in several arms of conditionals", "[calls]") {
  for (const auto& [parameters, body, call] : {
           // Results that are sequences, so that no kernel makes a loop of them.
           std::tuple{"(v, x, lo, hi)",
                      "if lo == hi then [lo] else let m = (lo + hi) / 2 in "
                      "if v[m] < x then @(v, x, m + 1, hi) else @(v, x, lo, m)",
                      "@([2, 3, 3, 5, 8], $, 0, 5)"},
           {"(n, s)",
            "if n < 1 then s else if rem(n, 3) == 0 then @(n / 3, s ++ [n]) else "
            "if rem(n, 2) == 0 then let h = n / 2 in @(h, s) else let k = n - 1; z = [k] ++ s in "
            "@(k, z)",
            "@($ * 5, [7])"},
           // Of which some may fail, in an argument or in a condition.
           {"(n, s)",
            "if n == 0 then s else if 6 / (n - 4) > 1 then @(n - 1, s ++ [n]) else "
            "@([0, 0, 1, 2, 3, 2][n], s)",
            "@($, [1])"},
           // The whole argument, one that is the same in both, one that swaps.
           {"p",
            "let (n, s) = p in if n < 1 then s else if evenp(n) then @((n / 2, s)) else let q = "
            "(n - 1, s ++ s) in @(q)",
            "@(($, \"ab\"))"},
           {"(a, b, s)",
            "if a == 0 then s ++ [b] else if a < b then @(b, a, s) else @(a - 1, b, s ++ [a])",
            "@($, 3, [0])"},
           // Something comes behind the calls, and some arms have none.
           {"(x, n)",
            "if n < 1 then 1.0 else if evenp(n) then let h = @(x, n / 2) in h * h else "
            "x * @(x, n - 1)",
            "@(1.5, 3 * $)"},
           {"(v, x, i)",
            "if i >= #v then [] char else if x < v[i] then \"l\" ++ @(v, x, 2 * i + 1) else "
            "if x == v[i] then \"!\" else let j = 2 * i + 2; path = @(v, x, j) in \"r\" ++ path",
            "@([5, 2, 8, 1, 3, 7, 9], $, 0)"},
           {"(v, x, i)",
            "if x == v[i] then 1 else if x < v[i] then 2 * @(v, x, 2 * i + 1) else "
            "@(v, x, 2 * i + 2) - 1",
            "@([5, 2, 8, 1, 3, 7, 9], $, 0)"},
           {"n",
            "if n > 5 then 2 * @([0, 0, 1, 0, 2, 3, 1, 4, 9][n]) else if n == 2 then 7 else "
            "if n < 1 then 0 else let k = 8 / (n + 1) in 1 + @(min(n - 1, k))",
            "@($)"},
           {"(n, x)",
            "if n < 1 then (x, 1) else if rem(n, 3) == 1 then let (a, b) = @(n - 1, x + 1.0) in "
            "(a * 2.0, b + 1) else if rem(n, 3) == 2 then let (a, b) = @(n / 2, x) in (a, b + 10) "
            "else let a = x / 2.0; (c, d) = @(n - 1, a) in (c, d + 100)",
            "@($, 1.5)"},
           // Of an argument that is bound inside of what the call is a part of.
           {"(n, x)",
            "if n < 1 then x else if x > 3 then (let y = x - n in @(n - 1, y)) + 1 else "
            "@(n - 1, x * 2)",
            "@($, 1)"},
           // One of the arms has more than one.
           {"n",
            "if n < 1 then 1 else if rem(n, 3) == 0 then @(n - 1) + @(n / 2) else if n > 4 then "
            "@(rem(@(n - 4), 5)) else 3 * @(n - 1)",
            "@($)"},
           // Calls in the bindings of an arm, some of which need nothing of each other.
           {"(n, s)",
            "if n < 1 then s else if evenp(n) then let a = @(n - 2, s); b = @(n / 4, [n]) in "
            "@(n / 3, a ++ b) else @(n - 1, s ++ s)",
            "@($, [1])"},
       }) {
    TwoWays ways;
    INFO(body);
    ways.define_both(parameters, body);
    const std::string inside = with_value(call, "n");
    ways.check_both("{" + inside + " : n in [0:9]}");
    ways.check_both("{" + inside + " : n in [6, 5, 6]}");
    ways.check_both("{{" + inside + " : n in [0:k]} : k in [0:5]}");
  }
}

TEST_CASE("elements of the own sequence", "[calls]") {
  // What takes the sequence as a whole, too, is handed a copy.
  const char* const forms[] = {
      "if i >= k then [v[k]] else if v[i] > 3 then $(v, i + 1, k) ++ [i] else $(v, i + 2, k)",
      "if i >= #v then [] int else [v[i] / (k - i)] ++ $(v, i + 1, k)",
      "if i >= #v then [] int else if v[0] > k then [10 / v[0]] ++ $(v, i + 1, k) else [k]",
      "if i > k then v -> [0, k] else $(v, i + 1, k) ++ $(v, i + 2, k)",
      "if i > k then {v[j] + k : j in [0:i] | j < #v} else $(v, i + 1, k)",
      "if i > k then {x + v[k] : x in u} else if evenp(i) then $(v, i + 1, k) else $(u, i + 2, k)",
  };
  for (const std::string form : forms) {
    INFO(form);
    BothLevels both;
    both.define("u = [4, 1, 6]");
    both.define("function fetched(v, i, k) = " + with_value(form, "fetched"));
    both.define("function copied(w, i, k) = let v = w ++ [] int in " + with_value(form, "copied"));
    for (const char* each :
         {"{{$(r, 0, k) : k in [0:#r]} : r in [[3, 5, 1, 8], [2], [] int, [9, 7, 7]]}",
          "{{$(r, k, 2) : k in [0:#r]} : r in [[3, 5, 1, 8], [2], [] int, [9, 7, 7]]}",
          "{{{$(r, j, k) : j in [0:k]} : k in [0:#r]} : r in [[3, 5, 1, 8], [2], [0, 4]]}",
          "{{if x > 4 then $(r, 0, 1) else [x] : x in r} : r in [[3, 5, 1, 8], [2, 6]]}",
          "{{$(r, 0, 1) : k in [0:2] | k > #r} : r in [[3, 5, 1, 8], [2, 6]]}"}) {
      CHECK(both.check(with_value(each, "fetched")) == both.check(with_value(each, "copied")));
    }
  }
}

/// Writes the body of a function of (n, x, v), which calls itself with less than n.
class RandomBody : RandomTexts {
 public:
  explicit RandomBody(unsigned seed) : RandomTexts(seed) {}

  std::string body() { return "if n < 1 then " + element() + " else " + value(4); }

 private:
  std::string element() { return one_of({"x", "v[0]", "v[rem(n, #v)]", "x - n", "n * 3", "#v"}); }
  std::string number(int depth) {
    if (depth < 1 || below(3) == 0) {
      return variables_ > 0 && below(2) == 0 ? fmt::format("y{}", below(variables_)) : element();
    }
    return one_of({"(", "-("}) + number(depth - 1) + one_of({" + ", " - ", " * "}) +
           number(depth - 1) + ")";
  }
  std::string call(int depth) {
    const std::string sequence = one_of({"v", "v", "v", "take(v, (#v + 1) / 2)", "v ++ [x]", "u"});
    const std::string next = one_of({"n - 1", "n - 1", "n / 2", "n - 2", "min(n - 1, abs(x))"});
    return fmt::format("@({}, rem({}, 50), {})", next, number(depth), sequence);
  }
  std::string condition() { return number(1) + one_of({" < ", " == ", " >= "}) + number(1); }
  std::string value(int depth) {
    if (depth < 1) return number(1);
    switch (below(depth == 4 ? 5 : 6)) {
      case 5:
        return number(2);
      case 1:
        return "(" + value(depth - 1) + one_of({" + ", " - "}) + value(depth - 2) + ")";
      case 2:
        return call(1);
      case 3: {
        const std::string bound = value(depth - 1);
        const std::string name = fmt::format("y{}", variables_++);
        const std::string rest = value(depth - 1);
        --variables_;
        return fmt::format("(let {} = {} in {})", name, bound, rest);
      }
      case 0:
        return fmt::format("(if {} then {} else {})", condition(), value(depth - 1),
                           value(depth - 1));
      default:
        return fmt::format("(if {} then {} else if {} then {} else {})", condition(), call(1),
                           condition(), value(depth - 2), call(1));
    }
  }

  int variables_ = 0;
};

TEST_CASE("random functions that call themselves", "[calls]") {
  const int count = ::testing::some_of(50, "NESL_CALLS");
  for (int seed = 1; seed <= count; ++seed) {
    RandomBody random(static_cast<unsigned>(seed));
    TwoWays ways;
    const std::string body = random.body();
    INFO(seed << ": " << body);
    ways.define("u = [4, -1, 6]");
    ways.define_both("n, x, v", body);
    for (const char* call :
         {"{@(n, 3, [2, 7, 1]) : n in [0:5]}", "{@(x, x, u) : x in [4, 2, 3, 3]}",
          "{{@(2, x, r) : x in r} : r in [[3, 5, 1, 8], [2], [] int, [9, -7]]}", "@(5, 1, u)"}) {
      ways.check_both(call);
    }
  }
}

TEST_CASE("more instances than are put together", "[calls]") {
  TwoWays ways;
  ways.define_both("n", "if n < 2 then n else @(n - 1) + @(n - 2)");
  CHECK(ways.check("joint(27)") == "196418");
  CHECK(ways.check("{joint(n) : n in [20, 25, 22]}") == "[6765, 75025, 17711]");
  ways.define(
      "function quick(v) = if #v < 2 then v else let p = v[#v / 2] in "
      "quick({x in v | x < p}) ++ {x in v | x == p} ++ quick({x in v | x > p})");
  const int length = ::testing::kSanitized ? 140'000 : 300'000;
  ways.define(fmt::format("v = {{rem(i * 7919, 100003) : i in [0:{}]}}", length));
  CHECK(ways.check("eql(quick(v), sort(v))") == "T");
}

}  // namespace
}  // namespace neslc::testing
