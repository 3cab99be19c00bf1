// The command `nesl`: its options, exit statuses, messages and reports.
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "process.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

TEST_CASE("expressions on the command line") {
  CHECK(run(nesl("-e 'sum({x * x : x in [0:4]})'")).out == "it = 14 : int\n");
  CHECK(run(nesl("run -e 'a = 3; a + 1'")).out == "a = 3 : int\nit = 4 : int\n");
  const Folder folder;
  folder.write("sq.nesl", "function sq(x) = x * x;\nsq(2);\n");
  CHECK(run(nesl("run sq.nesl"), folder).out == "it = 4 : int\n");
  CHECK(run(nesl("run sq.nesl 'sq(3)'"), folder).out == "it = 9 : int\n");
  CHECK(run(nesl("run sq.nesl -e 'sq(3)'"), folder).out == "it = 9 : int\n");
  CHECK(run(nesl("run - < sq.nesl"), folder).out == "it = 4 : int\n");
}

TEST_CASE("several expressions on the command line are evaluated in their order") {
  const Output output = run(nesl("-e 'x = 3' -e 'x * x;' -e 'x + 1; x / 0'"));
  CHECK(output.out == "x = 3 : int\nit = 9 : int\nit = 4 : int\n");
  CHECK(contains(output.err, "expression:3:8: error: division by zero"));
}

TEST_CASE("exit statuses") {
  const Folder folder;
  folder.write("wrong.nesl", "1 + `a;\n");
  CHECK(run(nesl("-e '1 + 1'")).status == 0);
  CHECK(run(nesl("run wrong.nesl"), folder).status == 1);
  CHECK(run(nesl("check wrong.nesl"), folder).status == 1);
  CHECK(run(nesl("run missing.nesl")).status == 2);
  CHECK(run(nesl("--nonsense")).status == 2);
  CHECK(run(nesl("runn wrong.nesl"), folder).status == 2);
  CHECK(run(nesl("-e '[1, 2][5]'")).status == 3);
  CHECK(run(nesl("-e 'error(\"no\")'")).status == 3);
  CHECK(run(nesl("-O0 -e 'sum({i * i : i in index(100000000)})' --memory 1M")).status == 4);
  CHECK(run(nesl("-e 'function f1(n) = f1(n + 1) + 1; f1(0)' --timeout 0.2")).status == 4);
  CHECK(run(nesl("-e '1' --backend nosuch")).status == 2);
}

TEST_CASE("a command line that cannot be understood is answered with what was meant") {
  CHECK(run(nesl("--tim")).err ==
        "nesl: error: unknown option `--tim` [V0401]\n"
        "help: did you mean `--time`?\n");
  CHECK(contains(run(nesl("chek x")).err, "did you mean `nesl check`?"));
  CHECK(contains(run(nesl("run")).err, "`nesl run` needs a file"));
  const Folder folder;
  folder.write("sq.nesl", "1;\n");
  CHECK(contains(run(nesl("sq.nesl"), folder).err, "did you mean `nesl run sq.nesl`?"));
  CHECK(contains(run(nesl("run sp.nesl"), folder).err, "did you mean `sq.nesl`?"));
}

TEST_CASE("help, manual and completions name the commands and options of nesl") {
  for (const char* form : {"text", "man", "bash", "zsh", "fish"}) {
    const Output output = run(nesl(std::string("--help=") + form));
    INFO(form);
    CHECK(output.status == 0);
    for (const char* word : {"compile", "transcript", "threads", "cost"}) {
      CHECK(contains(output.out, word));
    }
  }
  std::size_t width = 0;
  for (const char c : run(nesl("--help")).out) {
    width = c == '\n' ? 0 : width + 1;
    CHECK(width <= 80);
  }
  CHECK(run(nesl("--version")).out.starts_with("nesl "));
}

