// The errors as people see them.
#include <catch2/catch.hpp>

#include "support.hpp"

namespace neslc::testing {
namespace {

TEST_CASE("type errors show both types and where they come from", "[messages]") {
  CHECK(
      message("let s = \"abc\"; n = 3 in s + n;") ==
      R"(test.nesl:1:25: error: `+` takes two numbers of the same type, not a string and an int [E0102]
    1 | let s = "abc"; n = 3 in s + n;
      |                         ^^^^^
test.nesl:1:5: note: `s` is a string; it is bound here
    1 | let s = "abc"; n = 3 in s + n;
      |     ^
test.nesl:1:16: note: `n` is an int; it is bound here
    1 | let s = "abc"; n = 3 in s + n;
      |                ^
help: `s ++ @n` joins strings
)");
  CHECK(message("function g(x) = if x > 0 then x else \"no\";") ==
        R"(test.nesl:1:38: error: the branches of `if` have different types, in `g` [E0102]
    1 | function g(x) = if x > 0 then x else "no";
      |                                      ^^^^
note: `x` behind `then` is an int
note: `"no"` behind `else` is a string
help: `@x` makes text of it
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
  CHECK(
      message("s.x;", points) ==
      R"(test.nesl:1:1: error: only a record has fields, not a sequence of values of type `point` [E0102]
    1 | s.x;
      | ^
note: `s` is a sequence of values of type `point`
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
  CHECK(
      message("scale(4.0);", "function scale(x, by := 10) = x * by;") ==
      R"(test.nesl:1:1: error: `scale` takes two numbers of the same type, not a float and an int [E0102]
    1 | scale(4.0);
      | ^^^^^^^^^^
note: the default of `by` is an int
help: `float(x)` makes a float of it
)");
}

}  // namespace
}  // namespace neslc::testing
