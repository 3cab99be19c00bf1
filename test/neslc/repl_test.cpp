// The prompt, through a pipe and at a terminal.
#include <string>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "neslc/command/completer.hpp"
#include "neslc/flatten/definitions_text.hpp"
#include "neslc/front/library_text.hpp"
#include "process.hpp"
#include "support.hpp"
#include "terminal.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// What the prompt prints for an input that comes through a pipe.
Output piped(const std::string& input) {
  const Folder folder;
  folder.write("input", input);
  return run(nesl("< input"), folder);
}

TEST_CASE("results and definitions are printed") {
  CHECK(piped("function sq(x) = x * x;\nsq(3);\na = \"b\";\nit + 1;\n").out ==
        "sq = fn : a -> a :: (a in number)\nit = 9 : int\na = \"b\" : [char]\nit = 10 : int\n");
  CHECK(piped("let a = 1;\n\n    b = 2\nin a\n + b;\n").out == "it = 3 : int\n");
  CHECK(piped("1; 2;\n3").out == "it = 1 : int\nit = 2 : int\nit = 3 : int\n");
  CHECK(piped("").out == "");
}

TEST_CASE("an error leaves the session as it was") {
  const Output output = piped("a = 5;\na = 1 / 0;\na[1];\n(a + ;\na;\n");
  CHECK(output.out == "a = 5 : int\nit = 5 : int\n");
  CHECK(contains(output.err, "standard input:2:5: error: division by zero"));
  CHECK(contains(output.err, "standard input:3:1: error"));
  CHECK(contains(output.err, "standard input:4:4: error"));
  CHECK(output.status == 1);
}

TEST_CASE("classic commands") {
  CHECK(piped("function sq(x) \"Square.\" = x * x;\ndescribe sq;\nshow code sq;\n").out ==
        "sq = fn : a -> a :: (a in number)\n"
        "INTERFACE:\n  sq(x) (function)\n"
        "TYPE:\n  a -> a :: (a in number)\n"
        "DOCUMENTATION:\n  Square.\n"
        "CODE:\n  function sq(x) \"Square.\" = x * x\n"
        "function sq(x) \"Square.\" = x * x;\n");
  CHECK(contains(piped("describe take;").out, "DOCUMENTATION:\n  The first n elements"));
  CHECK(contains(piped("apropos scan;").out, "plus_scan : [a] -> [a] :: (a in number)\n"));
  CHECK(piped("set print_length 3; index(9);").out == "it = [0, 1, 2,...] : [int]\n");
  CHECK(piped("x |= [1, 2]; sum(x); y &= 3 * 4; get y;").out ==
        "x : [int]\nit = 3 : int\nbackground y : int\ny = 12 : int\n");
  CHECK(contains(piped("set arg_check off; show status;").out, "arg_check off\n"));
  CHECK(contains(piped("help;").out, "describe NAME;"));
  CHECK(contains(piped("?\n1;\n").out, "describe NAME;"));
  CHECK(contains(piped("show bugs;").out, "Known limits:"));
  CHECK(contains(piped("dump info;").out, "print_length 100\n"));
  CHECK(piped("1; exit; 2;").out == "it = 1 : int\n");
  CHECK(piped("set redefine on; set debug off; set lnesl off; set rsh_command \"ssh\";").err == "");
}

TEST_CASE("values longer than what is fetched of them at once") {
  std::string numbers = "0.0";
  for (int i = 1; i < 9000; ++i) numbers += ", " + std::to_string(i) + ".0";
  CHECK(piped("set print_length 9000; {float(i) : i in index(9000)};").out ==
        "it = [" + numbers + "] : [float]\n");
  CHECK(piped("set print_length 2; [{[i] : i in index(5000)}, {dist(i, 2) : i in [5000:9999]}];")
            .out == "it = [[[0], [1],...], [[5000, 5000], [5001, 5001],...]] : [[[int]]]\n");
}

