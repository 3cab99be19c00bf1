// What the optimizer of `nesl -O` makes of programs: the same values, files that other programs
// read, messages with values.
#include <filesystem>
#include <regex>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

#include "contains.hpp"
#include "process.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// A message without how much memory was in use: compilations of different kinds leave different
/// things behind.
std::string without_use(const std::string& message) {
  return std::regex_replace(message, std::regex("in use [^;]*;"), "in use;");
}

TEST_CASE("products of a matrix of the top level are never written out, in recursion neither") {
  const Folder folder;
  folder.write(
      "p.nesl",
      "function times(a, b) = let bt = transpose(b)\n"
      "  in {{sum({x * y : x in r; y in c}) : c in bt} : r in a};\n"
      "function again(a, k, found) =\n"
      "  if k == 0 then found else again(a, k - 1, found + sum({r[k] : r in times(a, a)}));\n"
      "n = 150 + rand(1);\n"
      "a = {{rem(i * j, 7) : j in [0:n]} : i in [0:n]};\n"
      "again(a, 3, 0);\n"
      "sum({r[1] : r in times(a, a)}) + sum({r[2] : r in times(a, a)})\n"
      "  + sum({r[3] : r in times(a, a)});\n");
  const Output output = run(nesl("run p.nesl -O3 --profile"), folder);
  CAPTURE(output.err);
  REQUIRE(output.status == 0);
  const std::size_t last = output.out.rfind("it = ");
  const std::size_t first = output.out.rfind("it = ", last - 1);
  CHECK(output.out.substr(first, last - first) == output.out.substr(last));
  // The rows themselves are read in a kernel; `transpose` alone makes a matrix.
  CHECK(std::regex_search(output.err, std::regex("RUN times[^ ]* +times +2 +4 +90000 ")));
  CHECK_FALSE(std::regex_search(output.err, std::regex("BPERMUTE INT +times +2 ")));
}

TEST_CASE("run-time errors show the values that caused them, at every level") {
  const std::pair<const char*, const char*> kNotes[] = {
      {"[1, 2, 3][7]", "index 7, length 3"},
      {"{[1, 2, 3][i] : i in [0, 5, -2]}", "index 5, length 3"},
      {"{x -> [i] : x in [[1], [2, 3]]; i in [0, 2]}", "index 2, length 2"},
      {"{x[3] : x in [[1, 2, 3, 4], [1]]}", "index 3, length 1"},
      {"[1, 2] <- [(7, 1)]", "index 7, length 2"},
      {"rep([1, 2], 5, 9)", "index 9, length 2"},
      {"permute([1, 2], [0, 4])", "index 4, length 2"},
      {"permute([1, 2], [0])", "values 2, indices 1"},
      {"{a + b : a in [1, 2, 3]; b in [1, 2]}", "lengths 3 and 2"},
      {"{zip(a, [1]) : a in [[1], [2, 3]]}", "lengths 2 and 1"},
      {"partition([1, 2, 3], [1, 1])", "length 3, sum of the counts 2"},
      {"{10 / x : x in [5, 0]}", "dividend 10"},
      {"1.5 / 0.0", "dividend 1.5"},
      {"mod(5, 0)", "dividend 5"},
      {"sqrt(-2.5)", "argument -2.5"},
      {"take([1, 2], 5)", "count 5, length 2"},
      {"subseq([1, 2, 3], 2, 9)", "start 2, end 9, length 3"},
      {"{[a:b:c] : (a, b, c) in [(1, 5, 1), (3, 9, 0)]}", "start 3, end 9, stride 0"},
      {"transpose([[1, 2], [3]])", "lengths 1 and 2"},
      {"rand(-3)", "argument -3"},
      {"kth_smallest([1, 2], 5)", "index 5, length 2"},
  };
  for (const auto& [expression, note] : kNotes) {
    for (const char* level : {"-O0", "-O3"}) {
      const Output output = run(nesl(std::string("-e '") + expression + "' " + level));
      INFO(expression << " " << level << "\n" << output.err);
      CHECK(output.status == 3);
      CHECK(contains(output.err, std::string("note: ") + note + "\n"));
    }
  }
}