TEST_CASE("a run-time error shows its place and the calls that led there") {
  const Folder folder;
  folder.write("at.nesl",
               "function at(v, i) = v[i];\n"
               "function fact(n) = if n == 0 then at([1, 2], 7) else n * fact(n - 1);\n"
               "fact(5);\n");
  CHECK(run(nesl("run at.nesl"), folder).err ==
        R"(at.nesl:1:21: error: this index is outside the sequence, in `at` [E0201]
    1 | function at(v, i) = v[i];
      |                     ^^^^
note: index 7, length 2
at.nesl:2:35: note: called from `fact`
    2 | function fact(n) = if n == 0 then at([1, 2], 7) else n * fact(n - 1);
      |                                   ^^^^^^^^^^^^^
at.nesl:2:58: note: called from `fact`, 5 times
    2 | function fact(n) = if n == 0 then at([1, 2], 7) else n * fact(n - 1);
      |                                                          ^^^^^^^^^^^
at.nesl:3:1: note: called from the top level
    3 | fact(5);
      | ^^^^^^^
help: the elements of `v` are counted from 0 to `#v - 1`
)");
}

TEST_CASE("an error inside the library is shown at the user's call") {
  CHECK(run(nesl("-e 'rest_tail([] int)'")).err ==
        R"(expression:1:1: error: `take`: the sequence is too short [E0201]
    1 | rest_tail([] int)
      | ^^^^^^^^^^^^^^^^^
note: count -1, length 0
note: in the library function `rest_tail`, which calls `take`
)");
  CHECK(contains(run(nesl("-e 'median([] int)'")).err, "in the library function `median`"));
  // The lambda is the user's, though the library calls it.
  CHECK(contains(run(nesl("-e 'scan(((a, b) => a / b), 0, [1, 2, 0, 4])'")).err,
                 "expression:1:17: error: division by zero"));
}

TEST_CASE("the cost does not depend on threads and is that of the operations") {
  const std::string program =
      "-e 'function q(a) = if #a < 2 then a else let p = a[0] in "
      "flatten({q(v) : v in [{x in a | x < p}, [p], {x in a | x > p}]}); "
      "q([3,1,2,5,4])' --cost";
  const std::string one = run(nesl(program)).err;
  const std::string four =
      run(std::string("'") + NESL_PROGRAM + "' " + program + " --backend cpu --threads 4").err;
  CHECK(one == four);
  CHECK(contains(one, "cost: work "));
  // A sum of squares: distribute-free, one product, one sum, one range.
  CHECK(run(nesl("-e 'sum([0:100])' --cost")).err ==
        "cost: work 200, depth 2, vector operations 2, longest vector 100\n");
  // An element costs nothing but itself.
  const std::string element = run(nesl("-e 'v = reverse([0:1000]); v[7]' --cost")).err;
  const std::size_t at = element.find("\ncost: work ");
  REQUIRE(at != std::string::npos);
  CHECK(std::stoi(element.substr(at + 12)) < 20);
}

TEST_CASE("a profile names functions and lines of the program") {
  const Folder folder;
  folder.write("p.nesl",
               "function norm(v) =\n"
               "  let s = sum({x * x : x in v})\n"
               "  in sqrt(s);\n"
               "norm({float(i) : i in [0:1000]});\n");
  const Output output = run(nesl("run p.nesl --profile"), folder);
  CHECK(output.status == 0);
  CHECK(contains(output.err, "+_REDUCE FLOAT   norm                       2"));
  CHECK(contains(output.err, "norm > sqrt                3"));
  CHECK(contains(output.err, "top level                  4"));
}

TEST_CASE("compiled programs say where their instructions come from") {
  const Folder folder;
  folder.write("c.nesl", "function ratio(a, b) =\n  a / b;\nratio(1, rand(1));\n");
  CHECK(run(nesl("compile c.nesl -o c.vcode"), folder).status == 0);
  const std::string text = read_file(folder.path() / "c.vcode");
  CHECK(contains(text, "{ c.nesl:2:3 ratio }"));
  const Output profile = run(std::string("'") + VINTERP_PROGRAM + "' --profile c.vcode", folder);
  CHECK(contains(profile.err, "ratio                      2"));
}

