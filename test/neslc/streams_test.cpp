// Streams against sequences: the same random programs over both, for pieces of several lengths,
// more of them with NESL_STREAM_PROGRAMS=N; streams of files, and what they take in memory.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include "contains.hpp"
#include "evaluations.hpp"
#include "process.hpp"
#include "sanitized.hpp"
#include "support.hpp"

namespace neslc::testing {
namespace {

using ::testing::contains;

/// Random programs of streams of ints. In the text `$NAME` is what is called differently for
/// sequences.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program() {
    std::string text = "let ";
    const int streams = 1 + below(3);
    for (int i = 0; i < streams; ++i) {
      text += fmt::format("{}s{} = {}", i > 0 ? "; " : "", i, stream(3, i));
    }
    text += " in (";
    const int results = 1 + below(4);
    for (int i = 0; i < results; ++i) {
      text += fmt::format("{}{}", i > 0 ? ", " : "", result(fmt::format("s{}", below(streams))));
    }
    return text + ")";
  }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

  std::string scalar(const std::string& x) {
    switch (below(5)) {
      case 0:
        return fmt::format("{} * {} - {}", x, 1 + below(3), below(5));
      case 1:
        return fmt::format("rem({} * 7, {})", x, 2 + below(9));
      case 2:
        return fmt::format("if {} > {} then {} - 1 else -{}", x, below(20), x, x);
      case 3:
        return fmt::format("sum({{i * {} : i in {}(rem(abs({}), 4))}})", x,
                           below(2) == 0 ? "$iota" : "index", x);
      default:
        return fmt::format("max({}, {})", x, below(10));
    }
  }

  std::string condition(const std::string& x) {
    return below(2) == 0 ? fmt::format("evenp({})", x)
                         : fmt::format("rem(abs({}), {}) /= 1", x, 2 + below(4));
  }

  std::string source() {
    static constexpr int kLengths[] = {0, 1, 2, 3, 7, 10, 64, 65, 130};
    const int length = kLengths[below(std::size(kLengths))];
    return below(3) == 0 ? fmt::format("$stream({{i * i - 5 : i in index({})}})", length)
                         : fmt::format("$iota({})", length);
  }

  /// `known`: how many streams have names already.
  std::string stream(int depth, int known) {
    if (depth == 0) return known > 0 && below(3) == 0 ? variable(known) : source();
    switch (below(14)) {
      case 10: {  // a choice that is not known when the program is compiled
        const std::string shared = variable_or_source(known);
        return fmt::format("(if rand(9) < {} then {{{} : x in {}}} else {})", below(2) == 0 ? 0 : 9,
                           scalar("x"), shared, below(2) == 0 ? shared : stream(depth - 1, known));
      }
      case 11:
        return below(2) == 0
                   ? fmt::format("{{max(x, -99) : x in max_scan({})}}", stream(depth - 1, known))
                   : fmt::format("{{min(x, 99) : x in min_scan({})}}", stream(depth - 1, known));
      case 12:
        return fmt::format("{{sum(g) - #g : g in group_by({}, {})}}", stream(depth - 1, known),
                           1 + below(5));
      case 0:
        return fmt::format("{{{} : x in {}}}", scalar("x"), stream(depth - 1, known));
      case 1:
        return fmt::format("{{x in {} | {}}}", stream(depth - 1, known), condition("x"));
      case 2:
        return fmt::format("plus_scan({})", stream(depth - 1, known));
      case 3:
        return fmt::format("$take({}, {})", stream(depth - 1, known), below(80));
      case 4:
        return fmt::format("$drop({}, {})", stream(depth - 1, known), below(80));
      case 5:  // what is behind `++` must have sources of its own
        return fmt::format("({} ++ {})", stream(depth - 1, known), stream(depth - 1, 0));
      case 6: {
        const std::string inner = stream(depth - 1, known);
        return fmt::format(
            "(let z = {} in {{x + 3 * y : x in plus_scan(z); y in {{{} : x in z}}}})", inner,
            scalar("x"));
      }
      case 7:
        return fmt::format("flatten({{dist(x, rem(abs(x), 4)) : x in {}}})",
                           stream(depth - 1, known));
      case 8:
        return fmt::format("{{sum(w) : w in $windows({}, {})}}", stream(depth - 1, known),
                           1 + below(5));
      case 9: {
        const int n = below(70);  // two sources whose pieces have different lengths
        return fmt::format("{{x - y : x in {{x in $iota({}) | evenp(x)}}; y in $iota({})}}", 2 * n,
                           n);
      }
      default:
        return fmt::format("{{i - x : (i, x) in $numbered({})}}", stream(depth - 1, known));
    }
  }