TEST_CASE("a failure on long vectors has the same message and status at every level") {
  const Folder folder;
  folder.write("p.nesl",
               "n = 100000;\n"
               "function scattered(n) = {rem(i * 7919, 1000003) : i in index(n)};\n"
               "function total(v) = sum({x / (x - 77777) : x in v});\n"
               "function least(v) = sort(v)[0];\n");
  // Status with INTs of 32 and of 64 bits.
  struct {
    const char* expression;
    int narrow, wide;
  } const kPrograms[] = {
      {"total(index(n))", 3, 3},
      {"{v[i] : i in {2 * j : j in index(n)}; v in dist(index(n), n)}", 3, 3},
      {"let v = index(n) in sum({v[2 * i] : i in v})", 3, 3},
      {"{x[3] : x in {[0 : rem(i, 5)] : i in index(n)}}", 3, 3},
      {"sum({a * b : a in index(n); b in index(n + 1)})", 3, 3},
      // The nest is too long for an INT of 32 bits, and for the memory.
      {"sort({rem(x, 10) : x in flatten({{i + j : j in index(n)} : i in index(n)})})[5]", 3, 4},
      {"least(scattered(200 * n))", 4, 4},
      {"let v = least(scattered(200 * n)) in total(index(n)) + v", 4, 4},
      {"let v = total(index(n)) in least(scattered(200 * n)) + v", 3, 3},
  };
  for (const auto& [expression, narrow, wide] : kPrograms) {
    for (const bool is_wide : {false, true}) {
      const std::string command = nesl(std::string("run p.nesl '") + expression +
                                       "' --memory=64M --int=" + (is_wide ? "64" : "32"));
      const Output plain = run(command + " -O0", folder);
      INFO(command << "\n" << plain.err);
      CHECK(plain.status == (is_wide ? wide : narrow));
      for (const char* level : {"", "-O3 --threads=2", "-O3", "-O1", "-O2"}) {
        if (::testing::kSanitized && level == std::string("-O3")) break;
        INFO(level);
        const Output optimized = run(command + " " + level, folder);
        CHECK(optimized.status == plain.status);
        CHECK(optimized.out == plain.out);
        CHECK(without_use(optimized.err) == without_use(plain.err));
      }
    }
  }
}

TEST_CASE("compiled programs write the values too") {
  const Folder folder;
  const std::string compile =
      nesl("compile -e '{[1, 2, 3][i] : i in [0, rand(1) + 5]}' -o p.vcode");
  CHECK(run(compile, folder).status == 0);
  const Output output = run(std::string("'") + VINTERP_PROGRAM + "' p.vcode", folder);
  CHECK(output.err ==
        "\nRUNTIME ERROR: Sequence reference (a[i]) out of bounds.\n"
        "index ( 5 )\nlength ( 3 )\n");
}

TEST_CASE("a failure is explained by the program as it was written") {
  const Folder folder;
  folder.write("p.nesl",
               "function at(v, i) = v[i];\n"
               "{at(s, 2) : s in [[1, 2, 3], [4]]};\n"
               "let shown = print_string(\"on\" ++ \"ce \") in at([1], rand(1) + 1);\n");
  const std::string plain = run(nesl("run p.nesl -O0"), folder).err;
  CHECK(run(nesl("run p.nesl"), folder).err == plain);
  CHECK(run(nesl("run p.nesl -O3"), folder).err == plain);
  CHECK(contains(plain, "p.nesl:2:2: note: called from the top level"));
}

TEST_CASE("variables are not taken for constants") {
  const std::string program =
      "-e 'a = [1, 2, 3]; b = [1, 2, 3]; n = 3; c = 2.5; f1 = t; "
      "sum({x * n : x in a}); a = [4, 5, 6]; n = 10; "
      "(sum({x * n : x in a}), sum(b), n == 3, c + 1.0, (if f1 then 1 else 2), #a); "
      "m = [[1], [2, 3]]; {sum(r) + n : r in m}; s = \"ab\"; s ++ s' ";
  const Output plain = run(nesl(program + "-O0"));
  CHECK(plain.status == 0);
  for (const char* level : {"", "-O1", "-O2", "-O3"}) {
    const Output optimized = run(nesl(program + level));
    CHECK(optimized.out == plain.out);
    CHECK(optimized.err == plain.err);
  }
}

