// Streams against sequences: the same random programs over both, for pieces of several lengths,
// more of them with NESL_STREAM_PROGRAMS=N; streams of files, and what they take in memory.
#include <cstdlib>
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
    switch (below(11)) {
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

  std::string variable(int known) { return fmt::format("s{}", below(known)); }

  std::string result(const std::string& s) {
    switch (below(8)) {
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
                            {"$windows", "neighbours"},
                            {"$numbered", "with_places"}});
}

const char* const kForSequences =
    "function first_ones(v, n) = take(v, min(n, #v));\n"
    "function later_ones(v, n) = drop(v, min(n, #v));\n"
    "function neighbours(v, n) = {{v[j] : j in [i:i + n]} : i in [0:max(0, #v - n + 1)]};\n"
    "function with_places(v) = {(i, x) : i in index(#v); x in v}";

TEST_CASE("random programs of streams give what sequences give, for pieces of any length") {
  Evaluations sequences(0);
  sequences.value(kForSequences);
  std::vector<std::unique_ptr<Evaluations>> streams;
  for (const std::int64_t length : {1, 2, 7, 64, 1000, 65536}) {
    for (const int level : {0, 3}) {
      if (level == 3 && length != 7 && length != 64) continue;
      streams.push_back(std::make_unique<Evaluations>(level, length));
    }
  }
  const char* const asked = std::getenv("NESL_STREAM_PROGRAMS");
  const int programs = asked != nullptr ? std::stoi(asked) : 150;
  int failures = 0;
  int values = 0;
  for (int seed = 0; seed < programs && failures < 3; ++seed) {
    const std::string program = Generator(static_cast<unsigned>(seed)).program();
    const std::string expected = sequences.value(over_sequences(program));
    values += expected.starts_with("it = ") ? 1 : 0;
    for (const auto& evaluations : streams) {
      const std::string found = evaluations->value(over_streams(program));
      INFO(seed << ": " << over_streams(program));
      if (found != expected) ++failures;
      CHECK(found == expected);
    }
  }
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
    CHECK(contains(output.err, "`77777x` is no integer"));
  }
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
