// Programs that read and write, begun anew in optimized form at many points: nobody can tell.
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "occurrences.hpp"
#include "process.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;
using ::testing::occurrences;

/// `nesl ARGUMENTS`, which begins programs anew after so much work.
std::string begun_anew(const std::string& work, const std::string& arguments) {
  return std::string("'") + BEGUN_ANEW_PROGRAM + "' " + work + " nesl " + arguments +
         " --backend cpu --threads 1";
}
std::string begun_anew(int work, const std::string& arguments) {
  return begun_anew(std::to_string(work), arguments);
}
/// The same, wherever the run is when the optimizer, which begins after so much work, has ended.
std::string begun_anew_later(int work, const std::string& arguments) {
  return begun_anew(std::to_string(work) + "+", arguments);
}

/// What a command leaves: its output, its status, the files.
std::map<std::string, std::string> effects(const std::string& command, const std::string& program) {
  const Folder folder;
  folder.write("p.nesl", program);
  folder.write("input", "hello there\nlast line\n");
  const Output output = run(command + " < input", folder);
  std::map<std::string, std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    found[entry.path().filename().string()] = read_file(entry.path());
  }
  found["(status)"] = std::to_string(output.status);
  found["(output)"] = output.out;
  return found;
}

TEST_CASE("what reads and writes has the same effects wherever it is begun anew") {
  const std::string program = R"nesl(
function put_text(text, s) = write_check(write_string(text, s));
function counted_down(n, s) =
  if n == 0 then print_line("end")
  else let a = put_text(@n ++ " ", s);
           b = if rem(n, 3) == 0 then print_line("three: " ++ @n) else t
       in counted_down(n - 1, s);
function numbers(name) =
  let v = read_int_seq_from_file(name);
      w = {x * x + rand(x + 1) : x in v};
      p = print_line("sum " ++ @sum(w))
  in if sum(w) > 3 then print_line(@w) else print_line("none");
function lines(s, n) =
  let ((text, end), ok, message) = read_line(s)
  in if end then n else let a = print_line(@n ++ ": " ++ text) in lines(s, n + 1 + #wordify(text));
function spoken(c) =
  let ((i, o, e), ok, message) = spawn(c, nullstr, nullstr, nullstr);
      (text, ok2, m) = read_line(o);
      a = close_file(i); b = close_file(o); d = close_file(e)
  in text;
function reciprocals(v) =
  let a = print_line("before " ++ @#v);
      r = {100 / x : x in v};
      b = print_line("after " ++ @r)
  in sum(r);
write_string_to_file("( 4 5 6 7 )", "numbers");
numbers("numbers");
let s = open_check(open_out_file("down")); a = counted_down(7, s) in close_check(close_file(s));
write_object_to_file(([[1, 2], [3]], {sqrt(float(i)) : i in [0:5]}, `c, t, "str"), "object");
read_object_from_file(([[0]], [0.0], `a, f, ""), "object");
write_string_to_file("one two" ++ [newline] ++ "three" ++ [newline], "text");
let s = open_check(open_in_file("text")); n = lines(s, 0); c = close_file(s) in n;
lines(stdin, 0);
spoken("echo spoken word");
{let a = print_string(@i ++ ",") in if i > 2 then i * i else i : i in [0:6]};
reciprocals([5, 10]);
reciprocals([5, 0, 10]);
let (v, seconds) = time({i * i : i in [0:10]}); a = print_line(@sum(v)) in (v, seconds >= 0.0);
let a = append_string_to_file("more", "text"); s = read_string_from_file("text"); b = print_line(s)
in read_int_seq_from_file("nothing");
let (w, b) = w_make_window_box(((0, 0), 100, 50), ((0.0, 0.0), 4.0, 2.0), "one", w_white, display)
in {w_draw_point((float(i), 1.0), w_red, b) : i in [1:4]};
let a = print_line("outside") in [1, 2][rand(1) + 7];
)nesl";
  const auto expected = effects(nesl("run p.nesl -O0"), program);
  CHECK(contains(expected.at("standard_error"), "division by zero"));
  CHECK(contains(expected.at("standard_error"), "3: last line"));
  CHECK(expected.at("down") == "7 6 5 4 3 2 1 ");
  for (const char* level : {"", "-O3"}) {
    INFO(level);
    CHECK(effects(nesl(std::string("run p.nesl ") + level), program) == expected);
  }
  for (const int work : {1, 100, 230, 520, 1000, 2100, 4500}) {
    if (::testing::kSanitized && work > 230) break;
    INFO(work);
    CHECK(effects(begun_anew(work, "run p.nesl"), program) == expected);
    CHECK(effects(begun_anew_later(work, "run p.nesl"), program) == expected);
  }
}

TEST_CASE("the conformance programs that read or write, begun anew") {
  for (const std::string name : {"lib_files", "lib_print"}) {
    const std::string path = std::string(PROJECT_ROOT) + "/test/nesl-conformance/" + name;
    for (int work = 1; work < ::testing::some_of(3000); work += 100 + work / 2) {
      INFO(name << " " << work);
      const Output output = run(begun_anew(work, "run --transcript '" + path + ".nesl'"));
      CHECK(output.status == 0);
      CHECK(output.out == read_file(path + ".expected"));
      if (name == "lib_print") CHECK(output.err == read_file(path + ".out"));
    }
  }
}

TEST_CASE("what is long and reads its data is optimized") {
  const Folder folder;
  // A vector of all pairs would take 512 MiB.
  folder.write(
      "p.nesl",
      "function total(n) = sum({sum({sqrt(float(i + j)) : j in index(n)}) : i in index(n)});\n"
      "let n = read_int_seq_from_file(\"n\")[0];\n"
      "    a = print_line(\"n is \" ++ @n); r = total(n); b = print_line(\"done\") in r;\n");
  folder.write("n", "( 8000 )\n");
  const Output output = run(nesl("run p.nesl --memory=12M"), folder);
  CHECK(output.err == "n is 8000\ndone\n");
  CHECK(output.status == 0);
  CHECK(output.out == run(nesl("run p.nesl --memory=12M -O3"), folder).out);
  CHECK(run(nesl("run p.nesl --memory=12M -O0"), folder).status == 4);
}

TEST_CASE("what is read is kept up to a part of the memory, and no line is lost beyond") {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i) + "\n";
  folder.write("text", text);
  // The record of all lines is longer than the 16th part of the memory.
  folder.write("p.nesl",
               "function read_all(s, n) =\n"
               "  let ((line, end), ok, message) = read_line(s)\n"
               "  in if end then n\n"
               "     else let a = if rem(n, 20000) == 0 then print_line(line) else f\n"
               "          in read_all(s, n + 1);\n"
               "let s = open_check(open_in_file(\"text\")); n = read_all(s, 0);\n"
               "    whole = read_string_from_file(\"text\"); a = print_line(@#whole)\n"
               "in sum({if c == newline then 1 else 0 : c in whole}) - n;\n");
  for (const std::string& command :
       {nesl("run p.nesl --memory=64M"), begun_anew(1000, "run p.nesl --memory=64M"),
        begun_anew_later(1000, "run p.nesl --memory=64M"),
        begun_anew(5'000'000, "run p.nesl --memory=64M"), nesl("run p.nesl --memory=64M -O3")}) {
    INFO(command);
    const Output output = run(command, folder);
    CHECK(output.err == "0\n20000\n40000\n" + std::to_string(text.size()) + "\n");
    CHECK(output.out == "it = 0 : int\n");
  }
}