TEST_CASE("commands that cannot be carried out say why") {
  CHECK(piped("set foo on;").err ==
        "standard input:1:5: error: `set` knows no `foo` [E0112]\n"
        "    1 | set foo on;\n      |     ^^^\nhelp: `help;` lists what can be set\n");
  CHECK(contains(piped("set print_lenght 3;").err, "did you mean `print_length`?"));
  CHECK(contains(piped("set print_length many;").err, "`many` where a number is needed"));
  CHECK(contains(piped("set print_length 99999999999999999999999;").err, "number is needed"));
  CHECK(contains(piped("set verbose maybe;").err, "on or off"));
  CHECK(contains(piped("set verbose on off;").err, "more than the command takes"));
  CHECK(contains(piped("set trace sum 1;").err, "not a function of the program"));
  CHECK(contains(piped("describe plus_scn;").err, "did you mean `plus_scan`?"));
  CHECK(contains(piped("descrbe sum;").err, "did you mean the command `describe`?"));
  CHECK(contains(piped("load \"no such file\";").err, "cannot read `no such file.nesl`"));
  CHECK(contains(piped("load;").err, "no file has been loaded yet"));
  CHECK(contains(piped("load 3;").err, "a file name is a string, not a value of type int"));
  CHECK(contains(piped("set config nosuch;").err, "there is no configuration `nosuch`"));
  CHECK(contains(piped("set memory_size 0;").err, "no such amount"));
  CHECK(contains(piped("defconfig a, colour := 3;").err, "has no option `colour`"));
  CHECK(contains(piped("dump everything;").err, "`dump` knows vcode, world and info"));
  CHECK(contains(piped(":typ").err, "an expression is missing"));
  CHECK(contains(piped(":nonsense").err, "there is no command `:nonsense`"));
  CHECK(contains(piped(":cost function g(x) = x").err, "not a definition"));
  CHECK(contains(piped(":type function g(x) = x").err, "not a definition"));
  CHECK(contains(piped("y &= 3, most := 5;").err, "`&=` has no option `most`"));
  CHECK(contains(piped("get nothing;").err, "`nothing` is not defined"));
}

TEST_CASE("commands with a colon") {
  CHECK(piped(":type {x + 1.0 : x in [1.0]}").out == "[float]\n");
  CHECK(piped(":type (1,\n  2)\n").out == "int, int\n");
  const Output cost = piped(":cost sum([0:100])\n:time 1\n1;");
  CHECK(cost.out == "it = 4950 : int\nit = 1 : int\nit = 1 : int\n");
  CHECK(cost.err.starts_with("cost: work 200, depth 2, vector operations 2, longest vector 100\n"));
  CHECK(contains(cost.err, "time: "));
  const std::string stages = piped(":explain sum({a * a : a in index(9)})").out;
  for (const char* part :
       {"-- Typed", ": [int]\n", "-- Flattened", "+_REDUCE INT(", "-- VCODE", "FUNC MAIN",
        "-- Optimized", "KERNEL MAIN", "-- What became kernels", "now 1 kernel"}) {
    CHECK(contains(stages, part));
  }
  CHECK(contains(piped(":dump fcode {x + x * x : x in index(rand(9))}").out, "KERNEL"));
  const Output levels = piped(":set optimize 3\nsum({x * x : x in [0:10]});\nshow status;");
  CHECK(levels.out.starts_with("it = 285 : int\n"));
  CHECK(contains(levels.out, "optimize 3\n"));
  CHECK(
      contains(piped("show status;\nset optimize 0;\nset optimize auto;").out, "optimize auto\n"));
  CHECK(contains(piped("set optimize 4;").err, "levels of the optimizer are 0 to 3"));
  CHECK(piped("1;\n:quit\n2;").out == "it = 1 : int\n");
  CHECK(contains(piped(":help").out, ":explain EXP"));
  CHECK(contains(piped(":memory").out, "in use "));
}

TEST_CASE("files are loaded, again, and written") {
  const Folder folder;
  folder.write("lib.nesl", "function twice(x) = x + x;\nk = twice(4);\nk;\n");
  folder.write("input",
               "load \"lib\";\ntwice(k);\nload \"lib.nesl\", print := t;\nload;\n"
               "dump world \"world.nesl\";\ndump vcode \"k.vcode\" twice(k);\n");
  const Output output = run(nesl("< input"), folder);
  CHECK(output.out ==
        "twice = fn : a -> a :: (a in number)\nit = 16 : int\n"
        "twice = fn : a -> a :: (a in number)\nk = 8 : int\nit = 8 : int\n"
        "twice = fn : a -> a :: (a in number)\n");
  CHECK(output.err == "");
  CHECK(run(std::string("'") + VINTERP_PROGRAM + "' k.vcode", folder).out == "( 16 )\n");
  CHECK(run(nesl("run world.nesl 'twice(k)'"), folder).out == "it = 16 : int\n");
}

