#include "neslc/front/session.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("the library is sound", "[session]") {
  Session session;
  for (const StaticError& error : session.library_errors()) {
    FAIL(vcode::render(error.diagnostic, error.source.get(), {}));
  }
  CHECK(session.definitions().size() > 200);
  REQUIRE(session.find("sum") != nullptr);
  CHECK(scheme_text(session.find("sum")->scheme) == "[a] -> a :: (a in number)");
  CHECK(session.find("sum")->is_primitive());
  CHECK(session.find("rand_seed")->serial_only);
  CHECK_FALSE(session.find("write_string")->serial_only);
}

TEST_CASE("every operator has its library function", "[session]") {
  CHECK(line("(1+1, 1-1, 1*1, 1/1, 2^2, -1, 1==1, 1/=1, 1<1, 1>1, 1<=1, 1>=1);").ends_with("bool"));
  CHECK(line("(t and t, t or t, t xor t, t nor t, t nand t);") ==
        "it : bool, bool, bool, bool, bool");
  CHECK(line("(#\"a\", @1, \"a\" ++ \"b\", \"a\" || 3, \"a\"[0], \"a\" -> [0], "
             "\"a\" <- [(0, `b)], [0:1], [0:9:2]);") ==
        "it : int, [char], [char], [char], char, [char], [char], [int], [int]");
}

TEST_CASE("the same type replaces, another one hides", "[session]") {
  Run run("function h(x) = x + 1; function g(x) = h(x);");
  Definition* first = run.session.find("h");
  run.add("function h(x) = x + 2;");
  CHECK(run.session.find("h") == first);
  CHECK(first->version == 1);
  CHECK(run.forms.back().changes[0].replaces);
  run.add("function h(x) = x + 2.0;");
  CHECK(run.session.find("h") != first);
  CHECK(run.forms.back().changes[0].hides);
  const auto& references = run.session.find("g")->body->references;
  REQUIRE(references.size() == 1);
  CHECK(references[0].definition == first);
}

TEST_CASE("variables too", "[session]") {
  Run run("k = 3; k = 5; k = 2.0; (a, b) = (1, `x); a = 2;");
  CHECK(run.lines == Lines{"k : int", "k : int", "k : float", "a : int; b : char", "a : int"});
  CHECK(run.forms[1].changes[0].replaces);
  CHECK(run.forms[2].changes[0].hides);
  CHECK(run.forms[4].changes[0].replaces);
}

TEST_CASE("a datatype may be repeated", "[session]") {
  Run run("datatype p(int); datatype p(int); datatype p(float);");
  CHECK(run.forms[1].changes[0].replaces);
  CHECK(run.forms[0].datatype == run.forms[1].datatype);
  CHECK(run.forms[2].changes[0].hides);
  CHECK(line("h(p(1));", "datatype p(int); function h(p(x)) = x; datatype p(float);") ==
        "STATIC ERROR: type");
}

TEST_CASE("a check alone binds nothing", "[session]") {
  Session session;
  const Parsed parsed = parse_program(make_source("a = 1; a;"));
  CHECK(session.check(parsed.forms[0].form));
  CHECK_FALSE(session.check(parsed.forms[1].form));
  CHECK(session.find("a") == nullptr);
}

TEST_CASE("forward declarations", "[session]") {
  const std::string declared = "function ev(n) : int -> bool; function od(n) = ev(n - 1);";
  CHECK(line("od(1);", declared) == "STATIC ERROR: no-body ev");
  CHECK(line("od(1);", declared + "function ev(n) : int -> bool = od(n);") == "it : bool");
  CHECK(line("od(1);", declared + "function ev(n) = n == 1;  function ev(n) : int -> bool;") ==
        "it : bool");
  CHECK(line("od(1);", declared + "function ev(n) = n > 1.0;") == "STATIC ERROR: no-body ev");
}

TEST_CASE("names that cannot be defined", "[session]") {
  CHECK(line("function sum(x) = x;") == "STATIC ERROR in function sum: builtin sum");
  CHECK(line("pi = 3;") == "STATIC ERROR: builtin pi");
  CHECK(line("datatype stream(int);") == "STATIC ERROR in datatype stream: builtin stream");
  CHECK(line("function time(x) = x;") == "STATIC ERROR in function time: reserved time");
  CHECK(line("t = 1;") == "STATIC ERROR: reserved t");
  CHECK(line("let time = 1 in 2;") == "STATIC ERROR: reserved time");
  CHECK(line("let sum = 1 in sum;") == "it : int");
  CHECK(line("3 = 4;") == "STATIC ERROR: pattern");
  CHECK(line("let a + 1 = 4 in a;") == "STATIC ERROR: pattern");
}