TEST_CASE("Ctrl-C and the limit of time end a program in either run, with each line once") {
  const Folder folder;
  folder.write("stop", "kill -INT $PPID\n");
  folder.write("p.nesl",
               "function f1(n, s) = if n == 0 then s else f1(n - 1, s + sum(index(n)));\n"
               "function stopped(n) =\n"
               "  let a = print_line(\"first \" ++ @f1(n, 0));\n"
               "      ((i, o, e), ok, m) = spawn(\"sh stop\", nullstr, nullstr, nullstr);\n"
               "      ended = read_line(o); b = print_line(\"second\") in f1(n, 1);\n"
               "stopped(9);\n");
  folder.write("q.nesl",
               "function forever(n) = forever(if n == 0 then 1 else 0);\n"
               "let a = print_line(\"once\") in forever(0);\n");
  for (const int work : {1, 300, 1000, 2000, 1'000'000}) {
    INFO(work);
    for (const auto& anew : {begun_anew(work, "run "), begun_anew_later(work, "run ")}) {
      const Output stopped = run(anew + " p.nesl", folder);
      CHECK(stopped.status == 130);
      CHECK(occurrences(stopped.err, "first 120\n") == 1);
      CHECK(!contains(stopped.err, "second"));
      const Output limited = run(anew + " q.nesl --timeout=0.2", folder);
      CHECK(limited.status == 4);
      CHECK(occurrences(limited.err, "once\n") == 1);
    }
  }
}

TEST_CASE("a message of a program that reads and writes is that of the program as it was written") {
  const Folder folder;
  folder.write("v", "( 5 0 )");
  folder.write("p.nesl",
               "function quotients(v) = {100 / x : x in v};\n"
               "function shown(name) =\n"
               "  let v = read_int_seq_from_file(name); a = print_line(@v) in quotients(v);\n"
               "let b = print_line(\"begun\") in shown(\"v\");\n");
  const Output written = run(nesl("run p.nesl -O0"), folder);
  CHECK(written.status == 3);
  CHECK(contains(written.err, "begun\n[5, 0]\np.nesl:1:26: error: division by zero"));
  for (const std::string& command :
       {nesl("run p.nesl -O3"), nesl("run p.nesl"), begun_anew(1, "run p.nesl"),
        begun_anew(600, "run p.nesl"), begun_anew(1500, "run p.nesl"),
        begun_anew_later(1, "run p.nesl")}) {
    const Output output = run(command, folder);
    CHECK(output.status == 3);
    CHECK(output.err == written.err);
  }
}

}  // namespace
}  // namespace neslc::testing