TEST_CASE("a traced function says what it does") {
  const std::string sq = "function sq(x) = let y = x * x in y;\n";
  CHECK(piped(sq + "set trace sq 2; sq(4); set trace sq 0; sq(5);").err ==
        "Entering SQ\n  X = 4\nLeaving SQ\n  RESULT = 16\n");
  CHECK(piped(sq + "set trace sq 1; sq(4);").err == "Entering SQ\nLeaving SQ\n");
  CHECK(piped(sq + "set trace sq 4; {sq(i) : i in [1, 2]};").err ==
        "Entering SQ\n  X = [1, 2]\n  Y = [1, 4]\nLeaving SQ\n  RESULT = [1, 4]\n");
  // In the arms of a conditional between rows, too, which are computed together otherwise.
  CHECK(
      piped("set optimize 3; function add(r, c) = if c then let y = #r in {x + y : x in r} else r;"
            "set trace add 3; {add(r, c) : r in [[1, 2], [3]]; c in [t, f]};")
          .err == "Entering ADD\n  Binding Y\nLeaving ADD\n");
  CHECK(contains(piped(sq + "set profile sq on; sq(4);").err,
                 " seconds for expression:\n      x * x\n"));
}

TEST_CASE("values move to another configuration") {
  CHECK(
      piped(
          "a = ([1, 2], \"bc\", 2.5, t);\ndefconfig small, memory_size := 1000000, threads := 1;\n"
          "set config small;\na;\nset memory_size 2000000;\na;\n")
          .out ==
      "a = ([1, 2], \"bc\", 2.5, T) : [int], [char], float, bool\n"
      "it = ([1, 2], \"bc\", 2.5, T) : [int], [char], float, bool\n"
      "it = ([1, 2], \"bc\", 2.5, T) : [int], [char], float, bool\n");
}

TEST_CASE("completion") {
  Session session{std::string(library_text()) + std::string(definitions_text())};
  using Words = std::vector<std::string>;
  CHECK(complete(session, "plus_s").candidates == Words{"plus_scan"});
  CHECK(complete(session, "sum(PLUS_S").candidates == Words{"plus_scan"});
  CHECK(complete(session, "sum(PLUS_S").begin == 4);
  CHECK(complete(session, "desc").candidates == Words{"describe"});
  CHECK(complete(session, "1 + desc").candidates.empty());
  CHECK(complete(session, "set print").candidates == Words{"print_length"});
  CHECK(complete(session, "show con").candidates == Words{"config", "configs"});
  CHECK(complete(session, ":ex").candidates == Words{":explain"});
  CHECK(complete(session, "functi").candidates == Words{"function"});
}

TEST_CASE("Ctrl-C stops an evaluation, Ctrl-D leaves") {
  const Folder folder;
  Terminal terminal(folder);
  REQUIRE(terminal.prompts());
  terminal.type("function spin(n) = if n < 0 then n else spin(rem(n + 1, 7));\n");
  REQUIRE(terminal.shows("int -> int"));
  for (int i = 0; i < 2; ++i) {
    REQUIRE(terminal.prompts());
    terminal.type("print_line(\"running\"); spin(1);\n");
    REQUIRE(terminal.shows("it = T"));
    terminal.type("\x03");
    REQUIRE(terminal.shows("Interrupted."));
  }
  REQUIRE(terminal.prompts());
  terminal.type("(1,\n");
  REQUIRE(terminal.shows(".. "));
  terminal.type("2)\n");
  REQUIRE(terminal.shows(".. "));
  terminal.type("\n");
  REQUIRE(terminal.shows("it = (1, 2) : int, int"));
  REQUIRE(terminal.prompts());
  terminal.type("\x04");
  CHECK(terminal.exit_status() == 0);
}

}  // namespace
}  // namespace neslc::testing