TEST_CASE("names that are not in NESL 3.1 may be defined", "[session]") {
  Run run("function reduce(x) = x + 1; reduce(2); sorted = \"mine\"; sorted; reduce = 2.5;");
  CHECK(run.lines == Lines{"reduce : int -> int", "it : int", "sorted : [char]", "it : [char]",
                           "reduce : float"});
  CHECK_FALSE(run.forms[0].changes[0].hides);  // what was no name of the program
  CHECK(run.forms[4].changes[0].hides);
  // Nor is it replaced where the type is the same.
  Run same("function ranks(s) : [a] -> [int] :: (a in any) = [#s]; ranks(\"ab\");");
  CHECK_FALSE(same.forms[0].changes[0].replaces);
  CHECK(same.session.find("ranks")->body != nullptr);
}

TEST_CASE("the library itself does not mention the names that programs may define", "[session]") {
  Session session{std::string(library_text()) + std::string(definitions_text())};
  CHECK(session.library_errors().empty());
  REQUIRE(session.find("reduce")->open);
  REQUIRE(session.find("sort_with")->open);
  for (const Definition* definition : session.definitions()) {
    if (!definition->body) continue;
    for (const Body::Reference& reference : definition->body->references) {
      INFO(definition->name);
      CHECK_FALSE(reference.definition->open);
    }
  }
}

TEST_CASE("functions as values", "[session]") {
  CHECK(line("sq(2), sq(2.5);", "sq = (x => x * x);") == "it : int, float");
  CHECK(line("[sin, sin];") == "it : [float -> float]");
  CHECK(line("[sin, cos];") == "STATIC ERROR: type");
  CHECK(line("if t then sin else cos;") == "STATIC ERROR: type");
  CHECK(line("{g(1) : g in {(x => x + k) : k in [10,20]}};") == "it : [int]");
  CHECK(line("function both(g) = (g(1), g(\"a\"));") == "STATIC ERROR in function both: type");
  CHECK(line("function self(x) = x(x);") == "STATIC ERROR in function self: type");
  CHECK(line("let g = length in (g(\"a\"), g([1]));") == "STATIC ERROR: type");
  CHECK(line("closure(closure((((a, b, c) => a + b + c)), 1), 2)(3);") == "it : int");
  CHECK(line("closure(sqrt, 1.0);") == "STATIC ERROR: type");
  CHECK(line("[closure(max, 1), closure(max, 2)];") == "it : [int -> int]");
  CHECK(line("unwrap(c)(2);",
             "datatype cell(a) :: (a in any); function unwrap(cell(x)) = x; "
             "c = cell((x => x + 1));") == "it : int");
}

TEST_CASE("error has any type that is wanted, and is a bool otherwise", "[session]") {
  CHECK(line("function fail(s) = error(s);") == "fail : [char] -> bool");
  CHECK(line("function fail(s) : [char] -> a :: (a in any) = error(s);") ==
        "fail : [char] -> a :: (a in any)");
  CHECK(line("function pick(c, x) = if c then error(\"no\") else x;") ==
        "pick : (bool, a) -> a :: (a in any)");
  CHECK(line("function use(g) = g(error(\"no\"));") ==
        "use : (a -> b) -> b :: (a in any; b in any; c in any)");
  CHECK(line("error;") == "it : [char] -> bool");
  CHECK(line("error(\"a\") + 1;") == "it : int");
  CHECK(line("error(\"a\") + error(\"b\");") == "it : int");
  CHECK(line("{if x > 1 then error(\"large\") else [x] : x in [1]};") == "it : [[int]]");
  CHECK(line("od(\"a\");",
             "function ev(s) : [char] -> bool; function od(s) = ev(s); "
             "function ev(s) = error(s);") == "it : bool");
}

TEST_CASE("several wildcards bind nothing", "[session]") {
  CHECK(line("function h(_, x, _) = x;") == "h : (a, b, c) -> b :: (a in any; b in any; c in any)");
  Run run("(_, x, _) = (1, 2.0, `c); x; _;");
  CHECK(run.lines ==
        Lines{" : int; x : float;  : char", "it : float", "STATIC ERROR: undefined _"});
  CHECK(line("(_, x) = (1, 2.0);") == "_ : int; x : float");
}