  std::string variable_or_source(int known) { return known > 0 ? variable(known) : source(); }

  std::string variable(int known) { return fmt::format("s{}", below(known)); }

  std::string result(const std::string& s) {
    switch (below(11)) {
      case 8:  // a function that is given streams as well as sequences
        return fmt::format("differences({})", s);
      case 9:
        return fmt::format("max_by_index({{(rem(abs(x), 5), x) : x in {}}}, 5)", s);
      case 10:
        return fmt::format("({} ++ $stream([7]))[0]", s);
      case 7:  // what is pending is computed with
        return fmt::format("(let n = #{} in sum({}) * 2 - max(n, 3))", s, s);
      case 0:
        return fmt::format("sum({})", s);
      case 1:
        return fmt::format("#{}", s);
      case 2:
        return fmt::format("max_val({} ++ $stream([-100000]))", s);
      case 3:
        return fmt::format("any({{x > 30 : x in {}}})", s);
      case 4:
        return fmt::format("all({{x /= 9 : x in {}}})", s);
      case 5:
        return fmt::format("sum_by_index({{(rem(abs(x), 5), x) : x in {}}}, 5)", s);
      default:
        return fmt::format("$collect({})", s);
    }
  }

  std::mt19937 random_;
};

std::string replaced(std::string text,
                     const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [from, to] : names) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::string over_streams(const std::string& program) {
  return replaced(program, {{"$", ""}});
}

std::string over_sequences(const std::string& program) {
  return replaced(program, {{"$iota", "index"},
                            {"$stream", ""},
                            {"$collect", ""},
                            {"$take", "first_ones"},
                            {"$drop", "later_ones"},
                            {"$windows", "windows"},
                            {"$numbered", "numbered"}});
}

const char* const kForBoth =
    "function differences(v) = let d = {x - 2 * y : x in v; y in {z + 1 : z in v}} in (sum(d), #v)";
const char* const kForSequences =
    "function first_ones(v, n) = take(v, min(n, #v));\n"
    "function later_ones(v, n) = drop(v, min(n, #v))";

TEST_CASE("random programs of streams give what sequences give, for pieces of any length") {
  Evaluations sequences(0);
  sequences.define(kForSequences);
  sequences.define(kForBoth);
  std::vector<std::unique_ptr<Evaluations>> streams;
  for (const std::int64_t length : {1, 2, 7, 64, 1000, 65536}) {
    for (const int level : {0, 3}) {
      if (level == 3 && length != 7 && length != 64) continue;
      streams.push_back(std::make_unique<Evaluations>(level, length));
      streams.back()->value(kForBoth);
    }
  }
  const int programs = ::testing::some_of(150, "NESL_STREAM_PROGRAMS");
  int failures = 0;
  int values = 0;
  std::string failed;
  for (int seed = 0; seed < programs && failures < 3; ++seed) {
    const std::string program = Generator(static_cast<unsigned>(seed)).program();
    const std::string expected = sequences.value(over_sequences(program));
    if (expected.starts_with("it = ")) {
      ++values;
    } else {
      failed += over_sequences(program) + "\n" + expected + "\n";
    }
    for (const auto& evaluations : streams) {
      const std::string found = evaluations->value(over_streams(program));
      INFO(seed << ": " << over_streams(program));
      if (found != expected) ++failures;
      CHECK(found == expected);
    }
  }
  INFO(failed);
  CHECK(values == programs);
}

