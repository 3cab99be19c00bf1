// Values, texts and programs at the edges: least and infinite numbers, characters outside of ASCII,
// long chains of operators, places in input that comes through a pipe.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "process.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

const std::vector<std::string> kLevels = {"", "-O0", "-O1", "-O2", "-O3"};

/// The value of an expression at each level, which is to be the same.
void check_value(const std::string& expression, const std::string& line,
                 const std::string& options = "") {
  const Folder folder;
  folder.write("p.nesl", expression + ";\n");
  for (const std::string& level : kLevels) {
    const Output output =
        run(nesl("run p.nesl --memory=400M --timeout=60 " + options + " " + level), folder);
    INFO(expression.substr(0, 200) << "\n"
                                   << level << " " << options << "\n"
                                   << output.err.substr(0, 1000));
    CHECK(output.out == line + "\n");
  }
}

// Infinity and NaN: -ln(0.0) and the difference of two of these.
const std::string kUnusual = "let inf = -ln(0.0); nan = inf - inf in ";

TEST_CASE("text of infinities, of NaN, and of the least and greatest floats") {
  check_value(kUnusual + "[@inf, @(-inf), @nan]", "it = [\"inf\", \"-inf\", \"nan\"] : [[char]]");
  check_value(kUnusual + "@[nan, 1.5, 0.0]", "it = \"[nan, 1.5, 0.0]\" : [char]");
  check_value(kUnusual + "{exp_string(x, 3) : x in [inf, nan, 2.5]}",
              "it = [\"inf\", \"nan\", \"2.500e+0\"] : [[char]]");
  check_value("{@exp(x) : x in [709.0, -740.0, -745.0]}",
              "it = [\"8.2184075e+307\", \"4.199558e-322\", \"4.9406565e-324\"] : [[char]]");
}

TEST_CASE("parse_float reads what @ writes") {
  check_value(
      "{parse_float(s) : s in [\"inf\", \"-inf\", \"+inf\", \"nan\", \"Inf\", \"infinity\"]}",
      "it = [(inf, T), (-inf, T), (inf, T), (nan, T), (0.0, F), (0.0, F)] : [(float, bool)]");
  check_value(
      "{parse_float(s) : s in [\"1e400\", \"-1e4294967296\", \"1e-400\", \"0e999999\", "
      "\"5e-324\"]}",
      "it = [(inf, T), (-inf, T), (0.0, T), (0.0, T), (5.0E-324, T)] : [(float, bool)]");
  check_value("parse_float(dist(`0, 400) ++ \"12.5\")", "it = (12.5, T) : float, bool");
  check_value("parse_float(\"0.\" ++ dist(`0, 400) ++ \"1e400\")", "it = (0.1, T) : float, bool");
}

TEST_CASE("NaN is equal to nothing, also for what compares by hashing") {
  check_value(kUnusual + "remove_duplicates([nan, 1.0, nan, 1.0])",
              "it = [nan, nan, 1.0] : [float]");
  check_value(kUnusual + "collect([((nan, 1), 2), ((0.5, 1), 3), ((0.5, 1), 4)])",
              "it = [((nan, 1), [2]), ((0.5, 1), [3, 4])] : [((float, int), [int])]");
  check_value(kUnusual + "(histogram([nan]), mark_duplicates([nan, nan]), name([nan, nan]))",
              "it = ([(nan, 1)], [T, T], [0, 1]) : [(float, int)], [bool], [int]");
  check_value(kUnusual +
                  "(union([nan], [nan]), intersection([nan], [nan]), "
                  "set_difference([nan], [nan]))",
              "it = ([nan, nan], [], [nan]) : [float], [float], [float]");
  check_value(kUnusual + "search_table([nan, 1.0], create_table([(nan, 1), (1.0, 2)]))",
              "it = [(0, F), (2, T)] : [(int, bool)]");
  check_value(kUnusual + "#remove_duplicates(dist(nan, 20000))", "it = 20000 : int");
  check_value(kUnusual + "#[kth_smallest({select(i < 50, float(i), nan) : i in [0:200]}, 20)]",
              "it = 1 : int");
}

TEST_CASE("a sequence without elements has no least one, and no place of it") {
  for (const char* const expression :
       {"min_index([] int)", "max_index([] float)", "{min_index(v) : v in [[3, 1], [] int]}"}) {
    for (const std::string& level : kLevels) {
      const Output output = run(nesl("-e '" + std::string(expression) + "' " + level));
      INFO(expression << level << "\n" << output.out << output.err);
      CHECK(output.status == 3);
      CHECK(contains(output.err, "this index is outside the sequence"));
      CHECK(contains(output.err, "note: index 0, length 0"));
      CHECK(contains(output.err, "note: in the library function `m"));
    }
  }
  check_value("{max_index(v) : v in [] [int]}", "it = [] : [int]");
  check_value("{if #v == 0 then -1 else min_index(v) : v in [[3, 1], [] int]}",
              "it = [1, -1] : [int]");
}

