// Evaluations in the background. Named pipes make them meet: whoever opens one waits for the other
// end, so that a session which evaluated in the foreground would never come to the next form.
#include <csignal>
#include <fstream>
#include <string>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "contains.hpp"
#include "process.hpp"
#include "support.hpp"
#include "terminal.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// A folder with named pipes.
class Pipes : public Folder {
 public:
  explicit Pipes(std::initializer_list<const char*> names = {"pipe"}) {
    for (const char* const name : names) REQUIRE(mkfifo((path() / name).c_str(), 0600) == 0);
  }
};

/// `nesl run` of a text. It returns when no process holds the standard output any longer: those of
/// evaluations in the background do while they live.
Output run_text(const std::string& text, const Folder& folder, const std::string& options = "") {
  folder.write("program.nesl", text);
  return run(nesl("run program.nesl " + options), folder);
}

Output run_text(const std::string& text, const std::string& options = "") {
  const Folder folder;
  return run_text(text, folder, options);
}

TEST_CASE("the session goes on while an evaluation runs in the background") {
  const Output output = run_text(
      "a &= read_string_from_file(\"pipe\");\n1 + 1;\n"
      "write_string_to_file(\"hello\", \"pipe\");\na ++ \"!\";\na;\n",
      Pipes());
  CHECK(output.out ==
        "background a : [char]\nit = 2 : int\nit = T : bool\nit = \"hello!\" : [char]\n"
        "it = \"hello\" : [char]\n");
  CHECK(output.err == "");
  CHECK(output.status == 0);
}

TEST_CASE("two background evaluations run at the same time") {
  const Output output = run_text(
      "a &= write_string_to_file(\"from a\", \"pipe\");\n"
      "b &= read_string_from_file(\"pipe\");\nget b;\nget a;\n",
      Pipes());
  CHECK(output.out ==
        "background a : bool\nbackground b : [char]\nb = \"from a\" : [char]\na = T : bool\n");
}