TEST_CASE("all that is computed of a stream before it is needed shares one traversal") {
  Evaluations evaluations(0, 16);
  const Folder folder;
  const std::string file = folder.write("numbers", "3 1 4 1 5 9 2 6 5 3 5").string();
  // A second traversal would find standard input at its end, and the file could be read again.
  CHECK(evaluations.value(fmt::format("let s = file_ints(\"{}\"); n = #s; "
                                      "odd = sum({{x in s | oddp(x)}}); v = collect(s) "
                                      "in (n, odd, float(sum(s)) / float(n), v)",
                                      file)) ==
        "it = (11, 32, 4.0, [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])");
  CHECK(run("echo 3 1 4 | " + nesl("-e 'let s = file_ints(\"-\") in (sum(s), #s)'")).out ==
        "it = (8, 3) : int, int\n");
}

TEST_CASE("streams in functions, conditionals and variables") {
  for (const std::int64_t length : {2, 65536}) {
    Evaluations evaluations(0, length);
    CHECK(evaluations.value("function mean(s) : {float} -> float = sum(s) / float(#s);"
                            "mean({float(i) : i in iota(11)})") == "it = 5.0");
    CHECK(evaluations.value("function both(s, k) : ({int}, int) -> (int, {int}) = "
                            "  (k, {k * x : x in s});"
                            "let (k, s) = both(iota(5), 3) in k + sum(s)") == "it = 33");
    CHECK(evaluations.value("let s = iota(5) in if rand(9) < 9 then sum(s) else max_val(s)") ==
          "it = 10");
    CHECK(evaluations.value("s = iota(5); sum(s)") == "it = 10");
    CHECK(evaluations.value("collect({x + y : x in s; y in s})") == "it = [0, 2, 4, 6, 8]");
    CHECK(evaluations.value("{sum({i * j : j in iota(i)}) : i in [0:5]}") ==
          "it = [0, 0, 2, 9, 24]");
    CHECK(evaluations.value("any({x == 5 : x in iota(2000000000)})") == "it = T");
    CHECK(evaluations.value("collect(take(iota(2000000000), 3))") == "it = [0, 1, 2]");
    CHECK(evaluations.value("let s = file_lines(\"/dev/null\") in (#s, collect(s))") ==
          "it = (0, [])");
  }
}

TEST_CASE("functions without a declared type take streams and sequences") {
  for (const std::int64_t length : {2, 65536}) {
    Evaluations evaluations(0, length);
    evaluations.value(
        "function squares(v) = {x * x : x in v}; function total(v) = sum(squares(v));"
        "function scaled(v, k) = {x * k : x in v}; function both(a, b) = sum({x * y : x in a; y in "
        "b})");
    CHECK(evaluations.value("(total([1, 2, 3]), total(iota(4)))") == "it = (14, 14)");
    CHECK(evaluations.value("(total(stream([0.5, 1.5])), total([0.5]))") == "it = (2.5, 0.25)");
    CHECK(evaluations.value("collect(scaled(iota(3), 5))") == "it = [0, 5, 10]");
    CHECK(evaluations.value("let s = iota(4) in both(s, scaled(s, 2))") == "it = 28");
    CHECK(evaluations.value("function total(v) = 2 * sum(squares(v)); total(iota(4))") ==
          "it = 28");
    // What was defined before means what it meant.
    evaluations.value(
        "function g(x) = x + 1; function gs(v) = {g(x) : x in v};"
        "function g(x) = \"other\"");
    CHECK(evaluations.value("collect(gs(iota(3)))") == "it = [1, 2, 3]");
  }
}

