// The errors as people see them.
#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {
namespace {

TEST_CASE("type errors show both types and where they come from", "[messages]") {
  CHECK(message("let s = \"abc\"; n = 3 in s + n;") ==
        R"(test.nesl:1:25: error: the arguments of `+` have the wrong types [E0102]
    1 | let s = "abc"; n = 3 in s + n;
      |                         ^^^^^
note: `+` takes: a, a
test.nesl:1:25: note: `s`: [char]
    1 | let s = "abc"; n = 3 in s + n;
      |                         ^
test.nesl:1:29: note: `n`: int
    1 | let s = "abc"; n = 3 in s + n;
      |                             ^
note: where a in number
test.nesl:1:5: note: `s` is bound here
    1 | let s = "abc"; n = 3 in s + n;
      |     ^
test.nesl:1:16: note: `n` is bound here
    1 | let s = "abc"; n = 3 in s + n;
      |                ^
)");
  CHECK(message("function g(x) = if x > 0 then x else \"no\";") ==
        R"(test.nesl:1:38: error: the branches of `if` have different types, in `g` [E0102]
    1 | function g(x) = if x > 0 then x else "no";
      |                                      ^^^^
test.nesl:1:31: note: then: int
    1 | function g(x) = if x > 0 then x else "no";
      |                               ^
note: else: [char]
)");
}

TEST_CASE("the intended name is suggested", "[messages]") {
  CHECK(message("let points = [1] in {p : p in pionts};") ==
        R"(test.nesl:1:31: error: `pionts` is not defined [E0103]
    1 | let points = [1] in {p : p in pionts};
      |                               ^^^^^^
help: did you mean `points`?
)");
}

TEST_CASE("mistakes of those who know other languages are explained", "[messages]") {
  struct Mistake {
    const char *text, *help;
  };
  const Mistake mistakes[] = {
      {"\"a\" == \"b\";", "`eql(a, b)` compares sequences"},
      {"[1] /= [2];", "`not(eql(a, b))` compares sequences"},
      {"[1] + [2];", "`a ++ b` joins sequences"},
      {"\"n=\" ++ 3;", "`@x` is the text of a value"},
      {"[1] ++ 2;", "`[x]` is a sequence of one element"},
      {"1 + 2.0;", "`float(x)` makes a float of an int"},
      {"sqrt(4);", "`float(x)` makes a float of an int"},
      {"if 1 = 2 then 3 else 4;", "`==` compares; `=` stands in definitions"},
      {"1 != 2;", "`/=` compares for being different"},
      {"t && f;", "the operator is `and`"},
      {"!t;", "negation is `not(x)`"},
      {"7 // 2;", "`/` of two ints is the quotient without a fraction"},
      {"2 ** 3;", "`expt(a, b)` is the power of two floats"},
      {"'a';", "a character is written with one backquote before it: `a"},
      {"10 % 3;", "`%` begins a comment; the remainder is `rem(a, b)`"},
      {"10 mod 3;", "`mod` is a function: it stands before its arguments, as in `f(a, b)`"},
      {"10 3;", "is an operator missing between the two?"},
      {"let x = 3 in x\n(4);", "is a `;` missing? line 2 is read as an argument of `x`"},
      {"let y = 1\n z = 2 in y;", "bindings of `let` are separated by `;`"},
      {"len([1]);", "`#v` is the length of `v`"},
      {"true;", "the constants are `t` and `f`"},
      {"filter;", "`{x in v | x > 0}` keeps the elements for which a condition holds"},
      {"println(3);", "`print_line(\"text\")` prints a line; `@x` is the text of a value"},
  };
  for (const Mistake& mistake : mistakes) {
    CAPTURE(mistake.text);
    const std::string said = message(mistake.text);
    CAPTURE(said);
    CHECK(said.find(std::string("help: ") + mistake.help + "\n") != std::string::npos);
  }
}

TEST_CASE("wildcards and unknown functions are explained", "[messages]") {
  CHECK(
      message("let (_, _) = (1, 2) in _;") ==
      R"(test.nesl:1:24: error: `_` stands for several values in its pattern and is not a name [E0103]
    1 | let (_, _) = (1, 2) in _;
      |                        ^
help: give the value that is wanted a name of its own
)");
  CHECK(message("let g = error(\"none\") in g(3);") ==
        R"(test.nesl:1:26: error: no function is known for `g`, which is called here [E0102]
    1 | let g = error("none") in g(3);
      |                          ^^^^
help: which function is called must be known when the program is compiled
)");
}

TEST_CASE("mistakes with fields are explained", "[messages]") {
  const std::string points = "datatype point(x: float, y: float); s = [point(1.0, 2.0)];";
  CHECK(message("s[0].z;", points) ==
        R"(test.nesl:1:6: error: `point` has no field `z` [E0103]
    1 | s[0].z;
      |      ^
note: its fields are `x` and `y`
)");
  CHECK(message("s.x;", points) ==
        R"(test.nesl:1:1: error: only a record has fields [E0102]
    1 | s.x;
      | ^
note: `s`: [point]
note: `s` is a variable of the top level
help: `{p.x : p in s}` is the field of each element of `s`
)");
  CHECK(message("point(x := 1.0);", points) ==
        R"(test.nesl:1:7: error: `point` needs a value for `y` [E0111]
    1 | point(x := 1.0);
      |       ^^^^^^^^
)");
  CHECK(message("function g(p) = p.x;", points + "datatype vector(x: float);") ==
        R"(test.nesl:1:17: error: the type of `p` is not known here, in `g` [E0102]
    1 | function g(p) = p.x;
      |                 ^
note: `point` and `vector` have a field `x`
help: declare it: `function g(p) : point -> ...`
)");
}

TEST_CASE("other messages", "[messages]") {
  CHECK(message("[];") ==
        R"(test.nesl:1:3: error: `;` where an element type after `[]` was expected [E0101]
    1 | [];
      |   ^
help: the empty sequence names its element type: `[] int`
)");
  CHECK(message("let (a, a) = (1, 2) in a;") ==
        R"(test.nesl:1:9: error: the variable `a` occurs twice in one pattern [E0104]
    1 | let (a, a) = (1, 2) in a;
      |         ^
test.nesl:1:6: note: it is bound here first
    1 | let (a, a) = (1, 2) in a;
      |      ^
)");
  CHECK(message("scale(4.0);", "function scale(x, by := 10) = x * by;") ==
        R"(test.nesl:1:1: error: the arguments of `scale` have the wrong types [E0102]
    1 | scale(4.0);
      | ^^^^^^^^^^
note: `scale` takes: a, a
test.nesl:1:7: note: `4.0`: float
    1 | scale(4.0);
      |       ^^^
note: the default of `by`: int
note: where a in number
help: `float(x)` makes a float of an int
)");
}

}  // namespace
}  // namespace neslc::testing