TEST_CASE("serial-only functions", "[session]") {
  CHECK(line("{rand_seed(x) : x in [1]};") == "STATIC ERROR: serial-only rand_seed");
  CHECK(line("{* rand_seed(x) : x in [1]};") == "it : [bool]");
  CHECK(line("{1 : x in [1] | rand_seed(x)};") == "STATIC ERROR: serial-only rand_seed");
  CHECK(line("{x : x in [rand_seed(1)]};") == "it : [bool]");
  CHECK(line("{h(x) : x in [1]};", "function g(x) = rand_seed(x); function h(x) = g(x);") ==
        "STATIC ERROR: serial-only h");
  CHECK(line("let g = (x => rand_seed(x)) in {g(x) : x in [1]};") ==
        "STATIC ERROR: serial-only rand_seed");
  CHECK(line("{g(x) : x in [1]};", "g = rand_seed;") == "STATIC ERROR: serial-only rand_seed");
  CHECK(line("{h(x) : x in [1]};", "g = rand_seed; function h(x) = g(x);") ==
        "STATIC ERROR: serial-only h");
  CHECK(line("{time(x) : x in [1]};") == "STATIC ERROR: serial-only time");
  CHECK(line("time(1);") == "it : int, float");
  CHECK(line("time(time(1));") == "STATIC ERROR: syntax");
}

TEST_CASE("keyword arguments", "[session]") {
  const std::string scale = "function scale(x, by := 10) = x * by;";
  CHECK(line("scale(4);", scale) == "it : int");
  CHECK(line("scale(4.0);", scale) == "STATIC ERROR: type");
  CHECK(line("scale(4.0, by := 2.0);", scale) == "it : float");
  CHECK(line("scale(4, 3);", scale) == "STATIC ERROR: argument");
  CHECK(line("scale(4, b := 3);", scale) == "STATIC ERROR: argument");
  CHECK(line("scale(4, by := 3, by := 4);", scale) == "STATIC ERROR: argument");
  CHECK(line("sqrt(x := 4.0);") == "STATIC ERROR: argument");
  CHECK(line("let scale = sqrt in scale(4, by := 3);", scale) == "STATIC ERROR: argument");
  CHECK(line("x := 3;") == "STATIC ERROR: syntax");
  CHECK(line("function g(a := 1, b) = a;") == "STATIC ERROR in function g: pattern");
  CHECK(line("function g(a := nope) = a;") == "STATIC ERROR in function g: undefined nope");
  CHECK(line("function g(n, k := 2) = if n == 0 then k else g(n - 1);") == "g : (int, int) -> int");
}

TEST_CASE("types and contexts", "[session]") {
  CHECK(line("function h(x) : a -> a :: (a in nosuch) = x;") ==
        "STATIC ERROR in function h: unknown-type nosuch");
  CHECK(line("[] nosuch;") == "STATIC ERROR: unknown-type nosuch");
  CHECK(line("g(1);", "function g(x) : undeclared -> int = 1;") == "STATIC ERROR: type");
  CHECK(line("function g(x) : a -> [a] :: (a in any) = [] a ++ [x];") ==
        "g : a -> [a] :: (a in any)");
  CHECK(line("datatype d(a -> int) :: (a in any);") == "STATIC ERROR in datatype d: type");
  CHECK(line("datatype d(b, a) :: (a in number; b in any);") ==
        "d : (a, b) -> d(b, a) :: (a in any; b in number)");
}

TEST_CASE("types cannot explode", "[session]") {
  std::string text = "function p0(x) = (x, x);";
  for (int i = 1; i < 60; ++i) text += fmt::format("function p{0}(x) = p{1}(p{1}(x));", i, i - 1);
  const Run run(text);
  CHECK(run.lines.size() == 60);
  CHECK_FALSE(run.errors.empty());
  std::string lets = "let x0 = 1";
  for (int i = 1; i < 200; ++i) lets += fmt::format("; x{0} = (x{1}, x{1})", i, i - 1);
  line(lets + " in eql(x199, x199);");
}

TEST_CASE("a program of 500 functions is checked", "[session]") {
  std::string text;
  for (int i = 0; i < 500; ++i) {
    text += fmt::format(
        "function g{0}(s, k) = let m = sum(s); r = {{x * k + m : x in s | x > k}} in "
        "if #r > 3 then r -> [0:3] else g{0}(r ++ s, k + 1);\n",
        i);
  }
  const Run run(text);
  CHECK(run.errors.empty());
  CHECK(run.lines.size() == 500);
}

}  // namespace
}  // namespace neslc::testing