TEST_CASE("conditionals choose between streams") {
  for (const std::int64_t length : {1, 3, 65536}) {
    Evaluations evaluations(0, length);
    const Folder folder;
    const std::string file = folder.write("numbers", "3 1 4").string();
    evaluations.value(
        "function choose(n, s) = if n > 3 then s else {x * n : x in iota(n) | x > 0}");
    CHECK(evaluations.value("collect(choose(rand(1) + 9, iota(4)))") == "it = [0, 1, 2, 3]");
    CHECK(evaluations.value("collect(choose(rand(1) + 3, iota(4)))") == "it = [3, 6]");
    // Only what is chosen is carried out.
    CHECK(evaluations.value("sum(if rand(9) < 9 then iota(3) else file_ints(\"missing\"))") ==
          "it = 3");
    CHECK(evaluations.value(
              "let s = iota(4) in sum(if rand(9) < 9 then s else {1 / x : x in s})") == "it = 6");
    CHECK(evaluations.value("let s = iota(4) in sum(if rand(9) < 9 then s else "
                            "{x + y : x in s; y in iota(9)})") == "it = 6");
    CHECK(evaluations.value(fmt::format("let n = rand(9); s = if n > 8 then iota(2) else if n > 9 "
                                        "then stream([1]) else file_ints(\"{}\") in (sum(s), #s)",
                                        file)) == "it = (8, 3)");
    CHECK(evaluations.value("let (s, k) = if rand(9) < 9 then (iota(4), 1) else (iota(2), 7) "
                            "in k + sum(s)") == "it = 7");
  }
}

TEST_CASE("what the papers accept and how it is written here") {
  for (const std::int64_t length : {1, 64}) {
    Evaluations evaluations(0, length);
    const auto rounded = [&](const std::string& text) {
      return evaluations.value("round(1000.0 * (" + text + "))");
    };
    CHECK(rounded("let s = {ln(float(x + 1)) : x in iota(10)} in "
                  "sum({x * x : x in s}) + float(#s) * sum(s)") == "it = 178694");
    CHECK(rounded("let v = collect({ln(float(x + 1)) : x in iota(10)}); m = sum(v) in "
                  "sum({x * x + m : x in stream(v)})") == "it = 178694");
    CHECK(evaluations.value("let s = {x * x : x in iota(4)} in "
                            "collect(zip(s, plus_scan({1 : x in s})))") ==
          "it = [(0, 0), (1, 1), (4, 2), (9, 3)]");
    CHECK(evaluations.value("sum(flatten({{i : j in iota(i)} : i in iota(5)}))") == "it = 30");
    CHECK(evaluations.value("collect({({i : k in iota(j)}, i) : i in iota(2); j in iota(2)})") ==
          "it = [([], 0), ([1], 1)]");
    CHECK(evaluations.value("collect({sum({j : j in iota(i)}) : i in iota(5)})") ==
          "it = [0, 0, 1, 3, 6]");
    CHECK(evaluations.value("let s = iota(9) in (sum(s), not(all({x /= 0 : x in s})))") ==
          "it = (36, T)");
    CHECK(evaluations.value("collect(partition(stream([3, 1, 4, 1, 5, 9]), [3, 0, 1, 2]))") ==
          "it = [[3, 1, 4], [], [1], [5, 9]]");
    CHECK(evaluations.value("let lengths = dist(0, 500) ++ {rem(i * 7, 5) : i in [0:1000]} ++ "
                            "dist(0, 300); rows = partition(iota(sum(lengths)), lengths) in "
                            "eql({sum(r) + #r : r in collect(rows)}, "
                            "{sum(r) + #r : r in partition([0:sum(lengths)], lengths)})") ==
          "it = T");
  }
}

TEST_CASE("--collect keeps what is needed a second time, and says so") {
  const Output output = run(
      nesl("--collect --chunk=3 -e 'let s = {float(x) : x in iota(10)}; m = sum(s) / float(#s) in "
           "sum({abs(x - m) : x in s})'"));
  CHECK(output.out == "it = 25.0 : float\n");
  CHECK(contains(output.err,
                 "expression:1:26: warning: all elements of this stream are kept in "
                 "memory"));
  CHECK(run(nesl("--collect -e 'let s = iota(10) in (sum(s), #s)'")).err.empty());
}