TEST_CASE("the least integers can be written") {
  check_value("-2147483648", "it = -2147483648 : int");
  check_value("(-2147483648 + 1, [-2147483648, 5], 3 - 2147483647)",
              "it = (-2147483647, [-2147483648, 5], -2147483644) : int, [int], int");
  check_value("{-2147483648 + i : i in [0, 1]}", "it = [-2147483648, -2147483647] : [int]");
  check_value("-9223372036854775808", "it = -9223372036854775808 : int", "--int=64");
  // Where a loop that reads a matrix counts from it.
  check_value(
      "let m = {{i + j : j in [0:2]} : i in [0:2]} in "
      "{sum({m[i][j] : j in [-9223372036854775808:9223372036854775807]}) : i in [] int}",
      "it = [] : [int]", "--int=64");
  check_value("2 -1", "it = 1 : int");
  check_value("-2 ^ 2", "it = 4 : int");
  CHECK(contains(run(nesl("-e '2147483648'")).err, "2147483648 does not fit a 32-bit INT"));
  CHECK(contains(run(nesl("-e '3 - 9223372036854775808' --int=64")).err,
                 "this number does not fit in 64 bits"));
  CHECK(contains(run(nesl("-e '-9223372036854775809' --int=64")).err,
                 "this number does not fit in 64 bits"));
}

TEST_CASE("of vectors that are joined behind an empty one, elements are fetched") {
  check_value(
      "let s = {0 : v in set_difference("
      "next([[] (int, int), [(0, max_int), (0, 0)], [(0, 0), (0, 0)]], [(0, 0), (0, 0)]), "
      "[] [(int, int)])}; r = [] int in sum({count({x > y : x in r}) : y in s})",
      "it = 0 : int", "-O3");
}

TEST_CASE("conditions on numbers that wrap around are not decided by what they would have been") {
  for (const char* level : {"-O0", "-O3"}) {
    check_value("if 2000000000 - -2000000000 < 0 then 1 else 2", "it = 1 : int", level);
    CHECK(contains(run(nesl(std::string(level) + " -e '[-2000000000:2000000000:1000000000]'")).err,
                   "too far apart"));
  }
}

TEST_CASE("ranges with strides are as long as they are up to the greatest integers") {
  check_value("(#[0:2147483647:2], #[3:2147483647:2147483647], #[5:5:2147483647])",
              "it = (1073741824, 1, 0) : int, int, int");
  check_value("{#[i:2147483647:1073741823 + i] : i in [0:3]}", "it = [3, 2, 2] : [int]");
  check_value("let n = rand(1) in #[n:n + 2147483646:3]", "it = 715827882 : int");
  check_value("[-2000000000:2000000000:1000000000]",
              "it = [-2000000000, -1000000000, 0, 1000000000] : [int]", "--int=64");
  CHECK(contains(run(nesl("-e '{#[i:2000000000:9] : i in [-5, -500000000]}'")).err,
                 "start -500000000, end 2000000000, stride 9"));
}

std::string chain(const std::string& operand, const std::string& mark, int length) {
  std::string text = operand;
  for (int i = 0; i < length; ++i) text += mark + operand;
  return text;
}