TEST_CASE("all pairs take no memory, whoever knows how many there are") {
  // A vector of all pairs would take 31 MiB.
  const std::string definitions =
      "function direct(bodies) =\n"
      "  {let pulls = {let dx = px - x; dy = py - y; d = dx * dx + dy * dy + 0.5;\n"
      "                    force = m / (d * sqrt(d))\n"
      "                in (force * dx, force * dy) : (x, y, m) in bodies}\n"
      "   in (sum({fx : (fx, fy) in pulls}), sum({fy : (fx, fy) in pulls}))\n"
      "   : (px, py, pm) in bodies};\n"
      "function made(n) =\n"
      "  {(float(rem(i * 7, 13)), float(rem(2 * i + 1, 17)), 1.0) : i in index(n)};\n"
      "function total(bodies) = sum({abs(x) + abs(y) : (x, y) in direct(bodies)});\n"
      "function repeated(v, k) =\n"
      "  if k == 0 then sum(v)\n"
      "  else repeated({y + sum({float(i) : i in index(#v)}) : y in v}, k - 1);\n"
      "function scaled(n) =\n"
      "  let b = {float(i) : i in index(n)}\n"
      "  in sum({sum({float(x) * y : x in index(n)}) : y in b});\n";
  const std::pair<const char*, const char*> kPrograms[] = {
      {"total(made(2000));", ""},
      {"total(made(2000 + rand(1)));", ""},
      {"total(made(n));", "n = 2000;"},
      {"total(bodies);", "n = 2000; bodies = made(n);"},
      {"total(bodies);", "bodies = made(2000);"},
      {"scaled(2000 + rand(1));", ""},
      {"scaled(n);", "n = 2000;"},
      {"repeated(v, 2);", "v = {float(i) : i in index(2000)};"},
      {"repeated({float(i) : i in index(n)}, 2);", "n = 2000;"},
  };
  for (const auto& [expression, variables] : kPrograms) {
    const Folder folder;
    folder.write("p.nesl", definitions + variables + "\n" + expression + "\n");
    const Output output = run(nesl("run p.nesl -O3 --memory 8M"), folder);
    INFO(variables << expression << output.err);
    CHECK(output.status == 0);
    const Output plain = run(nesl("run p.nesl"), folder);
    CHECK(output.out == plain.out);
  }
}

TEST_CASE("a sequence that is looked at in many slices is not copied for them") {
  const std::string definitions =
      "function likeness(w, lag) = sum({x * y : x in drop(w, -lag); y in drop(w, lag)});\n"
      "function alike(w) = {likeness(w, lag) / (#w - lag) : lag in [20:100]};\n"
      "function period(w) = if sum(w) / #w < 100 then 0 else 20 + max_index(alike(w));\n"
      "function twice_sliced(w) =\n"
      "  sum({sum({x * y : x in take(drop(w, k), 150); y in take(w, 150)}) : k in [1:200]});\n"
      "function pieces(n) = group_by({rem(i * 7919, 1000) : i in index(n)}, 400);\n"
      "n = 100000;\n";
  // All slices would take some 30 MiB, the pieces take 400 kB.
  const char* const kExpressions[] = {
      "sum({sum(alike(w)) : w in pieces(n)});",
      "sum({sum(alike(w)) : w in pieces(n + rand(1))});",
      "sum({period(w) : w in pieces(n)});",
      "sum({period(w) : w in pieces(n + rand(1))});",
      "sum({twice_sliced(w) : w in pieces(n)});",
  };
  for (const char* const expression : kExpressions) {
    const Folder folder;
    folder.write("p.nesl", definitions + expression + "\n");
    const Output output = run(nesl("run p.nesl -O3 --profile"), folder);
    INFO(expression << output.err);
    CHECK(output.status == 0);
    CHECK(output.out == run(nesl("run p.nesl -O0"), folder).out);
    std::smatch peak;
    REQUIRE(std::regex_search(output.err, peak, std::regex("peak live memory +([0-9.]+) KiB")));
    CHECK(std::stod(peak[1]) < 1000);
  }
}

TEST_CASE("kernels are written where FCODE is asked for") {
  const Folder folder;
  folder.write("c.nesl",
               "function poly(s) =\n  sum({x * x * 3.0 + 2.0 * x - 1.0 : x in s});\n"
               "poly({float(i) : i in [0:1000]});\n");
  CHECK(run(nesl("compile c.nesl -o c.fcode"), folder).status == 0);
  CHECK(run(nesl("compile c.nesl -o c.vcode -O3"), folder).status == 0);
  CHECK(run(nesl("compile c.nesl -o plain.vcode"), folder).status == 0);
  const std::string fcode = read_file(folder.path() / "c.fcode");
  CHECK(contains(fcode, "FCODE 3"));
  CHECK(contains(fcode, "KERNEL"));
  CHECK(contains(fcode, "{ c.nesl:"));
  CHECK(!contains(read_file(folder.path() / "c.vcode"), "KERNEL"));
  const std::string vinterp = std::string("'") + VINTERP_PROGRAM + "' ";
  const std::string expected = run(vinterp + "plain.vcode", folder).out;
  CHECK(!expected.empty());
  CHECK(run(vinterp + "c.fcode", folder).out == expected);
  CHECK(run(vinterp + "c.vcode", folder).out == expected);
}