TEST_CASE("pieces are made shorter where the memory cannot hold what is computed of them") {
  const std::string pairs =
      "-e 'sum({{#{x in [0:4096] | rem(x * i, 7) == j} : j in [0:4]}[3] : i in iota(2000)})'";
  for (const char* level : {"", " -O0"}) {
    const Output output = run(nesl("--memory=12M " + pairs + level));
    INFO(output.err);
    CHECK(output.out == run(nesl(pairs)).out);
    CHECK(output.status == 0);
  }
  // So it is with lengths that do not fit an INT.
  CHECK(run(nesl("-e 'sum({max_val(dist(i, 2000000)) : i in iota(1100)})'")).out ==
        "it = 604450 : int\n");
  // What has been printed cannot be printed once more.
  CHECK(run(nesl("--memory=12M -O0 -e 'let p = print_char(`x) in "
                 "#{x in {#flatten({[i:4096] : j in [0:64]}) : i in iota(2000)} | x > 0}'"))
            .err.starts_with("x"));
}

TEST_CASE("chains of what is pending, and observed functions") {
  Evaluations evaluations(0, 16);
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i) sum += " + x";
  CHECK(evaluations.value("let x = sum(iota(3)) in " + sum) == "it = 15003");
  std::string doubled = "let x0 = sum(iota(3))";
  for (int i = 0; i < 90; ++i) doubled += fmt::format("; x{} = x{} + x{}", i + 1, i, i);
  CHECK(evaluations.value(doubled + " in x90") == "it = 0");
  const Folder folder;
  folder.write(
      "p.nesl",
      "function both(s) : {int} -> int = let u = {x * x : x in s} in max_val(u) + sum(u);\n"
      "function all_of(n) = let s = iota(n); m = 2 in m * both(s);\n"
      "set trace both 4;\nset trace all_of 4;\nall_of(4);\n");
  const Output output = run(nesl("run p.nesl"), folder);
  CHECK(output.out == "it = 46 : int\n");
  CHECK(contains(output.err, "  S = a stream\n  M = 2\n"));
}

TEST_CASE("a failure in the middle of a file names what is wrong, and no value is shown") {
  const Folder folder;
  std::ofstream numbers(folder.path() / "numbers");
  for (int i = 0; i < 100'000; ++i) numbers << i << (i == 77'777 ? "x\n" : "\n");
  numbers.close();
  for (const char* level : {"", " -O0", " -O3"}) {
    const Output output =
        run(nesl(std::string("-e 'sum(file_ints(\"numbers\"))'") + level), folder);
    CHECK(output.status == 3);
    CHECK(output.out.empty());
    CHECK(contains(output.err, "`numbers`: line 77778: `77777x` is no integer"));
  }
  // What cannot be read, or not as a whole, is no file of fewer elements.
  for (const char* read : {"#file_chars", "#file_lines", "sum(file_ints", "sum(file_npy_floats"}) {
    const Output output =
        run(nesl(fmt::format("-e '{}(\"/\"){}'", read, contains(read, "sum") ? ")" : "")), folder);
    CHECK(output.status == 3);
    CHECK(contains(output.err, "`/`: Is a directory"));
  }
}