TEST_CASE("chains of operators have any length") {
  constexpr int kLength = ::testing::some_of(100'000);
  const Folder folder;
  folder.write("sum.nesl", chain("1", " + ", kLength) + ";\n");
  CHECK(run(nesl("run sum.nesl"), folder).out == fmt::format("it = {} : int\n", kLength + 1));
  CHECK(run(nesl("check sum.nesl"), folder).status == 0);
  folder.write("append.nesl", "#(" + chain("\"a\"", " ++ ", kLength) + ");\n");
  CHECK(run(nesl("run append.nesl"), folder).out == fmt::format("it = {} : int\n", kLength + 1));
  folder.write("each.nesl", "{" + chain("x", " + ", kLength) + " : x in [1, 2]};\n");
  CHECK(run(nesl("run each.nesl"), folder).out ==
        fmt::format("it = [{}, {}] : [int]\n", kLength + 1, 2 * (kLength + 1)));
  folder.write("read.nesl", "function at(v, i) = v[i];\nlet v = [5, 7] in {at(v, 1) + " +
                                chain("x", " + ", kLength) + " + at(v, x - 1) : x in [1, 2]};\n");
  CHECK(run(nesl("run read.nesl"), folder).out ==
        fmt::format("it = [{}, {}] : [int]\n", kLength + 13, 2 * (kLength + 1) + 14));
  folder.write("function.nesl",
               "function long(x) = " + chain("x", " + ", kLength) + ";\nlong(3);\n");
  CHECK(run(nesl("run function.nesl"), folder).out ==
        fmt::format("it = {} : int\n", 3 * (kLength + 1)));
  CHECK(contains(run(nesl("graph function.nesl"), folder).err, "too many for a picture"));
  folder.write("deep.nesl", std::string(1000, '(') + "1" + std::string(1000, ')') + ";\n");
  CHECK(contains(run(nesl("run deep.nesl"), folder).err, "nested too deeply"));
}

TEST_CASE("characters outside of ASCII") {
  const Folder folder;
  // A string holds the bytes of UTF-8, and is shown as that.
  folder.write("p.nesl",
               "\"\xc3\xa9\";\n#\"\xc3\xa9\";\nreverse(\"\xc3\xa9\");\n(\"\xc3\xa9\"[1], 2);\n"
               "[code_char(27), code_char(200), `x, code_char(92), code_char(127)];\n");
  CHECK(run(nesl("run p.nesl"), folder).out ==
        "it = \"\xc3\xa9\" : [char]\nit = 2 : int\nit = \"\\xa9\\xc3\" : [char]\n"
        "it = (`\\xa9, 2) : char, int\nit = \"\\x1b\\xc8x\\\\\\x7f\" : [char]\n");
  folder.write("c.nesl", "`\xc3\xa9;\n");
  CHECK(run(nesl("run c.nesl"), folder).err ==
        "c.nesl:1:1: error: `\xc3\xa9` is outside of ASCII, which a character cannot be [E0101]\n"
        "    1 | `\xc3\xa9;\n      | ^^\n"
        "help: in a string it stands for the bytes of its UTF-8 form, one character each\n");
}

TEST_CASE("objects in files lose nothing") {
  const Folder folder;
  folder.write("p.nesl",
               "set exact_floats on;\n"
               "v = ([1.0 / 3.0, 0.1, 1.0e300 / 7.0, 5.0e-324], \"text\", [[t, f], [] bool]);\n"
               "write_object_to_file(v, \"object\");\n"
               "w = read_object_from_file(v, \"object\");\n"
               "eql(v, w);\n");
  CHECK(run(nesl("run p.nesl"), folder).out ==
        "v = ([0.3333333333333333, 0.1, 1.4285714285714286E299, 5.0E-324], \"text\", "
        "[[T, F], []]) : [float], [char], [[bool]]\n"
        "it = T : bool\n"
        "w = ([0.3333333333333333, 0.1, 1.4285714285714286E299, 5.0E-324], \"text\", "
        "[[T, F], []]) : [float], [char], [[bool]]\n"
        "it = T : bool\n");
  CHECK(run(nesl("-e '1.0 / 3.0'")).out == "it = 0.333333333333333 : float\n");
}

TEST_CASE("a file that holds a value of another type gives the prototype and a message") {
  const Folder folder;
  folder.write("number", "4096\n");
  folder.write("three", "( 1 2 3 )\n");
  folder.write("nest", "[ 2 ]\n[ 1 3 ]\n( 1 2 3 )\n");
  const auto read = [&](const std::string& prototype, const std::string& file) {
    return run(nesl("-e 'read_object_from_file(" + prototype + ", \"" + file + "\")'"), folder);
  };
  const Output number = read("0", "number");
  CHECK(number.out == "it = 0 : int\n");
  CHECK(contains(number.err, "input error: vector must start with (, found '4'"));
  for (const char* prototype : {"7", "(7, 8)", "[7]", "[[7]]", "[\"a\"]"}) {
    const Output three = read(prototype, "three");
    CHECK(contains(three.out, "7") != contains(three.out, "\"a\""));
    CHECK(contains(three.err, "ERROR: while trying to read three"));
  }
  // A descriptor of four elements, and three of them.
  const Output nest = read("[[7]]", "nest");
  CHECK(nest.out == "it = [[7]] : [[int]]\n");
  CHECK(contains(nest.err, "what stands there is no value of this type"));
  CHECK(read("([7], [7])", "nest").out == "it = ([7], [7]) : [int], [int]\n");
}

TEST_CASE("messages tell the line of input that comes through a pipe") {
  const Folder folder;
  folder.write("input", "1;\n\nx1 + 1; 2; let a = 3\nin a + b;\n:type 1 + t\n\n:cost\n3; y1;");
  const Output output = run(nesl("< input"), folder);
  CHECK(output.out == "it = 1 : int\nit = 2 : int\nit = 3 : int\n");
  CHECK(contains(output.err, "standard input:3:1: error: `x1` is not defined"));
  CHECK(contains(output.err, "standard input:4:8: error: `b` is not defined"));
  CHECK(contains(output.err, "standard input:5:1: error"));
  CHECK(contains(output.err, "standard input:8:4: error: `y1` is not defined"));
}

TEST_CASE("a measurement without an expression is an error that changes nothing") {
  const Folder folder;
  folder.write("input", ":cost\n1;\n:time\n2;\n:cost function f1(x) = x\n:cost 3\n4;\n");
  const Output output = run(nesl("< input"), folder);
  CHECK(output.out == "it = 1 : int\nit = 2 : int\nit = 3 : int\nit = 4 : int\n");
  CHECK(output.err ==
        "nesl: error: an expression is missing [E0112]\n"
        "nesl: error: an expression is missing [E0112]\n"
        "nesl: error: this command takes an expression, not a definition [E0112]\n"
        "cost: work 0, depth 0, vector operations 0, longest vector 0\n");
  CHECK(output.status == 1);
}

}  // namespace
}  // namespace neslc::testing