constexpr const char* kValues = R"(datatype point(float, float);
x = 3;
many = ([[1, 2], [] int, [x]], "abc", (1.5, t), [`a], point(1.0, 2.0));
v &= {x * i + 1 : i in index(5)};
n &= (many, {#s : s in [[1], [2, 3]]}, {{(j, j > 0, float(j)) : j in index(i)} : i in index(4)});
(p, q) &= (max_int, [[] float, [0.1]]);
long &= dist(2.5, 100000);
compact &= index(1000000000);
functions &= [1, 2];
e &= [] [int];
v;
get n;
q; p;
let l = long in (sum(l), #l, #compact, compact[999999999]);
v &= {i : i in v | i > 4};
#e + sum(v);
r &= rand(1000000);
r == rand(1000000);
)";

TEST_CASE("values of every type arrive, and background evaluations use those of others") {
  const std::string expected =
      "x = 3 : int\n"
      "many = ([[1, 2], [], [3]], \"abc\", (1.5, T), \"a\", point(1.0, 2.0)) : "
      "[[int]], [char], (float, bool), [char], point\n"
      "background v : [int]\n"
      "background n : ([[int]], [char], (float, bool), [char], point), [int], "
      "[[(int, bool, float)]]\n"
      "background (p, q) : int, [[float]]\n"
      "background long : [float]\nbackground compact : [int]\nbackground functions : [int]\n"
      "background e : [[int]]\n"
      "it = [1, 4, 7, 10, 13] : [int]\n"
      "n = (([[1, 2], [], [3]], \"abc\", (1.5, T), \"a\", point(1.0, 2.0)), [1, 2], "
      "[[], [(0, F, 0.0)], [(0, F, 0.0), (1, T, 1.0)], "
      "[(0, F, 0.0), (1, T, 1.0), (2, T, 2.0)]]) : ([[int]], [char], (float, bool), [char], "
      "point), "
      "[int], [[(int, bool, float)]]\n"
      "it = [[], [0.1]] : [[float]]\nit = 2147483647 : int\n"
      "it = (250000.0, 100000, 1000000000, 999999999) : float, int, int, int\n"
      "background v : [int]\nit = 30 : int\nbackground r : int\nit = T : bool\n";
  const std::string options = GENERATE("", "-O1", "-O3", "--cost", "--profile");
  INFO(options);
  const Output output = run_text(kValues, options);
  CHECK(output.out == expected);
  CHECK(output.status == 0);
  if (options == "--cost") {
    CHECK(contains(output.err, "background v:\ncost: work 25, depth 3, vector operations 5"));
  } else if (options == "--profile") {
    CHECK(contains(output.err, "* INT            top level                  4 "));
  } else {
    CHECK(output.err == "");
  }
}

TEST_CASE("a failure in the background is told when its variable is used") {
  const std::string options = GENERATE("", "-O3");
  INFO(options);
  const Output output = run_text(
      "function twice(s) = {100 / (i - 3) : i in s};\nh &= sum(twice(index(10)));\n1;\nh;\n"
      "h = 5;\nh;\ne &= if error(\"no\") then 1 else 2;\n[e];\n",
      options);
  CHECK(output.out ==
        "background h : int\nit = 1 : int\nh = 5 : int\nit = 5 : int\nbackground e : int\n");
  CHECK(contains(output.err, "program.nesl:1:22: error: division by zero, in `twice` [E0201]\n"));
  CHECK(contains(output.err, "program.nesl:2:10: note: called from the top level\n"));
  CHECK(contains(output.err, "note: `h` was evaluated in the background and has no value\n"));
  CHECK(contains(output.err, "program.nesl:7:9: error: no [E0202]\n"));
  CHECK(output.status == 3);
}

TEST_CASE("a failure that no use has told is told at the end of the file") {
  const Output output = run_text("a &= 1 / 0;\nb &= 2;\nc &= 3 / 0;\nc;\n");
  CHECK(output.out == "background a : int\nbackground b : int\nbackground c : int\n");
  CHECK(contains(output.err, ":1:6: error: division by zero"));
  CHECK(output.err.find(":3:6: error") == output.err.rfind(":3:6: error"));
  CHECK(output.status == 3);
  const Folder folder;
  folder.write("input", "a &= 1 / 0;\n");
  CHECK(run(nesl("< input"), folder).status == 3);
}

TEST_CASE("an error of type is told at once") {
  const Output output = run_text("a = 1;\na &= [1] ++ 2.5;\na;\n");
  CHECK(contains(output.err, "program.nesl:2:6: error"));
  CHECK(output.out == "a = 1 : int\nit = 1 : int\n");
  CHECK(output.status == 1);
}

constexpr const char* kDeep = "--max-depth=1000000000";
constexpr const char* kSpin = "function spin(n) = if n < 0 then n else spin(rem(n + 1, 7));\n";

TEST_CASE("limits of background evaluations") {
  const Output time = run_text(std::string(kSpin) + "a &= spin(1), max_time := 0.2;\na;\n", kDeep);
  CHECK(contains(time.err, "program.nesl:2:1: error: the time limit of 0.2 seconds was reached"));
  CHECK(time.status == 4);
  const char* const squares = "{i * i : i in index(100000)}";
  const Output memory = run_text(fmt::format("a &= #{0}, mem := 100;\n#{0};\na;\n", squares));
  CHECK(contains(memory.err, "program.nesl:1:27: error: out of memory [V0601]\n"));
  CHECK(memory.out == "background a : int\nit = 100000 : int\n");
  CHECK(memory.status == 4);
  const Output configured = run_text(
      fmt::format("{0}defconfig small, memory_size := 100;\ndefconfig short, max_time := 1;\n"
                  "a &= #{1}, config := small;\nb &= #{1}, config := small, mem := 1000000;\n"
                  "c &= spin(1), config := short;\nb;\na;\nc;\n",
                  kSpin, squares),
      kDeep);
  CHECK(contains(configured.out, "it = 100000 : int\n"));
  CHECK(contains(configured.err, "program.nesl:4:27: error: out of memory"));
  CHECK(contains(configured.err, "the time limit of 1 seconds was reached"));
}

TEST_CASE("options of background evaluations that make no sense are refused") {
  const auto refused = [](const std::string& option) {
    const Output output = run_text("a &= 1, " + option + ";\n");
    CHECK(output.status == 1);
    CHECK(output.out == "");
    return output.err;
  };
  CHECK(contains(refused("mem := 0"), ":1:16: error: `mem` needs a number above 0 [E0111]"));
  CHECK(contains(refused("max_time := -1"), "`max_time` needs a number above 0"));
  CHECK(contains(refused("mem := \"x\""), "`mem` needs a number above 0"));
  CHECK(contains(refused("config := nowhere"), "there is no configuration `nowhere`"));
  CHECK(contains(refused("config := 1 + 1"), "`config` needs the name of one"));
}

TEST_CASE("the process of a background evaluation can be killed") {
  const Folder folder;
  folder.write("end", "kill -9 $PPID");
  const Output output = run_text("a &= shell_command(\"sh end\", \"\");\na;\n1;\n", folder);
  CHECK(contains(output.err,
                 "program.nesl:1:1: error: the process of the background evaluation was killed by "
                 "signal 9 (Killed) [V0704]\n"));
  CHECK(output.out == "background a : [char]\nit = 1 : int\n");
  CHECK(output.status == 5);
}

TEST_CASE("a variable with a new value waits no longer") {
  const Output output =
      run_text("a &= read_string_from_file(\"pipe\");\na = \"new\";\na;\n", Pipes());
  CHECK(output.out == "background a : [char]\na = \"new\" : [char]\nit = \"new\" : [char]\n");
}

TEST_CASE("background evaluations end with the session") {
  const char* const endless = "a &= read_string_from_file(\"pipe\");\nexit;\n";
  CHECK(run_text(endless, Pipes()).out == "background a : [char]\n");

  // Killed without a chance to do anything about them, when the evaluation runs for certain.
  const Pipes pipes{"ready", "never"};
  pipes.write(
      "program.nesl",
      "a &= if write_string_to_file(\"runs\", \"ready\") then read_string_from_file(\"never\")"
      " else \"\";\na;\n");
  const Output killed =
      run("exec 2> /dev/null; " + nesl("run program.nesl") + " & cat ready; kill -9 $!", pipes);
  CHECK(contains(killed.out, "runs"));
}

TEST_CASE("the sandbox starts no processes") {
  const Output output = run_text("a &= 1;\na = 2;\n", "--sandbox");
  CHECK(
      contains(output.err,
               "program.nesl:1:1: error: --sandbox forbids `&=`, which starts processes [V0603]"));
  CHECK(output.out == "a = 2 : int\n");
  CHECK(output.status == 4);
}

TEST_CASE("states of background evaluations") {
  const Output output = run_text(
      "a &= read_string_from_file(\"pipe\");\nb &= 1 / 0;\nb;\nshow status;\n"
      "write_string_to_file(\"x\", \"pipe\");\na;\nshow status;\n",
      Pipes());
  CHECK(
      contains(output.out, "background variables:\n  a : [char] (running)\n  b : int (failed)\n"));
  const std::size_t last = output.out.rfind("background variables:");
  CHECK(output.out.substr(last) == "background variables:\n  b : int (failed)\n");
}

TEST_CASE("tests wait for what they need, and compiling starts nothing") {
  const Folder folder;
  folder.write("p.nesl", "a &= 3 * 4;\na + 1;\n");
  CHECK(run(nesl("compile p.nesl -o p.vcode") + " && '" + VINTERP_PROGRAM + "' p.vcode", folder)
            .out == "( 13 )\n");
  folder.write("p.expected", "background a : int\nit = 13 : int\n");
  CHECK(run(nesl("test p.nesl"), folder).status == 0);
  folder.write("wrong.nesl", "a &= 1 / 0;\n1;\n");
  CHECK(run(nesl("compile wrong.nesl -e a -o p.vcode"), folder).status == 0);
}

TEST_CASE("Ctrl-C ends the wait for a background evaluation, which goes on") {
  const Pipes pipes;
  Terminal terminal(pipes);
  REQUIRE(terminal.prompts());
  terminal.type("a &= read_string_from_file(\"pipe\");\n");
  REQUIRE(terminal.shows("background a : [char]"));
  REQUIRE(terminal.prompts());
  terminal.type("print_line(\"waits\"); a;\n");
  REQUIRE(terminal.shows("it = T"));
  terminal.type("\x03");
  REQUIRE(terminal.shows("Interrupted."));
  REQUIRE(terminal.prompts());
  std::ofstream(pipes.path() / "pipe") << "still there";
  terminal.type("a;\n");
  REQUIRE(terminal.shows("it = \"still there\" : [char]"));
  REQUIRE(terminal.prompts());
  terminal.type("b &= read_string_from_file(\"pipe\");\n");
  REQUIRE(terminal.shows("background b : [char]"));
  REQUIRE(terminal.prompts());
  terminal.type("\x04");
  CHECK(terminal.exit_status() == 0);
}

}  // namespace
}  // namespace neslc::testing