TEST_CASE("arrays of numbers in files, as their bytes and as numpy writes them") {
  const Folder folder;
  for (const std::int64_t length : {1, 7, 65536}) {
    Evaluations evaluations(0, length);
    const auto file = [&](const char* name) { return (folder.path() / name).string(); };
    const std::string ints = file("ints"), floats = file("floats"), array = file("array.npy");
    CHECK(evaluations.value(fmt::format("write_raw_ints({{x * x : x in iota(100)}}, \"{}\", "
                                        "\">i2\")",
                                        ints)) == "it = T");
    CHECK(evaluations.value(fmt::format("let s = file_raw_ints(\"{}\", \">i2\") in "
                                        "(#s, sum(s), s[99])",
                                        ints)) == "it = (100, 328350, 9801)");
    CHECK(evaluations.value(fmt::format("write_raw_floats({{float(x) / 8.0 : x in iota(100)}}, "
                                        "\"{}\", \"<f4\")",
                                        floats)) == "it = T");
    CHECK(evaluations.value(fmt::format("sum(file_raw_floats(\"{}\", \"<f4\"))", floats)) ==
          "it = 618.75");
    CHECK(evaluations.value(fmt::format("write_npy_ints(iota(12), \"{}\", [3, 4])", array)) ==
          "it = T");
    using namespace std::string_literals;
    CHECK(read_file(array).starts_with(
        "\x93NUMPY\x01\0v\0{'descr': '<i4', 'fortran_order': False, 'shape': (3, 4, ), }    "s));
    CHECK(read_file(array).size() == 128 + 12 * 4);
    CHECK(evaluations.value(
              fmt::format("(npy_shape(\"{0}\"), collect(file_npy_ints(\"{0}\")))", array)) ==
          "it = ([3, 4], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])");
    CHECK(evaluations.value(fmt::format("write_npy_floats(stream([0.5]), \"{}\", [1])", array)) ==
          "it = T");
    CHECK(evaluations.value(fmt::format("collect(file_npy_floats(\"{}\"))", array)) ==
          "it = [0.5]");
  }
}

