// Top-level variables of programs that run elsewhere: computed once, as where nesl runs them.
#include <string>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "process.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// What `nesl run` prints of an expression, without its name and type; the compiled program must
/// print the same at each level, on one line.
std::string everywhere(const Folder& folder, const std::string& expression) {
  const std::string program = " p.nesl '" + expression + "'";
  const std::string all = run(nesl("run" + program + " 2> messages"), folder).out;
  const std::string value = all.substr(0, all.rfind(" : "));
  std::string first;
  for (const char* options :
       {"-o p.vcode -O0", "-o p.vcode -O1", "-o p.vcode -O2", "-o p.vcode -O3", "-o p.fcode -O3"}) {
    INFO(expression << " " << options);
    const Output compiled = run(nesl("compile" + program + " " + options), folder);
    CHECK(compiled.status == 0);
    const std::string made = std::string(options).substr(3, 7);
    const Output output = run(std::string("'") + VINTERP_PROGRAM + "' " + made, folder);
    CHECK(output.status == 0);
    if (first.empty()) first = output.out;
    CHECK(output.out == first);
  }
  return value.substr(value.rfind("it = ") + 5) + " | " + first;
}

}  // namespace

TEST_CASE("a variable has one value, wherever it is used") {
  const Folder folder;
  folder.write("p.nesl",
               "v = {rand(m) : m in dist(1000000, 3)};\n"
               "(a, b) = (rand(1000000), rand(1000000));\n"
               "w = {x + a : x in v};\n"
               "function total(k) = sum(v) * k;\n"
               "function far(n) = if n == 0 then b else far(n - 1) + w[0] - v[0] - a;\n"
               "function apart(x) = (x + sum(w), b);\n");
  CHECK(everywhere(folder, "sum(v) == total(1)") == "T | ( T )\n");
  CHECK(everywhere(folder, "far(5) == b") == "T | ( T )\n");
  CHECK(everywhere(folder, "sum({x : (x, y) in {apart(i) : i in [1:4]} | y == b}) - 3 * sum(w)") ==
        "6 | ( 6 )\n");
  CHECK(everywhere(folder, "{y - x - a : x in v; y in w}") == "[0, 0, 0] | [ 3 ]\n( 0 0 0 )\n");
}

TEST_CASE("variables reach recursion, loops, streams and functions without names") {
  const Folder folder;
  folder.write("p.nesl",
               "table = {i * i : i in index(100)};\n"
               "rows = {index(i) : i in index(4)};\n"
               "record = (table[7], \"text\", 0.5);\n"
               "function steps(k, s) = if k == 0 then s else steps(k - 1, s + table[k]);\n"
               "most = max_val(table);\n"
               "function halves(k, s) = if k > most then s else halves(2 * k, s + most);\n"
               "function place(x, lo, hi) = if lo >= hi then lo\n"
               "  else let m = (lo + hi) / 2\n"
               "       in if table[m] < x then place(x, m + 1, hi) else place(x, lo, m);\n"
               "function apply(g, x) = g(x);\n"
               "function ends(k) = if k < 0 then rows[0] else rows[k] ++ ends(k - 1);\n");
  CHECK(everywhere(folder, "steps(10, 0)") == "385 | ( 385 )\n");
  CHECK(everywhere(folder, "halves(3, 0)") == "117612 | ( 117612 )\n");
  CHECK(everywhere(folder, "halves(3 + rand(1), 0)") == "117612 | ( 117612 )\n");
  CHECK(everywhere(folder, "sum({place(x, 0, 100) : x in [0, 50, 10000]})") == "108 | ( 108 )\n");
  CHECK(everywhere(folder, "sum({steps(k, 0) : k in [1, 2, 3]})") == "20 | ( 20 )\n");
  CHECK(everywhere(folder, "sum({table[i] : i in iota(100)})") == "328350 | ( 328350 )\n");
  CHECK(everywhere(folder, "apply((x => table[x] + #rows), 3)") == "13 | ( 13 )\n");
  CHECK(everywhere(folder, "sum(ends(3))") == "4 | ( 4 )\n");
  CHECK(everywhere(folder, "let (n, word, half) = record in (n + #word, half)") ==
        "(53, 0.5) | ( 53 )\n( 5.00000000000000e-01 )\n");
}

TEST_CASE("what a variable's expression does is done once, in the order of the text") {
  const Folder folder;
  folder.write("p.nesl",
               "one = print_line(\"first\");\n"
               "two = print_line(\"second\");\n"
               "unused = print_line(\"unused\");\n"
               "function both(k) = if k == 0 then two and one else both(k - 1);\n");
  CHECK(run(nesl("compile p.nesl 'both(3)' -o p.vcode"), folder).status == 0);
  const Output output = run(std::string("'") + VINTERP_PROGRAM + "' p.vcode", folder);
  CHECK(output.out == "( T )\n");
  CHECK(output.err == "first\nsecond\n");
}

TEST_CASE("a table is not computed again in each call") {
  const Folder folder;
  folder.write("p.nesl",
               "table = {sqrt(float(i)) : i in index(1000)};\n"
               "function steps(k, s) = if k == 0 then s else steps(k - 1, s + table[k]);\n");
  for (const char* level : {"-O0", "-O3"}) {
    CHECK(run(nesl(std::string("compile p.nesl 'steps(rand(1) + 50, 0.0)' -o p.vcode ") + level),
              folder)
              .status == 0);
    const Output output =
        run(std::string("'") + VINTERP_PROGRAM + "' p.vcode -O0 --profile", folder);
    INFO(level << "\n" << output.err);
    const std::size_t row = output.err.find("\nSQRT");
    REQUIRE(row != std::string::npos);
    const std::string line = output.err.substr(row + 1, output.err.find('\n', row + 1) - row - 1);
    CHECK(contains(line, " 1     1000 "));
  }
}

}  // namespace neslc::testing