TEST_CASE("the cost is that of the program as it is written") {
  const std::string program = "-e 'sum({x * x : x in [0:1000]})' --cost ";
  CHECK(run(nesl(program + "-O3")).err == run(nesl(program)).err);
}

TEST_CASE("what is computed of rows and put together with others goes straight to its place") {
  const Folder folder;
  folder.write(
      "p.nesl",
      "function smooth(r) =\n"
      "  [r[0]] ++ {(x + y) / 2.0 : x in take(r, #r - 2); y in drop(r, 2)} ++ [r[#r - 1]];\n"
      "function rounds(m, k) =\n"
      "  if k == 0 then m else rounds({smooth(r) : r in m}, k - 1);\n"
      "function rows(n) = {{float(i * i * j) : i in [0:n + j]} : j in [0:n]};\n");
  const std::string expression = " p.nesl -e 'rounds(rows(rand(1) + 3), 2)'";
  CHECK(run(nesl("compile -O3 -o p.fcode" + expression), folder).status == 0);
  const std::string code = read_file(folder.path() / "p.fcode");
  const std::size_t begin = code.rfind("KERNEL ", code.find("(+ FLOAT"));
  const std::string kernel = code.substr(begin, code.find("SPEC", begin) - begin);
  INFO(kernel);
  // That and nothing else is made: not what is fetched for it, of which a length is asked.
  CHECK(contains(kernel, "OUT y0 : VEC FLOAT n"));
  CHECK(!contains(kernel, "y1 : VEC FLOAT"));
  CHECK(contains(kernel, "y0 = SCATTER"));
  CHECK(contains(kernel, "(* FLOAT"));
  CHECK(contains(kernel, "0.5"));
  for (const char* level : {" -O0", " -O3"}) {
    CHECK(
        run(nesl("run" + expression + level), folder).out ==
        "it = [[0.0, 0.0, 0.0], [0.0, 2.5, 5.5, 9.0], [0.0, 5.0, 12.0, 21.0, 32.0]] : [[float]]\n");
  }
}

TEST_CASE("without a level, what has much to do is optimized, and nothing is done twice") {
  const auto output = [](const std::string& expression, const std::string& level) {
    return run(nesl("--memory=8M " + level + " -e '" + expression + "'"));
  };
  // As written they need 800 MB, or pieces; after so much work as it takes to notice, or for lack
  // of memory.
  const std::string flat = "sum({float(i * 2) : i in index(100000000)})",
                    nested =
                        "sum({sum({sqrt(float(i + j)) : j in index(8000)}) : i in index(8000)})";
  CHECK(output(flat, "-O0").status == 4);
  CHECK(output(nested, "-O0").status == 0);
  for (const std::string& much : {flat, nested}) {
    const Output found = output(much, "");
    CHECK(found.status == 0);
    CHECK(found.out == output(much, "-O3").out);
  }
  // Random numbers begin anew, too.
  const std::string random = "sum({rand(x) : x in dist(1000, 500000)})";
  CHECK(output(random, "").out == output(random, "-O0 --memory=80M").out);
  // What writes runs once.
  const Output written =
      output("let a = print_line(\"once\") in sum({sqrt(float(i)) : i in index(300000)})", "");
  CHECK(written.out.find("once") == written.out.rfind("once"));
  CHECK(written.status == 0);
}

TEST_CASE("a profile of an optimized program names its lines") {
  const Folder folder;
  folder.write("p.nesl",
               "function norm(v) =\n"
               "  sum({x * x + 1.0 : x in v});\n"
               "a = {float(i) : i in [0:1000]};\nnorm(a);\n");
  const Output output = run(nesl("run p.nesl -O3 --profile"), folder);
  CHECK(output.status == 0);
  CHECK(contains(output.err, "RUN"));
  CHECK(contains(output.err, "norm                       2"));
}

}  // namespace
}  // namespace neslc::testing