TEST_CASE("files that are no arrays as they should be") {
  using namespace std::string_literals;
  const Folder folder;
  const auto array = [](const std::string& dictionary, const std::string& bytes) {
    return "\x93NUMPY\x02\0"s + static_cast<char>(dictionary.size()) + "\0\0\0"s + dictionary +
           bytes;
  };
  const auto message = [&](const std::string& content) {
    folder.write("a.npy", content);
    const Output output = run(nesl("-e 'collect(file_npy_ints(\"a.npy\"))'"), folder);
    CHECK(output.status == (output.err.empty() ? 0 : 3));
    return output.err.empty() ? output.out : output.err;
  };
  const std::string good = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }";
  CHECK(message(array(good, "\0\1\1\0"s)) == "it = [1, 256] : [int]\n");
  CHECK(message(array("{'shape': (), 'fortran_order': True, 'descr': '|u1'}", "\5")) ==
        "it = [5] : [int]\n");
  CHECK(contains(message(array(good, "\0\1"s)), "`a.npy`: the last 1 numbers are missing"));
  CHECK(contains(message(array(good, "\0\1\1"s)), "`a.npy`: the end is in the middle of number 2"));
  CHECK(contains(message("no array"), "`a.npy`: this is no file of an array"));
  CHECK(contains(message(array("{}", "")), "`a.npy`: this is no file of an array"));
  CHECK(contains(message(array("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "")),
                 "`<f8` is no form of integers"));
  CHECK(contains(message(array("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 2), }", "")),
                 "is stored by columns"));
  CHECK(contains(
      message(array("{'descr': '<i4', 'fortran_order': False, 'shape': (70000, 70000), }", "")),
      "more elements than an int can count"));
  // The shape is that of what is written, or no file is.
  const Output wrong = run(nesl("-e 'write_npy_ints(iota(5), \"b.npy\", [6])'"), folder);
  CHECK(wrong.status == 3);
  CHECK(contains(wrong.err, "`b.npy`: an array of this shape has 6 elements, not 5"));
  CHECK_FALSE(std::filesystem::exists(folder.path() / "b.npy"));
}

TEST_CASE("an apply-to-each that the memory cannot hold is computed in pieces") {
  for (const std::string program :
       {"n = 3000; xs = {float(i) * 0.37 : i in [0:n]}; "
        "round(max_val({sum({let d = x - y in d / (d * d + 0.01) : y in xs}) : x in xs}))",
        "function times(a, b) = {{sum({x * y : x in row; y in column}) : column in b} : row in "
        "a}; "
        "a = {{rem(i * j, 17) : j in [0:150]} : i in [0:150]}; sum(flatten(times(a, a)))",
        "points = {(rem(i * 37, 1009), rem(i * 91, 1013)) : i in [0:2000]}; "
        "sum({#{(u, v) in points | abs(x - u) + abs(y - v) < 50} : (x, y) in points})",
        "rows = {[0:rem(i * 7, 3000)] : i in [0:2000]}; k = {rem(i, 5) : i in [0:2000]}; "
        "{max_val({rem(x * x, m + 7) : x in r}) : r in take(rows, 9); m in take(k, 9)}"}) {
    const Folder folder;
    folder.write("program.nesl", program + ";");
    const std::string expected = run(nesl("run program.nesl"), folder).out;
    CHECK(contains(expected, "it = "));
    const Output output = run(nesl("run -O0 --memory=24M program.nesl"), folder);
    INFO(output.err);
    CHECK(output.out == expected);
  }
  // What is too large by itself still fails, with the message of the first run.
  const Output output = run(nesl("-O0 --memory=8M -e '{{i + j : j in [0:1000]} : i in [0:9000]}'"));
  CHECK(output.status == 4);
  CHECK(contains(output.err, "limit 8.0 MiB"));
}

TEST_CASE("a file appears when it is complete") {
  const Folder folder;
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
      const std::string name = entry.path().filename().string();
      if (name != "standard_error") found.push_back(name);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  folder.write("old", "as it was\n");
  CHECK(run(nesl("-e 'write_ints({100 / (x - 90000) : x in iota(100000)}, \"old\")'"), folder)
            .status == 3);
  CHECK(run(nesl("-e 'write_ints({100 / (x - 90000) : x in iota(100000)}, \"new\")'"), folder)
            .status == 3);
  CHECK(names() == std::vector<std::string>{"old"});
  CHECK(read_file(folder.path() / "old") == "as it was\n");
  // Interrupted.
  const Output interrupted = run(
      "timeout -s INT 1 " + nesl("--int=64 -e 'write_ints(iota(100000000000), \"new\")'"), folder);
  CHECK(interrupted.status != 0);
  CHECK(names() == std::vector<std::string>{"old"});
  // Complete: what is read is what was there before.
  CHECK(
      run(nesl("-e 'write_lines({l ++ \"!\" : l in file_lines(\"old\")}, \"old\")'"), folder).out ==
      "it = T : bool\n");
  CHECK(read_file(folder.path() / "old") == "as it was!\n");
  CHECK(run(nesl("-e 'write_ints({x * x : x in iota(3)}, \"-\")'"), folder).out ==
        "0\n1\n4\nit = T : bool\n");
  CHECK(contains(run(nesl("-e 'write_ints(iota(3), \"/dev/full\")'"), folder).err,
                 "No space left on device"));
}

TEST_CASE("columns of a file with commas") {
  const Folder folder;
  folder.write("t.csv", "name,note\r\nAda,\"first, of all\"\r\n\nGrace,\"said \"\"bug\"\"\"\n");
  CHECK(run(nesl("-e 'collect({(r[0], r[1]) : r in file_csv(\"t.csv\")})'"), folder).out ==
        "it = [(\"name\", \"note\"), (\"Ada\", \"first, of all\"), "
        "(\"Grace\", \"said \\\"bug\\\"\")] : [([char], [char])]\n");
}

TEST_CASE("a file longer than the memory is read, computed with, and written") {
  const Folder folder;
  std::ofstream text(folder.path() / "text");
  constexpr int kLines = 1'000'000;
  for (int i = 0; i < kLines; ++i) text << "line " << i << "\n";
  text.close();
  for (const char* level : {"", " -O0", " -O3"}) {
    const Output output = run(
        nesl(std::string("--memory=8M -e 'let l = numbered(file_lines(\"text\"));"
                         " w = write_lines({@n ++ \": \" ++ x : (n, x) in l | rem(n, 250000) == 9},"
                         " \"found\") in (#l, sum({#x : (n, x) in l}), w)'") +
             level),
        folder);
    INFO(output.err);
    CHECK(output.out == "it = (1000000, 10888890, T) : int, int, bool\n");
    CHECK(read_file(folder.path() / "found") ==
          "9: line 9\n250009: line 250009\n500009: line 500009\n750009: line 750009\n");
  }
}

}  // namespace
}  // namespace neslc::testing