TEST_CASE("the serial form evaluates one instance after another") {
  CHECK(run("printf abc | " + nesl("-e '{* read_char(stdin) : i in [0:3]}'")).out ==
        "it = [(`a, T, \"\"), (`b, T, \"\"), (`c, T, \"\")] : [(char, bool, [char])]\n");
  const Output printed = run(nesl("-e '{* print_char(c) : c in \"abcde\" | c /= `b}'"));
  CHECK(printed.err == "abcde");
  CHECK(printed.out == "it = [T, T, T, T] : [bool]\n");
  CHECK(run(nesl("-e '{* print_char(`x) : c in \"\"}'")).err == "");
  CHECK(run(nesl("-e '{* x in [1, 2, 3]; y in \"abc\" | x > 1}'")).out == "it = [2, 3] : [int]\n");
  CHECK(run(nesl("-e '{{* x * y : x in [0:y]} : y in [0, 1, 3]}'")).out ==
        "it = [[], [0], [0, 3, 6]] : [[int]]\n");
  CHECK(run(nesl("-e 'map(sqrt, [1.0, 4.0])'")).out == "it = [1.0, 2.0] : [float]\n");
}

TEST_CASE("messages as JSON") {
  CHECK(run(nesl("-e '[1][2]' --diagnostics=json")).err ==
        R"({"file":"expression","line":1,"column":1,"length":6,"severity":"error","code":"E0201",)"
        R"("message":"this index is outside the sequence","function":"",)"
        R"("notes":[{"text":"index 2, length 1","line":0,"column":0}],)"
        R"("help":"the elements of `v` are counted from 0 to `#v - 1`"})"
        "\n");
  CHECK(contains(run(nesl("run nosuch.nesl --diagnostics=json")).err, "\"code\":\"V0402\""));
}

TEST_CASE("a profile can be written as a trace") {
  const Folder folder;
  CHECK(run(nesl("-e 'sum({x * x : x in [0:9]})' --profile=out.json"), folder).status == 0);
  const std::string trace = read_file(folder.path() / "out.json");
  CHECK(contains(trace, "\"traceEvents\""));
  CHECK(contains(trace, "\"name\":\"+_REDUCE INT\""));
  CHECK(run(nesl("-e '1 + rand(1)' --profile=nosuch/out.json"), folder).status == 5);
}

TEST_CASE("nesl test compares and counts") {
  const Folder folder;
  folder.write("t.nesl", "1 + 1;\n2 + 2;\n[1][3];\n");
  folder.write("t.expected",
               "it = 2 : int\nit = 4 : int\n"
               "RUNTIME ERROR: Sequence reference (a[i]) out of bounds.\n");
  CHECK(run(nesl("test t.nesl"), folder).status == 0);
  folder.write("t.expected", "it = 2 : int\nit = 5 : int\n");
  const Output output = run(nesl("test t.nesl"), folder);
  CHECK(output.status == 3);
  CHECK(output.out ==
        "t.expected:2: expected it = 5 : int\n  got it = 4 : int\n"
        "t.nesl: 1 more values than expected, the first one\n"
        "  RUNTIME ERROR: Sequence reference (a[i]) out of bounds.\n");
}

TEST_CASE("programs that start processes are refused in the sandbox") {
  CHECK(run(nesl("run --sandbox -e 'shell \"echo hello\"'")).status == 4);
  CHECK(run(nesl("-e 'shell \"echo hello\"'")).out == "hello\n");
}

TEST_CASE("a program that closes standard output closes it for itself only") {
  CHECK(run(nesl("-e 'close_file(stdout); 1 + 1'")).out.ends_with("it = 2 : int\n"));
}

}  // namespace
}  // namespace neslc::testing
